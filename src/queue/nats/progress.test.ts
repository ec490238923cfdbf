/** Progress that shard holders publish and nodes receive, also with lost messages. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import type { StampedBatch } from '../../model/batch.ts';
import { createQueueNames, type NatsLink } from './connection.ts';
import { ProgressBoard, ProgressPublisher, type ShardProgress } from './progress.ts';

interface Telling {
  readonly shard?: number;
  readonly epoch?: number;
  readonly number: number;
  readonly at: number;
  readonly newest?: Record<string, number>;
}

function tell(view: ProgressBoard, { shard = 0, epoch = 1, number, at, newest = {} }: Telling) {
  const receipts = Object.entries(newest).map(([id, nanos]) => [id, String(nanos)] as const);
  view.apply({
    shard,
    epoch: String(epoch),
    number,
    watermarkNanos: String(at),
    newestReceipts: Object.fromEntries(receipts),
  });
}

test('the watermark is the lowest of all shards, once each has reported', () => {
  const view = new ProgressBoard(2);
  tell(view, { shard: 0, number: 0, at: 100 });
  assert.equal(view.watermarkNanos(), 0n);
  tell(view, { shard: 1, number: 0, at: 70 });
  assert.equal(view.watermarkNanos(), 70n);
  tell(view, { shard: 1, number: 1, at: 130 });
  assert.equal(view.watermarkNanos(), 100n);
  assert.equal(view.shardNanos(1), 130n);
});

test('the watermark never decreases with a new or late writer', () => {
  const view = new ProgressBoard(1);
  tell(view, { epoch: 5, number: 9, at: 100 });
  tell(view, { epoch: 6, number: 0, at: 90 });
  assert.equal(view.watermarkNanos(), 100n);
  tell(view, { epoch: 5, number: 10, at: 500 });
  assert.equal(view.watermarkNanos(), 100n);
});

test('shards unknown to this node count once they have reported', () => {
  const view = new ProgressBoard(1);
  tell(view, { number: 0, at: 100 });
  assert.equal(view.watermarkNanos(), 100n);
  tell(view, { shard: 7, number: 0, at: 50 });
  assert.equal(view.watermarkNanos(), 100n, 'it must not decrease');
  tell(view, { number: 1, at: 1000 });
  assert.equal(view.watermarkNanos(), 100n);
  tell(view, { shard: 7, number: 1, at: 400 });
  assert.equal(view.watermarkNanos(), 400n);
});

test('the newest receipt of a stream is as published if no message was lost', () => {
  const view = new ProgressBoard(1);
  tell(view, { number: 0, at: 10 });
  tell(view, { number: 1, at: 50, newest: { a: 40 } });
  tell(view, { number: 2, at: 60, newest: { b: 55 } });
  assert.equal(view.newestReceiptNanos('a'), 40n);
  assert.equal(view.newestReceiptNanos('b'), 55n);
  assert.equal(view.newestReceiptNanos(undefined), 55n);
  assert.equal(view.newestReceiptNanos('c'), 10n);
});

test('a receipt of any stream applies to all', () => {
  const view = new ProgressBoard(1);
  tell(view, { number: 0, at: 10 });
  tell(view, { number: 1, at: 50, newest: { '*': 50 } });
  assert.equal(view.newestReceiptNanos('c'), 50n);
});

test('receipts cover the watermark whichever messages are lost', () => {
  const tellings = fc.array(
    fc.record({
      stream: fc.constantFrom('a', 'b', 'c'),
      isLost: fc.boolean(),
      isNewWriter: fc.boolean(),
    }),
  );
  fc.assert(
    fc.property(tellings, (each) => {
      const view = new ProgressBoard(1);
      const stored: Record<string, bigint> = { a: 0n, b: 0n, c: 0n };
      let epoch = 1;
      let number = 0;
      for (const [index, { stream, isLost, isNewWriter }] of each.entries()) {
        if (isNewWriter) [epoch, number] = [epoch + 1, 0];
        const at = (index + 1) * 10;
        stored[stream] = BigInt(at);
        if (!isLost) tell(view, { epoch, number, at, newest: { [stream]: at } });
        number++;
        for (const [id, nanos] of Object.entries(stored)) {
          if (nanos <= view.watermarkNanos()) assert.ok(view.newestReceiptNanos(id) >= nanos);
        }
      }
    }),
  );
});

/** @returns the message published after logs of this many streams were stored */
function publishOf(streams: number): string {
  const published: string[] = [];
  const link = {
    connection: { publish: (_subject: string, text: string) => void published.push(text) },
    names: createQueueNames('weir'),
    isConnected: () => true,
  } as unknown as NatsLink;
  const nanos = 1_800_000_000_000_000_000n;
  const publisher = new ProgressPublisher(link, 999, 2n ** 63n, () => true);
  const batches = Array.from({ length: streams }, () => {
    const owner = { accountId: '', streamId: randomUUID(), receiverId: '' };
    return { layout: 'logs/1', owner, receivedAtNanos: nanos } as StampedBatch;
  });
  publisher.stored(batches);
  publisher.reached(nanos);
  publisher.close();
  assert.equal(published.length, 1);
  return published[0]!;
}

for (const streams of [1, 1000, 1001, 10_000]) {
  test(`progress of ${streams} streams fits into the smallest max_payload`, () => {
    assert.ok(Buffer.byteLength(publishOf(streams)) <= 64 * 1024);
  });
}

test('progress names up to 1000 streams, and uses * beyond', () => {
  const newest = (text: string) => (JSON.parse(text) as ShardProgress).newestReceipts;
  assert.equal(Object.keys(newest(publishOf(1000))).length, 1000);
  assert.deepEqual(Object.keys(newest(publishOf(1001))), ['*']);
});
