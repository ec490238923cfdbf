/** The choice of a shard for a batch. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createShardChoice } from './append.ts';

const logs = { layout: 'logs/1' } as const;
const samples = { layout: 'metrics/1' } as const;
const ownerOf = (streamId: string) => ({ accountId: 'a', streamId, receiverId: 'r' });

test('sends logs to all shards in turn', () => {
  const choose = createShardChoice(3, () => 0);
  const chosen = Array.from({ length: 6 }, () => choose(logs, ownerOf('s')));
  assert.deepEqual(chosen, [0, 1, 2, 0, 1, 2]);
});

test('skips shards with a backlog and shards that refuse batches', () => {
  const loads = [5, Number.POSITIVE_INFINITY, 0, 0];
  const choose = createShardChoice(4, (shard) => loads[shard]!);
  const chosen = Array.from({ length: 4 }, () => choose(logs, ownerOf('s')));
  assert.deepEqual(chosen, [2, 3, 2, 3]);
});

test('chooses a shard even if all refuse batches', () => {
  const choose = createShardChoice(2, () => Number.POSITIVE_INFINITY);
  assert.ok([0, 1].includes(choose(logs, ownerOf('s'))));
});

test('sends samples of a stream to one shard, and streams to all shards', () => {
  const choose = createShardChoice(8, (shard) => shard);
  const streams = Array.from({ length: 200 }, (_, index) => `stream ${index}`);
  const first = streams.map((stream) => choose(samples, ownerOf(stream)));
  assert.deepEqual(
    streams.map((stream) => choose(samples, ownerOf(stream))),
    first,
  );
  assert.equal(new Set(first).size, 8);
});
