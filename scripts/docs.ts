/** `npm run docs`: writes the generated documents; a test fails when one is stale. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { generatedDocuments } from './docs/generated.ts';

for (const { file, text } of generatedDocuments()) {
  mkdirSync(new URL('.', file), { recursive: true });
  writeFileSync(file, text);
  console.log(`wrote ${file.pathname}`);
}
