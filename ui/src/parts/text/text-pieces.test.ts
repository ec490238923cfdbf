/** Splits long text without loss. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { splitText } from './text-pieces.ts';

const textsOf = (text: string, length: number) => splitText(text, length).map((one) => one.text);

test('splits after lines where possible', () => {
  assert.deepEqual(textsOf('', 4), []);
  assert.deepEqual(textsOf('abcd', 4), ['abcd']);
  assert.deepEqual(textsOf('abcdefghij', 4), ['abcd', 'efgh', 'ij']);
  assert.deepEqual(textsOf('abc\ndef', 5), ['abc\n', 'def']);
});

test('loses nothing and splits no character, for any text', () => {
  const text = fc.string({ unit: fc.constantFrom('a', '\n', '👩', 'é') });
  fc.assert(
    fc.property(text, fc.integer({ min: 2, max: 20 }), (whole, length) => {
      const pieces = splitText(whole, length);
      assert.equal(pieces.map((piece) => piece.text).join(''), whole);
      for (const { text: piece, offset } of pieces) {
        assert.ok(whole.startsWith(piece, offset));
        assert.ok(piece.length <= length && piece.length > 0);
        assert.ok(piece.isWellFormed());
      }
    }),
  );
});
