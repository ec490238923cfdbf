/** Positions in the order of arrival: round trip as text, and invalid texts. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { arrivalsUntil, decodeArrival, encodeArrival } from './arrival.ts';

const position = fc.record({
  receivedAtNanos: fc.bigInt({ min: 0n, max: (1n << 63n) - 1n }),
  batch: fc.bigInt({ min: 0n, max: (1n << 128n) - 1n }),
  row: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
});

test('decodes what it encoded', () => {
  fc.assert(
    fc.property(position, (at) => {
      assert.deepEqual(decodeArrival(encodeArrival(at)), { ...at });
    }),
  );
});

test('encodes time, batch and row', () => {
  const at = { receivedAtNanos: 1_775_032_200_123_456_789n, batch: (7n << 64n) | 255n, row: 3 };
  assert.equal(encodeArrival(at), '1775032200123456789.000000000000000700000000000000ff.3');
  assert.equal(encodeArrival(arrivalsUntil(5n)), `5.${'f'.repeat(32)}.4294967295`);
});

const zeros = '0'.repeat(32);
for (const text of [
  '',
  '1',
  '1.2.3',
  `1.${zeros}`,
  `1.${zeros}.`,
  `1.${zeros}.4294967296`,
  `9223372036854775808.${zeros}.0`,
  `-1.${zeros}.0`,
  `1.${zeros.slice(1)}g.0`,
  `1.${zeros.slice(1)}F.0`,
  `1.${zeros}.0\n`,
  ` 1.${zeros}.0`,
]) {
  test(`rejects ${JSON.stringify(text)}`, () => {
    assert.equal(decodeArrival(text), undefined);
  });
}
