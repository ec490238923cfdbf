/** Which shard gets a batch. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createShardChoice } from './append.ts';

const logs = { layout: 'logs/1' } as const;
const samples = { layout: 'metrics/1' } as const;
const ownerOf = (streamId: string) => ({ accountId: 'a', streamId, receiverId: 'r' });

test('logs go to all shards in turn', () => {
  const choose = createShardChoice(3, () => 0);
  const chosen = Array.from({ length: 6 }, () => choose(logs, ownerOf('s')));
  assert.deepEqual(chosen, [0, 1, 2, 0, 1, 2]);
});

test('logs go past a shard in which something waits, or which takes none', () => {
  const loads = [5, Number.POSITIVE_INFINITY, 0, 0];
  const choose = createShardChoice(4, (shard) => loads[shard]!);
  const chosen = Array.from({ length: 4 }, () => choose(logs, ownerOf('s')));
  assert.deepEqual(chosen, [2, 3, 2, 3]);
});

test('where no shard takes any, one is chosen all the same', () => {
  const choose = createShardChoice(2, () => Number.POSITIVE_INFINITY);
  assert.ok([0, 1].includes(choose(logs, ownerOf('s'))));
});

test('samples of a stream go one way, whatever waits there; streams spread', () => {
  const choose = createShardChoice(8, (shard) => shard);
  const streams = Array.from({ length: 200 }, (_, index) => `stream ${index}`);
  const first = streams.map((stream) => choose(samples, ownerOf(stream)));
  assert.deepEqual(
    streams.map((stream) => choose(samples, ownerOf(stream))),
    first,
  );
  assert.equal(new Set(first).size, 8);
});
