/** Escaping and colours. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createStyle, escapeControls, toSafeJson } from './terminal.ts';

const unsafe = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;

test('escapes control and formatting characters only', () => {
  assert.equal(escapeControls('a\u0007b\u{e0001}é€'), 'a\\u0007b\\udb40\\udc01é€');
});

test('writes equal JSON without characters that a terminal acts on', () => {
  const values = fc.jsonValue({ stringUnit: 'binary' });
  fc.assert(
    fc.property(values, (value) => {
      const json = toSafeJson(value);
      assert.deepEqual(JSON.parse(json), JSON.parse(JSON.stringify(value)));
      assert.ok(!unsafe.test(json.replaceAll('\n', '')));
    }),
  );
});

const colours: readonly [string, Record<string, string>, boolean, boolean][] = [
  ['a terminal', {}, true, true],
  ['a pipe', {}, false, false],
  ['a terminal with NO_COLOR', { NO_COLOR: '1' }, true, false],
  ['a terminal with an empty NO_COLOR', { NO_COLOR: '' }, true, true],
  ['a dumb terminal', { TERM: 'dumb' }, true, false],
  ['a pipe with FORCE_COLOR', { FORCE_COLOR: '1' }, false, true],
  ['a pipe with FORCE_COLOR and NO_COLOR', { FORCE_COLOR: '', NO_COLOR: '1' }, false, true],
  ['a terminal with FORCE_COLOR=0', { FORCE_COLOR: '0' }, true, false],
];
for (const [what, environment, isTty, isColoured] of colours) {
  test(`${isColoured ? 'colours' : 'does not colour'} the text of ${what}`, () => {
    const styled = createStyle(environment, isTty)(['bold', 'red'], 'x');
    assert.equal(styled, isColoured ? '\u001b[1m\u001b[31mx\u001b[39m\u001b[22m' : 'x');
  });
}
