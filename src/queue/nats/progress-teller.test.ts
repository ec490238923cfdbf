/** What a holder tells of its shard, in messages that every server takes. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import type { StampedBatch } from '../../model/batch.ts';
import type { NatsLink } from './connection.ts';
import { createQueueNames, type ShardProgress } from './names.ts';
import { ProgressTeller } from './progress-teller.ts';

const leastPayloadBytes = 64 * 1024;
const nanos = 1_800_000_000_000_000_000n;

/** @returns what is told once so many streams have got something. */
function tellOf(streams: number): string {
  const told: string[] = [];
  const link = {
    connection: { publish: (_subject: string, text: string) => void told.push(text) },
    names: createQueueNames('weir'),
    isConnected: () => true,
  } as unknown as NatsLink;
  const teller = new ProgressTeller(link, 999, 2n ** 63n, () => true);
  const batches = Array.from({ length: streams }, () => {
    const owner = { accountId: '', streamId: randomUUID(), receiverId: '' };
    return { layout: 'logs/1', owner, receivedAtNanos: nanos } as StampedBatch;
  });
  teller.stored(batches);
  teller.reached(nanos);
  teller.close();
  assert.equal(told.length, 1);
  return told[0]!;
}

for (const streams of [1, 1000, 1001, 2000, 10_000]) {
  test(`of ${streams} streams it tells in one message of the smallest server`, () => {
    assert.ok(Buffer.byteLength(tellOf(streams)) <= leastPayloadBytes);
  });
}

test('of many streams it tells each, of too many all at once', () => {
  const newest = (text: string) => (JSON.parse(text) as ShardProgress).newestReceipts;
  assert.equal(Object.keys(newest(tellOf(1000))).length, 1000);
  assert.deepEqual(newest(tellOf(1001)), { '*': nanos.toString() });
});
