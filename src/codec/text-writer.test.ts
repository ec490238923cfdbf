/** Texts as UTF-8 in a buffer that grows. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TextWriter } from './text-writer.ts';

test('writes any text as UTF-8, beyond its first buffer', () => {
  const texts = ['', 'a', 'ä€𝄞', '\ud800', 'x'.repeat(1000), '€'.repeat(1000)];
  const out = new TextWriter(4);
  for (const text of texts) out.write(text);
  const expected = Buffer.from(texts.join(''));
  assert.equal(out.length, expected.length);
  assert.deepEqual(out.finish(), expected);
});
