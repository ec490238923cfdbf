/** Whatever a value holds, it becomes one literal of its type or is refused. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { EngineException } from './exceptions.ts';
import { bindParameters, stringLiteral } from './literals.ts';
import { tokenize } from './sql-tokens.ts';

/** Binds one value `v`, given as text. */
function bind(type: string, value: string): string {
  return bindParameters(`{v:${type}}`, new Map([['v', Buffer.from(value)]]));
}

function codeOf(act: () => unknown): number | undefined {
  try {
    act();
  } catch (error) {
    if (error instanceof EngineException) return error.code;
    throw error;
  }
  return undefined;
}

/** What ClickHouse reads in a literal, written without a look at the encoder. */
function readLiteral(literal: string): number[] {
  assert.match(literal, /^'.*'$/s);
  const bytes: number[] = [];
  const inner = literal.slice(1, -1);
  for (let at = 0; at < inner.length; at++) {
    const code = inner.charCodeAt(at);
    assert.ok(code >= 0x20 && code < 0x7f && inner[at] !== "'", `raw byte ${code}`);
    if (inner[at] !== '\\') bytes.push(code);
    else {
      assert.equal(inner[at + 1], 'x');
      bytes.push(Number.parseInt(inner.slice(at + 2, at + 4), 16));
      at += 3;
    }
  }
  return bytes;
}

/** ClickHouse's escaping of any bytes, as a client might send them. */
function escapeBytes(bytes: readonly number[]): Uint8Array {
  return Buffer.from(bytes.flatMap((byte) => (byte === 0x5c ? [0x5c, 0x5c] : [byte])));
}

const byte = fc.oneof(
  fc.integer({ min: 0, max: 255 }),
  fc.constantFrom(...Buffer.from('\'\\"`{}:;-/*#$\n\0xN')),
);
const bytes = fc.array(byte, { maxLength: 60 });

const bound: readonly (readonly [type: string, value: string, sql: string])[] = [
  ['String', '', "''"],
  ['String', 'plain', "'plain'"],
  ['String', "it\\'s", "'it\\x27s'"],
  ['String', 'a\\tb\\\\n', "'a\\x09b\\x5cn'"],
  ['String', '\\x41\\N\\d', "'A\\x5cd'"],
  ['String', 'é', "'\\xc3\\xa9'"],
  ['FixedString(3)', 'abc', "CAST('abc' AS FixedString(3))"],
  ['UInt8', '255', "CAST('255' AS UInt8)"],
  ['Int64', '-9223372036854775808', "CAST('-9223372036854775808' AS Int64)"],
  ['UInt128', '+5', "CAST('5' AS UInt128)"],
  ['Float64', '-1.5e3', "CAST('-1.5e3' AS Float64)"],
  ['Float64', 'nan', "CAST('nan' AS Float64)"],
  ['Float32', '+inf', "CAST('+inf' AS Float32)"],
  ['Decimal(9, 2)', '1.25', "CAST('1.25' AS Decimal(9, 2))"],
  ['Bool', '1', "CAST('1' AS Bool)"],
  ['Date', '2026-01-31', "CAST('2026-01-31' AS Date)"],
  ['DateTime', '1700000000', "CAST('1700000000' AS DateTime)"],
  ['DateTime', '7', "CAST('0000000007' AS DateTime)"],
  ["DateTime64(3, 'UTC')", '1700000000.123', "CAST('1700000000.123' AS DateTime64(3, 'UTC'))"],
  ['DateTime64(9)', '2026-01-31 10:00:00.5', "CAST('2026-01-31 10:00:00.5' AS DateTime64(9))"],
  ['Nullable(String)', '\\N', 'CAST(NULL AS Nullable(String))'],
  ['Nullable(String)', 'NULL', "CAST('NULL' AS Nullable(String))"],
  ['LowCardinality(String)', 'x', "CAST('x' AS LowCardinality(String))"],
  ['Array(String)', '[]', 'CAST([] AS Array(String))'],
  ['Array(String)', "['a', 'b\\'c','d''e']", "CAST(['a','b\\x27c','d\\x27e'] AS Array(String))"],
  ['Array(UInt64)', '[1,2]', "CAST(['1','2'] AS Array(UInt64))"],
  ['Array(Nullable(String))', "[NULL,'NULL']", "CAST([NULL,'NULL'] AS Array(Nullable(String)))"],
  ['Map(String, UInt8)', "{'k':1}", "CAST(map('k','1') AS Map(String, UInt8))"],
  [
    'Map(String, Array(Bool))',
    "{'k':[TRUE]}",
    "CAST(map('k',['true']) AS Map(String, Array(Bool)))",
  ],
  ['Tuple(String, UInt8)', "('a',1)", "CAST(tuple('a','1') AS Tuple(String, UInt8))"],
  ['Identifier', 'Body', '`Body`'],
  ['Identifier', 'weir.logs', '`weir`.`logs`'],
];

for (const [type, value, sql] of bound) {
  test(`binds ${type} ${JSON.stringify(value)}`, () => assert.equal(bind(type, value), sql));
}

const refused: readonly (readonly [type: string, value: string])[] = [
  ['UInt8', '256'],
  ['UInt8', '-1'],
  ['UInt8', '1 OR 1'],
  ['UInt8', ''],
  ['Int8', '1.0'],
  ['UInt256', '9'.repeat(79)],
  ['Float64', '1;'],
  ['Float64', '0x10'],
  ['Bool', '2'],
  ['Date', '1700000000'],
  ['Date', '2026-1-1'],
  ['DateTime', "now()'"],
  ['UUID', '123'],
  ['FixedString(2)', 'abc'],
  ['Nullable(UInt8)', 'NULL'],
  ['Array(String)', "['a'"],
  ['Array(String)', "['a'] OR 1"],
  ['Array(String)', '[NULL]'],
  ['Array(UInt8)', '[1)]'],
  ['Map(String, UInt8)', "{'k'}"],
  ['Tuple(UInt8, UInt8)', '(1)'],
  ['Tuple(UInt8)', '(1,2)'],
  ['Identifier', 'a`b'],
  ['Identifier', ''],
  ['Identifier', 'a.b.c'],
  ['Identifier', 'x; DROP TABLE t'],
  ['Strin', 'x'],
  ['String)', 'x'],
  ['Array()', '[]'],
  ['Array(Identifier)', '[a]'],
  ['Nothing', ''],
  ['AggregateFunction(sum, UInt8)', ''],
  ['String) AS x, sleep(3', 'x'],
  [`${'Array('.repeat(40)}UInt8${')'.repeat(40)}`, '[]'],
];

for (const [type, value] of refused) {
  test(`refuses ${type.slice(0, 60)} ${JSON.stringify(value.slice(0, 20))}`, () => {
    assert.equal(
      codeOf(() => bind(type, value)),
      457,
    );
  });
}

test('a placeholder without a value is an error of its own', () => {
  assert.equal(
    codeOf(() => bindParameters('SELECT {a:String}', new Map())),
    456,
  );
});

const untouched = [
  "SELECT '{v:String}'",
  "SELECT 'it''s {v:String}', '\\'{v:String}'",
  'SELECT "{v:String}", `{v:String}`',
  'SELECT 1 -- {v:String}\n',
  'SELECT 1 // {v:String}\n',
  'SELECT 1 # {v:String}\n',
  'SELECT /* {v:String} /* {v:String} */ {v:String} */ 1',
  'SELECT $tag$ {v:String} $tag$',
  'SELECT ‘{v:String}’, “{v:String}”',
  "SELECT {'v':1}, { 'a' : 'String' }",
];

for (const sql of untouched) {
  test(`leaves ${JSON.stringify(sql)} alone`, () => {
    assert.equal(bindParameters(sql, new Map([['v', Buffer.from('x')]])), sql);
  });
}

test('placeholders after look-alikes are bound', () => {
  const sql = "SELECT '{v:String}', /* ' */ { v : String }, {'a':{v:String}}";
  const expected = "SELECT '{v:String}', /* ' */ 'x', {'a':'x'}";
  assert.equal(bindParameters(sql, new Map([['v', Buffer.from('x')]])), expected);
});

test('a value that looks like a placeholder is not bound again', () => {
  const values = new Map([
    ['a', Buffer.from('{b:String}')],
    ['b', Buffer.from("'; DROP TABLE t --")],
  ]);
  const sql = bindParameters('SELECT {a:String}, {b:String}', values);
  assert.equal(sql, "SELECT '{b:String}', '\\x27; DROP TABLE t --'");
});

test('any bytes come back out of a string literal', () => {
  fc.assert(
    fc.property(bytes, (value) => {
      assert.deepEqual(readLiteral(stringLiteral(Buffer.from(value))), value);
      const sent = new Map([['v', escapeBytes(value)]]);
      assert.deepEqual(readLiteral(bindParameters('{v:String}', sent)), value);
    }),
    { numRuns: 2000 },
  );
});

test('a value never becomes more than one token', () => {
  fc.assert(
    fc.property(bytes, (value) => {
      const sent = new Map([['v', Buffer.from(value)]]);
      const sql = bindParameters('SELECT {v:String} FROM t /* ok */', sent);
      const kinds = [...tokenize(sql)].map((token) => token.kind);
      assert.deepEqual(kinds, ['word', 'string', 'word', 'word']);
    }),
    { numRuns: 2000 },
  );
});

test('hostile text for any type is one literal or a refusal', () => {
  const type = fc.constantFrom(...new Set(bound.map(([name]) => name)));
  const text = fc.oneof(
    bytes.map((value) => Buffer.from(value)),
    fc.constantFrom(...bound.map(([, value]) => Buffer.from(value))),
    fc
      .tuple(
        fc.constantFrom('[', '{', '(', "['", "{'"),
        bytes,
        fc.constantFrom(']', '}', ')', "']"),
      )
      .map(([open, value, close]) =>
        Buffer.concat([Buffer.from(open), Buffer.from(value), Buffer.from(close)]),
      ),
  );
  fc.assert(
    fc.property(type, text, (name, value) => {
      const sent = new Map([['v', value]]);
      let sql: string;
      try {
        sql = bindParameters(`{v:${name}}`, sent);
      } catch (error) {
        assert.ok(error instanceof EngineException && error.code === 457);
        return;
      }
      const allowed = /^(?:CAST|AS|NULL|MAP|TUPLE|[A-Z][A-Z0-9]*|`\w+`|'[ -~]*'|\d+|[(),.[\]])$/;
      for (const token of tokenize(sql)) assert.match(token.text, allowed);
    }),
    { numRuns: 3000 },
  );
});
