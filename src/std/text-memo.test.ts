/** What is kept, and until when. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTextMemo } from './text-memo.ts';

test('forgets all texts beyond the bound', () => {
  let made = 0;
  const textOf = createTextMemo(({ text }: { readonly text: string }) => {
    made += 1;
    return text;
  }, 1_000);
  const keys = Array.from({ length: 8 }, (_, i) => ({ text: String(i).repeat(100) }));
  const [first, last] = [keys[0]!, keys[7]!];
  for (const key of keys.slice(0, 6)) assert.equal(textOf(key), key.text);
  assert.equal(textOf(first), first.text);
  assert.equal(made, 6);
  for (const key of keys.slice(6)) textOf(key);
  assert.equal(made, 8);
  textOf(last);
  assert.equal(made, 8);
  textOf(first);
  assert.equal(made, 9);
});
