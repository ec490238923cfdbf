/** Nothing that a value holds reaches a terminal as a command, and nothing of it is lost. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { escapeControls, toSafeJson } from './terminal.ts';

const obeyed = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;

test('control and formatting characters are escaped, others stay', () => {
  assert.equal(escapeControls('a\u0007b\u{e0001}é€'), 'a\\u0007b\\udb40\\udc01é€');
});

test('JSON says the same without any character that a terminal obeys', () => {
  const values = fc.jsonValue({ stringUnit: 'binary' });
  fc.assert(
    fc.property(values, (value) => {
      const json = toSafeJson(value);
      assert.deepEqual(JSON.parse(json), JSON.parse(JSON.stringify(value)));
      assert.ok(!obeyed.test(json.replaceAll('\n', '')));
    }),
  );
});
