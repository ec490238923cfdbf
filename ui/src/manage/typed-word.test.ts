/** Confirmation words. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toTypedWord } from './typed-word.ts';

test('returns the name if it can be typed, else a fixed word', () => {
  assert.equal(toTypedWord('check out (β)'), 'check out (β)');
  assert.equal(toTypedWord(' padded '), 'padded');
  assert.equal(toTypedWord('safe\u202egpj.exe'), 'delete');
  assert.equal(toTypedWord('\u00a0'), 'delete');
  assert.equal(toTypedWord('x'.repeat(41)), 'delete');
});
