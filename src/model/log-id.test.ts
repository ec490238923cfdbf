/** Log ids: round trip, and text order equal to the order of positions. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { decodeLogId, encodeLogId, type LogPosition, maxTie, nilLogId, toTie } from './log-id.ts';

const position: fc.Arbitrary<LogPosition> = fc
  .tuple(fc.bigInt(0n, 5_648_745_600_000_000_000n), fc.bigInt(0n, maxTie))
  .map(([timeNanos, tie]) => ({ timeNanos, tie }));

/** Positions that are often equal or adjacent, to test boundaries. */
const closePositions = fc
  .tuple(position, fc.bigInt(-2n, 2n), fc.bigInt(-2n, 2n))
  .map(([first, time, tie]): [LogPosition, LogPosition] => [
    first,
    {
      timeNanos: first.timeNanos + time < 0n ? 0n : first.timeNanos + time,
      tie: first.tie + tie < 0n || first.tie + tie > maxTie ? first.tie : first.tie + tie,
    },
  ]);

test('decodes what it encoded', () => {
  fc.assert(
    fc.property(position, (value) => {
      assert.deepEqual(decodeLogId(encodeLogId(value)), value);
      assert.deepEqual(decodeLogId(encodeLogId(value).toUpperCase()), value);
    }),
  );
});

test('sorts ids like their positions', () => {
  fc.assert(
    fc.property(fc.oneof(closePositions, fc.tuple(position, position)), ([a, b]) => {
      const order = a.timeNanos === b.timeNanos ? a.tie < b.tie : a.timeNanos < b.timeNanos;
      assert.equal(encodeLogId(a) < encodeLogId(b), order);
    }),
  );
});

test('encodes UUIDs of version 7', () => {
  fc.assert(
    fc.property(position, (value) => {
      assert.match(
        encodeLogId(value),
        /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
      );
    }),
  );
});

for (const text of [
  '',
  nilLogId,
  'x',
  '0190a5f0-0000-4000-8000-000000000000',
  '0190a5f0-0000-7000-c000-000000000000',
  '0190a5f0-0000-7fff-bfff-000000000000',
  'ffffffff-ffff-7000-8000-000000000000',
  '{0190a5f0-0000-7000-8000-000000000000}',
]) {
  test(`rejects ${JSON.stringify(text)}`, () => assert.equal(decodeLogId(text), undefined));
}

test('ties of one writer differ for each row and batch', () => {
  const writer = 0xffff_ffff_ffff_fff0n;
  const ties = [1n, 2n, 3n].flatMap((batch) =>
    [0, 1, 1_048_575].map((row) => toTie(writer, batch, row)),
  );
  assert.equal(new Set(ties).size, ties.length);
  assert.ok(ties.every((tie) => tie >= 0n && tie <= maxTie));
});
