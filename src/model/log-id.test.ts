/** Log ids round-trip, and sort as text exactly as their positions sort. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { decodeLogId, encodeLogId, type LogPosition, maxTie, nilLogId, toTie } from './log-id.ts';

const position: fc.Arbitrary<LogPosition> = fc
  .tuple(fc.bigInt(0n, 5_648_745_600_000_000_000n), fc.bigInt(0n, maxTie))
  .map(([timeNanos, tie]) => ({ timeNanos, tie }));

/** Often equal or next to each other, where an error in a boundary would show. */
const closePositions = fc
  .tuple(position, fc.bigInt(-2n, 2n), fc.bigInt(-2n, 2n))
  .map(([first, time, tie]): [LogPosition, LogPosition] => [
    first,
    {
      timeNanos: first.timeNanos + time < 0n ? 0n : first.timeNanos + time,
      tie: first.tie + tie < 0n || first.tie + tie > maxTie ? first.tie : first.tie + tie,
    },
  ]);

test('what is encoded is decoded', () => {
  fc.assert(
    fc.property(position, (value) => {
      assert.deepEqual(decodeLogId(encodeLogId(value)), value);
      assert.deepEqual(decodeLogId(encodeLogId(value).toUpperCase()), value);
    }),
  );
});

test('ids sort as their positions do', () => {
  fc.assert(
    fc.property(fc.oneof(closePositions, fc.tuple(position, position)), ([a, b]) => {
      const order = a.timeNanos === b.timeNanos ? a.tie < b.tie : a.timeNanos < b.timeNanos;
      assert.equal(encodeLogId(a) < encodeLogId(b), order);
    }),
  );
});

test('ids are UUIDs of version 7', () => {
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
  test(`no log id: ${JSON.stringify(text)}`, () => assert.equal(decodeLogId(text), undefined));
}

test('ties of one writer differ from row to row and batch to batch', () => {
  const writer = 0xffff_ffff_ffff_fff0n;
  const ties = [1n, 2n, 3n].flatMap((batch) =>
    [0, 1, 1_048_575].map((row) => toTie(writer, batch, row)),
  );
  assert.equal(new Set(ties).size, ties.length);
  assert.ok(ties.every((tie) => tie >= 0n && tie <= maxTie));
});
