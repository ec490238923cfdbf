/** Generated documents are up to date. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { generatedDocuments } from './docs/generated.ts';

for (const { file, text } of generatedDocuments()) {
  const name = file.pathname.split('/').slice(-2).join('/');
  test(`${name} is up to date (npm run docs)`, () => {
    assert.equal(readFileSync(file, 'utf8'), text);
  });
}
