/** Splits SQL into the same tokens as ClickHouse. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { EngineException } from './exceptions.ts';
import { stringLiteral, tokenize } from './sql-tokens.ts';

const cases: readonly (readonly [sql: string, tokens: readonly string[]])[] = [
  ['', []],
  [' \n\t\ufeff', []],
  ['select a.b', ['word SELECT', 'word A', 'mark .', 'word B']],
  ['1.5e3+x2', ['number 1.5e3', 'mark +', 'word X2']],
  ["'a''b\\'c' 'd'", ["string 'a''b\\'c'", "string 'd'"]],
  ['"a""b" `c``d`', ['name "a""b"', 'name `c``d`']],
  ['a--b\nc', ['word A', 'word C']],
  ['a//b\nc#!d\ne', ['word A', 'word C', 'word E']],
  ['a/*b/*c*/d*/e', ['word A', 'word E']],
  ['$x$ y $z$ $x$ b', ['string $x$ y $z$ $x$', 'word B']],
  ['$1', ['mark $', 'number 1']],
  ['‘a’ “b”', ['string ‘a’', 'name “b”']],
  ['#x', ['mark #', 'word X']],
];

for (const [sql, tokens] of cases) {
  test(`splits ${JSON.stringify(sql)}`, () => {
    const cut = [...tokenize(sql)].map((token) => `${token.kind} ${token.text}`);
    assert.deepEqual(cut, tokens);
  });
}

for (const sql of ["'a", "'a\\'", '"a', '`a', '/* a', '/* /* a */', '‘a', '“a']) {
  test(`refuses ${JSON.stringify(sql)}`, () => {
    assert.throws(() => [...tokenize(sql)], { name: 'EngineException', code: 62 });
  });
}

test('splits any text into consecutive tokens, or refuses it', () => {
  const text = fc.string({ unit: 'binary', maxLength: 40 });
  const sqlish = fc.array(
    fc.constantFrom("'", '"', '`', '\\', '/*', '*/', '--', '\n', '$', 'a', ' '),
  );
  fc.assert(
    fc.property(
      fc.oneof(
        text,
        sqlish.map((parts) => parts.join('')),
      ),
      (sql) => {
        let end = 0;
        try {
          for (const token of tokenize(sql)) {
            assert.ok(token.start >= end && token.end > token.start && token.end <= sql.length);
            end = token.end;
          }
        } catch (error) {
          assert.ok(error instanceof EngineException);
        }
      },
    ),
    { numRuns: 2000 },
  );
});

test('writes any bytes as one string token of printable ASCII', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
      const literal = stringLiteral(bytes);
      assert.match(literal, /^'[ -~]*'$/);
      assert.deepEqual(
        [...tokenize(literal)].map(({ kind, end }) => [kind, end]),
        [['string', literal.length]],
      );
      const read = literal.slice(1, -1).replace(/\\x(..)/g, (_, hex: string) => {
        return String.fromCharCode(Number.parseInt(hex, 16));
      });
      assert.deepEqual(Buffer.from(read, 'latin1'), Buffer.from(bytes));
    }),
  );
});
