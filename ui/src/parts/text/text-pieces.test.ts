/** Splits long text without loss. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { splitText } from './text-pieces.ts';

test('splits after lines where possible', () => {
  assert.deepEqual(splitText('', 4), []);
  assert.deepEqual(splitText('abcd', 4), ['abcd']);
  assert.deepEqual(splitText('abcdefghij', 4), ['abcd', 'efgh', 'ij']);
  assert.deepEqual(splitText('abc\ndef', 5), ['abc\n', 'def']);
});

test('loses nothing and splits no character, for any text', () => {
  const text = fc.string({ unit: fc.constantFrom('a', '\n', '👩', 'é') });
  fc.assert(
    fc.property(text, fc.integer({ min: 2, max: 20 }), (whole, length) => {
      const pieces = splitText(whole, length);
      assert.equal(pieces.join(''), whole);
      for (const piece of pieces) {
        assert.ok(piece.length <= length && piece.length > 0);
        assert.ok(piece.isWellFormed());
      }
    }),
  );
});
