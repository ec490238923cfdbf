/** Numbers: tables of cases, and agreement with Number(). */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { NumberScanner, notANumber, outOfRange } from './numbers.ts';

const scanner = new NumberScanner();

/** @returns the value if all of the text is a number, else the result of the scanner. */
function scan(text: string): { value: number } | { end: number } {
  const bytes = Buffer.from(text);
  const end = scanner.scan(bytes, 0);
  return end === bytes.length ? { value: scanner.value } : { end };
}

describe('reads numbers', () => {
  const cases: [text: string, value: number][] = [
    ['0', 0],
    ['-0', -0],
    ['+1', 1],
    ['08', 8],
    ['1.', 1],
    ['.5', 0.5],
    ['-.5e1', -5],
    ['1e3', 1000],
    ['1E+03', 1000],
    ['3e-3', 0.003],
    ['0.1', 0.1],
    ['123456789012345678', 123456789012345680],
    ['1.726839813016397e+09', 1726839813.016397],
    ['9007199254740993', 9007199254740992],
    ['9007199254740991e22', Number('9007199254740991e22')],
    ['1e23', 1e23],
    ['5e-324', 5e-324],
    ['2e-324', 0],
    ['1e-400', 0],
    ['0e99999999999', 0],
    ['1.7976931348623157e308', Number.MAX_VALUE],
    ['0.00000000000000000000000000000000000001', 1e-38],
    [`0.${'0'.repeat(400)}1e401`, 1],
    ['1'.repeat(309), Number('1'.repeat(309))],
    ['NaN', Number.NaN],
    ['nan', Number.NaN],
    ['Inf', Infinity],
    ['+Inf', Infinity],
    ['-Inf', -Infinity],
    ['+inf', Infinity],
    ['-INFINITY', -Infinity],
    ['infinity', Infinity],
  ];
  for (const [text, value] of cases) {
    test(text.slice(0, 40), () => assert.deepEqual(scan(text), { value }));
  }
});

describe('rejects other text', () => {
  const cases: [text: string, end: number][] = [
    ['', notANumber],
    ['+', notANumber],
    ['-', notANumber],
    ['.', notANumber],
    ['-.', notANumber],
    ['e5', notANumber],
    ['1e', notANumber],
    ['1e+', notANumber],
    ['1.5e-', notANumber],
    ['--1', notANumber],
    ['+NaN', notANumber],
    ['-nan', notANumber],
    ['in', notANumber],
    ['true', notANumber],
    ['١', notANumber],
    ['1e309', outOfRange],
    ['-1e400', outOfRange],
    ['9'.repeat(400), outOfRange],
    // The scanner stops at the end of the number; its caller checks what follows.
    ['0x1p-3', 1],
    ['1_000', 1],
    ['1,5', 1],
    ['1.5.5', 3],
    ['1f', 1],
    ['Infinit', 3],
    ['nano', 3],
  ];
  for (const [text, end] of cases) {
    test(`${text.slice(0, 40)}.`, () => assert.deepEqual(scan(text), { end }));
  }
});

test('agrees with Number() bit by bit', () => {
  const digits = fc.stringMatching(/^[0-9]{0,25}$/);
  const decimal = fc
    .tuple(fc.constantFrom('', '+', '-'), digits, digits, fc.integer({ min: -330, max: 330 }))
    .map(([sign, whole, fraction, power]) => `${sign}${whole}.${fraction}e${power}`);
  const shortest = fc.double({ noNaN: true, noDefaultInfinity: true }).map(String);
  fc.assert(
    fc.property(fc.oneof(decimal, shortest), (text) => {
      const expected = /\d/.test(text.replace(/e.*/, '')) ? Number(text) : undefined;
      if (expected === undefined) assert.deepEqual(scan(text), { end: notANumber });
      else if (!Number.isFinite(expected)) assert.deepEqual(scan(text), { end: outOfRange });
      else assert.deepEqual(scan(text), { value: expected });
    }),
    { numRuns: 5000 },
  );
});
