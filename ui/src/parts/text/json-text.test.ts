/** Indents JSON without changing its tokens. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { jsonEntries, jsonEntry, jsonScalar, layOutJson, splitJson } from './json-text.ts';

test('indents objects and arrays', () => {
  assert.equal(
    layOutJson('{"a":1,"b":[true,null,{}],"c":{"d":[]}}'),
    [
      '{',
      '  "a": 1,',
      '  "b": [',
      '    true,',
      '    null,',
      '    {}',
      '  ],',
      '  "c": {',
      '    "d": []',
      '  }',
      '}',
    ].join('\n'),
  );
});

test('keeps every digit and every escape', () => {
  const text = '{"id":9007199254740993123,"x":1.0,"y":1e400,"z":-0,"s":"\\u0041\\"{,}\\\\"}';
  const laidOut = layOutJson(text)!;
  for (const kept of ['9007199254740993123', '1.0', '1e400', '-0', '"\\u0041\\"{,}\\\\"']) {
    assert.ok(laidOut.includes(kept), kept);
  }
});

test('keeps duplicate keys', () => {
  assert.equal(layOutJson('{"a":1,"a":2}'), '{\n  "a": 1,\n  "a": 2\n}');
});

for (const text of [
  '',
  'text',
  '12',
  '"a"',
  '{a:1}',
  '{"a":1} tail',
  '[1,]',
  '{"a":1',
  '[INFO] up',
]) {
  test(`leaves ${JSON.stringify(text)} unchanged`, () => assert.equal(layOutJson(text), undefined));
}

test('agrees with JSON.stringify for small numbers', () => {
  const value = fc.oneof(fc.dictionary(fc.string(), fc.jsonValue()), fc.array(fc.jsonValue()));
  fc.assert(
    fc.property(value, fc.constantFrom(0, 1, 3), (json, indent) => {
      const text = JSON.stringify(json, null, indent);
      assert.equal(layOutJson(text), JSON.stringify(JSON.parse(text), null, 2));
    }),
  );
});

test('limits the indentation of deep nesting', () => {
  const text = '['.repeat(3000) + ']'.repeat(3000);
  assert.ok(layOutJson(text)!.length < text.length * 90);
  assert.equal(layOutJson(text, { maxLength: 1000 }), undefined);
});

test('splits keys, strings and other values', () => {
  const text = '{\n  "a\\":": "b: c",\n  "d": [1.0, null]\n}';
  const parts = splitJson(text);
  assert.equal(parts.map((part) => part.text).join(''), text);
  const named = parts
    .filter(({ kind }) => kind !== 'space')
    .map(({ kind, text: own }) => [kind, own]);
  assert.deepEqual(named, [
    ['key', '"a\\":"'],
    ['string', '"b: c"'],
    ['key', '"d"'],
    ['other', '1.0'],
    ['other', 'null'],
  ]);
});

test('splits any text into parts of it', () => {
  fc.assert(
    fc.property(fc.oneof(fc.json(), fc.string()), (text) => {
      assert.equal(
        splitJson(text)
          .map((part) => part.text)
          .join(''),
        text,
      );
    }),
  );
});

test('finds keys and values by their path', () => {
  const text = '{"a":{"b":[1.0,{"c":"x,\\"y"}],"e":{}},"a.b":null}';
  const found = [...jsonEntries(text)].map(({ path, keyAt, valueAt, valueEnd }) => [
    path,
    text.slice(keyAt, valueAt),
    text.slice(valueAt, valueEnd),
  ]);
  assert.deepEqual(found, [
    ['a.b.0', '', '1.0'],
    ['a.b.1.c', '"c":', '"x,\\"y"'],
    ['a.b.1', '', '{"c":"x,\\"y"}'],
    ['a.b', '"b":', '[1.0,{"c":"x,\\"y"}]'],
    ['a.e', '"e":', '{}'],
    ['a', '"a":', '{"b":[1.0,{"c":"x,\\"y"}],"e":{}}'],
    ['a.b', '"a.b":', 'null'],
  ]);
  assert.equal(jsonEntry('up {"a":1}', 'a'), undefined);
  assert.equal(jsonEntry(text, 'a.c'), undefined);
});

test('finds every scalar of any JSON', () => {
  const key = fc.string({ unit: fc.constantFrom('a', 'b', '"', '\\', 'é', '{') });
  fc.assert(
    fc.property(fc.dictionary(key, fc.oneof(fc.integer(), fc.string(), fc.boolean())), (object) => {
      for (const text of [JSON.stringify(object), JSON.stringify(object, null, 2)]) {
        const found = [...jsonEntries(text)].map(({ path, valueAt, valueEnd }) => [
          path,
          jsonScalar(text.slice(valueAt, valueEnd)),
        ]);
        assert.deepEqual(
          found,
          Object.entries(object).map(([name, value]) => [name, String(value)]),
        );
      }
    }),
  );
});

test('deep nesting takes linear time', () => {
  const depth = 200_000;
  const text = `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;
  assert.equal([...jsonEntries(text)].length, 12);
});
