/** Batches of a shard from delivery to release. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { HeldBatch } from './assembler.ts';
import { ShardBacklog } from './shard-backlog.ts';

function hold(sequence: number, bytes = 10, isSuspect = false): HeldBatch {
  const batch = {
    id: { writer: 1n, sequence: BigInt(sequence) },
    receivedAtNanos: BigInt(sequence * 100),
    owner: { accountId: 'account', streamId: 'stream', receiverId: 'receiver' },
    layout: 'logs/1' as const,
    rows: 2,
    payload: new Uint8Array(bytes),
  };
  return { batch, isSuspect, messages: [sequence] };
}

function take(backlog: ShardBacklog, maxRows = 100, maxBytes = 1000) {
  const taken = backlog.take({ maxRows, maxBytes });
  return taken && { ids: taken.batches.map((it) => Number(it.id.sequence)), is: taken.suspect };
}

test('takes batches in order, up to the limits', () => {
  const backlog = new ShardBacklog();
  backlog.add([hold(1), hold(2), hold(3), hold(4)]);
  assert.deepEqual(take(backlog, 5), { ids: [1, 2], is: false });
  assert.deepEqual(take(backlog, 100, 15), { ids: [3], is: false });
  assert.deepEqual(take(backlog), { ids: [4], is: false });
  assert.equal(take(backlog), undefined);
});

test('takes hundreds of thousands of small batches at once', () => {
  const backlog = new ShardBacklog();
  const all = Array.from({ length: 300_000 }, (_, sequence) => hold(sequence, 1));
  backlog.add(all);
  const { batches } = backlog.take({ maxRows: 1_000_000, maxBytes: 1_000_000 })!;
  assert.equal(batches.length, all.length);
  assert.equal(backlog.takenUntil(batches.at(-1)).length, all.length);
});

test('takes a batch over the limits by itself', () => {
  const backlog = new ShardBacklog();
  backlog.add([hold(1, 5000), hold(2)]);
  assert.deepEqual(take(backlog), { ids: [1], is: false });
  assert.deepEqual(take(backlog), { ids: [2], is: false });
});

test('never takes suspect batches together with others', () => {
  const backlog = new ShardBacklog();
  backlog.add([hold(1, 1, true), hold(2, 1, true), hold(3), hold(4, 1, true)]);
  assert.deepEqual(take(backlog), { ids: [1, 2], is: true });
  assert.deepEqual(take(backlog), { ids: [3], is: false });
  assert.deepEqual(take(backlog), { ids: [4], is: true });
});

test('counts taken batches until they are released', () => {
  const backlog = new ShardBacklog();
  backlog.add([hold(1), hold(2), hold(3)]);
  const { batches } = backlog.take({ maxRows: 4, maxBytes: 100 })!;
  const { rows, bytes, count, oldestNanos } = backlog;
  assert.deepEqual(
    { rows, bytes, count, oldestNanos },
    { rows: 6, bytes: 30, count: 3, oldestNanos: 100n },
  );
  assert.equal(backlog.takenUntil({ ...batches[1]! }).length, 2);
  backlog.release(2);
  assert.equal(backlog.rows, 2);
  assert.equal(backlog.oldestNanos, 300n);
  assert.throws(() => backlog.takenUntil(batches[0]), /was not taken/);
  assert.throws(() => backlog.takenUntil(undefined), /was not taken/);
});
