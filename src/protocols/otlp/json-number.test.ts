/** 64-bit integers compared with BigInt. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { Integer64 } from './json-number.ts';

const integer = new Integer64();

/** @returns the number read, as int64 if it fits, else as uint64; undefined if there is none. */
function read(text: string): bigint | undefined {
  const bytes = Buffer.from(`x${text}x`);
  if (!integer.read(bytes, 1, bytes.length - 1)) return undefined;
  const bits = (BigInt(integer.high) << 32n) | BigInt(integer.low);
  return integer.isSigned ? BigInt.asIntN(64, bits) : bits;
}

describe('integers', () => {
  const cases: [text: string, value: bigint | undefined][] = [
    ['0', 0n],
    ['-0', 0n],
    ['007', 7n],
    ['-1', -1n],
    ['1544712660300000001', 1544712660300000001n],
    ['9223372036854775807', 9223372036854775807n],
    ['-9223372036854775808', -9223372036854775808n],
    ['9223372036854775808', 9223372036854775808n],
    ['18446744073709551615', 18446744073709551615n],
    ['4294967296', 4294967296n],
    ['-4294967296', -4294967296n],
    ['1.0', 1n],
    ['-1.50e1', -15n],
    ['1e3', 1000n],
    ['1E+3', 1000n],
    ['1000e-3', 1n],
    ['0e99', 0n],
    ['0.000e5', 0n],
    ['1.844674407370955161500e19', 18446744073709551615n],
    ['18446744073709551616', undefined],
    ['1e20', undefined],
    ['1e999', undefined],
    ['0.5', undefined],
    ['1e-1', undefined],
    ['', undefined],
    ['-', undefined],
    ['--1', undefined],
    ['+1', undefined],
    [' 1', undefined],
    ['1.', undefined],
    ['.5', undefined],
    ['0x10', undefined],
    ['1e', undefined],
    ['NaN', undefined],
    ['0'.repeat(65), undefined],
  ];
  for (const [text, value] of cases) {
    test(`'${text.slice(0, 30)}'`, () => assert.equal(read(text), value));
  }

  test('agrees with BigInt at any size', () => {
    const integers = fc.bigInt({ min: -(1n << 63n), max: (1n << 64n) - 1n });
    fc.assert(fc.property(integers, (value) => assert.equal(read(String(value)), value)));
  });

  test('reports whether they fit int64, uint64 and int32', () => {
    const kindsOf = (text: string) => {
      assert.ok(read(text) !== undefined);
      return [integer.isSigned, integer.isUnsigned, integer.isInt32];
    };
    assert.deepEqual(kindsOf('5'), [true, true, true]);
    assert.deepEqual(kindsOf('-0'), [true, true, true]);
    assert.deepEqual(kindsOf('-5'), [true, false, true]);
    assert.deepEqual(kindsOf('-2147483648'), [true, false, true]);
    assert.deepEqual(kindsOf('-2147483649'), [true, false, false]);
    assert.deepEqual(kindsOf('2147483648'), [true, true, false]);
    assert.deepEqual(kindsOf('4294967295'), [true, true, false]);
    assert.deepEqual(kindsOf('9223372036854775808'), [false, true, false]);
    assert.deepEqual(kindsOf('18446744073709551615'), [false, true, false]);
    assert.deepEqual(kindsOf('-9223372036854775808'), [true, false, false]);
  });

  test('below -2^63 fits none of them', () => {
    assert.ok(integer.read(Buffer.from('-9223372036854775809'), 0, 20));
    assert.ok(!integer.isSigned && !integer.isUnsigned);
  });
});
