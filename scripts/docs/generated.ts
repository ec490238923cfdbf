/** The documents that are written by code, each with the text it should have now. */
import { configReference } from '../../src/config/reference.ts';

export interface GeneratedDocument {
  readonly file: URL;
  readonly text: string;
}

export function generatedDocuments(): GeneratedDocument[] {
  return [{ file: new URL('../../docs/config.md', import.meta.url), text: configReference() }];
}
