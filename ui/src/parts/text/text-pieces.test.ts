/** Pieces of a text are the text. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { splitText } from './text-pieces.ts';

test('cuts after lines where it can', () => {
  assert.deepEqual(splitText('', 4), []);
  assert.deepEqual(splitText('abcd', 4), ['abcd']);
  assert.deepEqual(splitText('abcdefghij', 4), ['abcd', 'efgh', 'ij']);
  assert.deepEqual(splitText('abc\ndef', 5), ['abc\n', 'def']);
});

test('loses nothing and parts no character, whatever the text', () => {
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
