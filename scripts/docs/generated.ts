/** The documents that are written by code, each with the text it should have now. */
import { configReference } from '../../src/config/reference.ts';
import { openApiDocuments } from './openapi.ts';

export interface GeneratedDocument {
  readonly file: URL;
  readonly text: string;
}

export function generatedDocuments(): GeneratedDocument[] {
  const at = (path: string) => new URL(`../../${path}`, import.meta.url);
  const { ingest, stream } = openApiDocuments();
  return [
    ...configReference().map(({ name, text }) => ({ file: at(`docs/${name}`), text })),
    { file: at('openapi/ingest.json'), text: `${JSON.stringify(ingest, undefined, 2)}\n` },
    { file: at('openapi/stream.json'), text: `${JSON.stringify(stream, undefined, 2)}\n` },
  ];
}
