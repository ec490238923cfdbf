/** The newest rows of a stream, whatever the order in which they come. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { newestFirst, type PlacedRow, StreamRows } from './stream-rows.ts';

const shared = { byteLength: 1_000 };

function rowAt(timeNanos: bigint, memory?: PlacedRow['shared']): PlacedRow {
  const place = { timeNanos, tie: 0n, receivedNanos: 0n, bytes: 10 };
  const unread = () => assert.fail('a row is not decoded');
  return { ...place, ...(memory && { shared: memory }), at: unread, row: unread };
}

const times = (rows: StreamRows) => rows.rows.map(({ timeNanos }) => Number(timeNanos));

test('keeps the newest of all rows once each, in order', () => {
  const time = fc.integer({ min: 0, max: 60 });
  const batches = fc.array(fc.array(time, { maxLength: 8 }), { maxLength: 12 });
  const property = fc.property(batches, fc.nat(12), time, (added, loadAt, floor) => {
    const rows = new StreamRows({ maxRows: 10, maxBytes: 1e6 });
    const all = new Set<number>();
    const stored = Array.from({ length: 61 - floor }, (_, n) => 60 - n);
    for (const [n, batch] of added.entries()) {
      if (n === loadAt) {
        rows.load(
          stored.map((each) => rowAt(BigInt(each))),
          { timeNanos: BigInt(floor), tie: 0n },
        );
        for (const each of stored) all.add(each);
      }
      rows.add(batch.map((each) => rowAt(BigInt(each))));
      for (const each of batch) all.add(each);
      const lowest = rows.floor === undefined ? -1 : Number(rows.floor.timeNanos);
      const expected = [...all].filter((each) => each >= lowest).sort((a, b) => b - a);
      assert.deepEqual(times(rows), expected);
      assert.ok(rows.rows.length <= 10);
      assert.deepEqual(rows.rows.toSorted(newestFirst), rows.rows);
    }
  });
  fc.assert(property);
});

test('counts memory that rows share once, and until the last of them is dropped', () => {
  const rows = new StreamRows({ maxRows: 10, maxBytes: 2_300 });
  rows.add([rowAt(1n, shared), rowAt(2n, shared), rowAt(3n, shared)]);
  assert.deepEqual(times(rows), [3, 2, 1]);
  rows.add([rowAt(9n), rowAt(8n), rowAt(7n)]);
  assert.deepEqual(times(rows), [9, 8, 7, 3, 2, 1]);
  rows.add([rowAt(6n)]);
  assert.deepEqual(times(rows), [9, 8, 7, 6, 3, 2]);
  rows.add([rowAt(9n + 1n, { byteLength: 400 })]);
  assert.deepEqual(times(rows), [10, 9, 8, 7, 6]);
  assert.deepEqual(rows.floor, rows.rows.at(-1));
  // There is room for four more of their own, which nothing older fills.
  rows.add([rowAt(20n), rowAt(21n), rowAt(22n), rowAt(23n), rowAt(5n)]);
  assert.deepEqual(times(rows), [23, 22, 21, 20, 10, 9, 8, 7, 6]);
});
