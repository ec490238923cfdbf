/** A cutoff separates earlier from later batches for any clock and after a crash. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openDiskQueue } from '../../src/queue/disk/local-queue.ts';
import { createInstruments } from '../../src/telemetry/instruments.ts';
import { createQueueEvents } from '../../src/telemetry/queue-events.ts';
import { Random } from './random.ts';
import { SimulatedFileSystem } from './simulated-file-system.ts';

const owner = { accountId: 'account', streamId: 'stream', receiverId: 'receiver' };
const content = () => ({ layout: 'logs/1' as const, rows: 1, payload: new Uint8Array(10) });
const nowMs = 1_000_000_300;

function open(fs: SimulatedFileSystem, now: number) {
  const telemetry = createQueueEvents(createInstruments('silent'));
  return openDiskQueue({ directory: '/queue', fileSystem: fs, now: () => now }, telemetry);
}

test('stamps appends after a cutoff in a later second, after a restart too', async () => {
  const fs = new SimulatedFileSystem(new Random(1));
  const queue = await open(fs, nowMs);
  const before = await queue.append(content(), owner);
  const cutoff = await queue.receiptCutoff();
  assert.equal(cutoff, 1_000_000_999_000_000n);
  assert.ok(before.receivedAtNanos <= cutoff);
  const second = 1_000_001_000_000_000n;
  const reopened = await open(fs.afterKill(), nowMs - 5000);
  for (const later of [queue, reopened]) {
    const { receivedAtNanos } = await later.append(content(), owner);
    assert.ok(receivedAtNanos >= second, String(receivedAtNanos));
  }
});

test('a cutoff releases nothing', async () => {
  const queue = await open(new SimulatedFileSystem(new Random(2)), nowMs);
  await queue.append(content(), owner);
  await queue.append(content(), owner);
  await queue.receiptCutoff();
  assert.equal(queue.status().batches, 2);
  const taken = await queue.take({ maxRows: 10, maxBytes: 1e6 });
  assert.equal(taken?.batches.length, 2);
  await queue.release(taken.batches[0]!.id.sequence);
  await queue.receiptCutoff();
  assert.equal(queue.status().batches, 1);
});
