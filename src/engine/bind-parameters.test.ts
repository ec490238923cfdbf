/** Which values become literals, and what a session must bind. The engine's own tests run them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bindParameters } from './bind-parameters.ts';

const text = (value: string) => Buffer.from(value);

const withoutPlaceholder = [
  "SELECT '{v:String}', 'it''s {v:String}', '\\'{v:String}'",
  'SELECT "{v:String}", `{v:String}`',
  'SELECT 1 -- {v:String}\n // {v:String}\n # {v:String}\n',
  'SELECT /* {v:String} /* {v:String} */ {v:String} */ 1',
  'SELECT $tag$ {v:String} $tag$, ‘{v:String}’, “{v:String}”',
  "SELECT {'v':1}, { 'a' : 'String' }",
];

for (const sql of withoutPlaceholder) {
  test(`finds no placeholder in ${JSON.stringify(sql)}`, () => {
    assert.equal(bindParameters(sql, new Map([['param_v', text('x')]])).sql, sql);
  });
}

for (const sql of [
  'SELECT {v:String}',
  "SELECT 'x', /* ' */ { v : String }",
  "{'a':{v:Map(a, b)}}",
]) {
  test(`requires a value for the placeholder in ${JSON.stringify(sql)}`, () => {
    assert.throws(() => bindParameters(sql, new Map([['param_w', text('')]])), { code: 456 });
    bindParameters(sql, new Map([['param_v', text('')]]));
  });
}

const literals: readonly (readonly [placeholder: string, value: string, sql: string])[] = [
  ['{v:String}', "it\\'s \\\\ \\n {v:String}", "'it\\x27s \\x5c \\x0a {v:String}'"],
  ['{v:String}', '', "''"],
  ['{ v : Int64 }', '-1', "_CAST('-1', 'Int64')"],
  ['{v:Array(Int64)}', '[1,-2]', "_CAST('[1,-2]', 'Array(Int64)')"],
  [
    '{v:Array(String)}',
    "['a','\\'']",
    "_CAST('[\\x27a\\x27,\\x27\\x5c\\x27\\x27]', 'Array(String)')",
  ],
];

for (const [placeholder, value, sql] of literals) {
  test(`writes ${JSON.stringify(value)} for ${placeholder} as a literal`, () => {
    const bound = bindParameters(
      `a${placeholder}b${placeholder}`,
      new Map([['param_v', text(value)]]),
    );
    assert.deepEqual(bound, { sql: `a${sql}b${sql}`, parameters: new Map() });
  });
}

for (const [placeholder, value] of [
  ['{v:Identifier}', 'a'],
  ['{v:Nullable(String)}', 'a'],
  ['{v:Map(String, String)}', '{}'],
  ['{v:String', 'a'],
  ['{v:Int64}', "1'); --"],
  ['{v:UInt8}', 'x'],
  ['{v:Array(Int64)}', '[1'],
  ['{v:Array(String)}', "['a'],'b']"],
  ['{v:String}', '\\x41'],
  ['{v:String}', 'a\\'],
  ['{v:String}', 'a\tb'],
  ['{v:String}', 'a'.repeat(65_537)],
] as const) {
  test(`leaves ${JSON.stringify(value.slice(0, 9))} for ${placeholder} to the session`, () => {
    const parameters = new Map([['param_v', text(value)]]);
    assert.deepEqual(bindParameters(placeholder, parameters), { sql: placeholder, parameters });
  });
}
