/** When text is coloured. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createStyle } from './colour.ts';

const cases: readonly [string, Record<string, string>, boolean, boolean][] = [
  ['a terminal', {}, true, true],
  ['a pipe', {}, false, false],
  ['a terminal of somebody who wants none', { NO_COLOR: '1' }, true, false],
  ['an empty NO_COLOR', { NO_COLOR: '' }, true, true],
  ['a dumb terminal', { TERM: 'dumb' }, true, false],
  ['a pipe that is forced', { FORCE_COLOR: '1' }, false, true],
  ['a pipe that is forced against NO_COLOR', { FORCE_COLOR: '', NO_COLOR: '1' }, false, true],
  ['a terminal that is forced not to', { FORCE_COLOR: '0' }, true, false],
];
for (const [what, environment, isTty, isColoured] of cases) {
  test(`${what} shows ${isColoured ? 'colours' : 'text alone'}`, () => {
    const styled = createStyle(environment, isTty)(['bold', 'red'], 'x');
    assert.equal(styled, isColoured ? '\u001b[1m\u001b[31mx\u001b[39m\u001b[22m' : 'x');
  });
}
