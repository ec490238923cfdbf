/**
 * `npm run docs`: writes the documents that are generated from code; a test fails when one of them
 * is stale.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { generatedDocuments } from './docs/generated.ts';

for (const { file, text } of generatedDocuments()) {
  mkdirSync(new URL('.', file), { recursive: true });
  writeFileSync(file, text);
  console.log(`wrote ${file.pathname}`);
}
