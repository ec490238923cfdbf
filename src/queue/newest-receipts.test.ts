/** The newest receive time by stream and overall, in any order. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Layout, StampedBatch } from '../model/batch.ts';
import { createNewestReceipts } from './newest-receipts.ts';

function batch(streamId: string, receivedAtNanos: bigint, layout: Layout = 'logs/1') {
  return { layout, owner: { streamId }, receivedAtNanos } as StampedBatch;
}

test('returns the newest receive time of each stream', () => {
  const receipts = createNewestReceipts();
  assert.equal(receipts.newestNanos('a'), 0n);
  assert.equal(receipts.newestNanos(undefined), 0n);
  receipts.note([batch('a', 5n), batch('b', 9n), batch('a', 3n)]);
  const [a, b, c] = ['a', 'b', 'c'].map((id) => receipts.newestNanos(id));
  assert.deepEqual([a, b, c], [5n, 9n, 0n]);
  assert.equal(receipts.newestNanos(undefined), 9n);
});

test('ignores samples', () => {
  const receipts = createNewestReceipts();
  receipts.note([batch('a', 5n, 'metrics/1')]);
  assert.equal(receipts.newestNanos('a'), 0n);
  assert.equal(receipts.newestNanos(undefined), 0n);
});
