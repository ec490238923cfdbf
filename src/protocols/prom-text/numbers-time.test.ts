/** Times: tables of cases, and rounding compared with BigInt arithmetic. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { notANumber, outOfRange, TimeScanner } from './numbers.ts';

const time = new TimeScanner();

/** @returns the time in ms if all of the text is a time, else the result of the scanner. */
function scan(text: string, unit: 'millis' | 'seconds'): bigint | number {
  const bytes = Buffer.from(text);
  const end = unit === 'millis' ? time.scanMillis(bytes, 0) : time.scanSeconds(bytes, 0);
  if (end !== bytes.length) return end;
  const read = (BigInt(time.high) << 32n) | BigInt(time.low);
  assert.equal(time.millis, Number(read));
  return read;
}

describe('milliseconds', () => {
  const cases: [text: string, expected: bigint | number][] = [
    ['0', 0n],
    ['-0', 0n],
    ['+5', 5n],
    ['-1', -1n],
    ['1767319445123', 1767319445123n],
    ['-4294967296', -4294967296n],
    ['9007199254740993', 9007199254740993n],
    ['9223372036854775807', 9223372036854775807n],
    ['-9223372036854775808', -9223372036854775808n],
    ['9223372036854775808', outOfRange],
    ['-9223372036854775809', outOfRange],
    ['9'.repeat(1000), outOfRange],
    [`${'0'.repeat(30)}7`, 7n],
    ['', notANumber],
    ['-', notANumber],
    ['.5', notANumber],
    ['1.5', 1],
    ['1e3', 1],
  ];
  for (const [text, expected] of cases) {
    test(`${text.slice(0, 40)} ms`, () => assert.equal(scan(text, 'millis'), expected));
  }
});

describe('seconds', () => {
  const cases: [text: string, expected: bigint | number][] = [
    ['0', 0n],
    ['0.000', 0n],
    ['-1.5', -1500n],
    ['1700215884.373', 1700215884373n],
    ['1.700215884373e9', 1700215884373n],
    ['1.726839813016397e+09', 1726839813016n],
    ['1.0004999', 1000n],
    ['1.0005', 1001n],
    ['-1.0005', -1001n],
    // The double nearest to this text is below the tie.
    ['4.0354999999999999999999999999', 4035n],
    ['4.0355', 4036n],
    ['1e-400', 0n],
    ['0e999999', 0n],
    ['9223372036854775.807', 9223372036854775807n],
    ['9223372036854775.808', outOfRange],
    ['1e300', outOfRange],
    [`1.${'0'.repeat(100)}`, outOfRange],
    ['NaN', notANumber],
    ['Inf', notANumber],
    ['', notANumber],
  ];
  for (const [text, expected] of cases) {
    test(`${text.slice(0, 40)} s`, () => assert.equal(scan(text, 'seconds'), expected));
  }
});

test('rounds seconds by their decimal digits', () => {
  const digits = fc.bigInt({ min: 0n, max: 10n ** 19n });
  fc.assert(
    fc.property(fc.boolean(), digits, fc.integer({ min: -25, max: 3 }), (negative, size, power) => {
      const text = `${negative ? '-' : ''}${size}e${power}`;
      const millis = power + 3;
      const tens = 10n ** BigInt(Math.abs(millis));
      const rounded = millis >= 0 ? size * tens : (2n * size + tens) / (2n * tens);
      const expected = negative ? -rounded : rounded;
      const fits = BigInt.asIntN(64, expected) === expected;
      assert.equal(scan(text, 'seconds'), fits ? expected : outOfRange);
    }),
    { numRuns: 3000 },
  );
});
