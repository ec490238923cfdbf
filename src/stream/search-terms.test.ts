/** Search text never fails to parse and means what the reference says. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseSearch } from './search-terms.ts';

const cases: readonly (readonly [string, readonly string[]])[] = [
  ['', []],
  ['  \t\n ', []],
  ['one', ['one']],
  ['one  two', ['one', 'two']],
  ['-one two', ['!one', 'two']],
  ['"one two" three', ['one two', 'three']],
  ['-"one two"', ['!one two']],
  ['"-one"', ['-one']],
  ['"open to the end ', ['open to the end ']],
  ['-"open', ['!open']],
  ['""', []],
  ['-""', []],
  ['-', ['-']],
  ['--x', ['!-x']],
  ['it"s "a b"c', ['it"s', 'a b', 'c']],
  ['a:b=c/100%', ['a:b=c/100%']],
];
for (const [text, terms] of cases) {
  test(JSON.stringify(text), () => {
    const found = parseSearch(text).map((term) => (term.exclude ? '!' : '') + term.text);
    assert.deepEqual(found, terms);
  });
}

test('any text parses, into terms that stand in it', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 60 }), (text) => {
      for (const term of parseSearch(text)) {
        assert.notEqual(term.text, '');
        assert.ok(text.includes(term.text));
      }
    }),
  );
});

test('words come back whole and in order, whatever stands between them', () => {
  const word = fc.stringMatching(/^[^\s"-][^\s]{0,8}$/);
  fc.assert(
    fc.property(fc.array(word), fc.constantFrom(' ', '\t', '  ', '\n'), (words, gap) => {
      assert.deepEqual(
        parseSearch(words.join(gap)).map(({ text }) => text),
        words,
      );
    }),
  );
});
