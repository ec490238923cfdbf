/** When the queue refuses appends, and with which errors. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../../src/model/errors.ts';
import { openDiskQueue, type OpenDiskQueueOptions } from '../../src/queue/disk/local-queue.ts';
import type { DiskQueue } from '../../src/queue/disk/disk-queue.ts';
import { createInstruments } from '../../src/telemetry/instruments.ts';
import { createQueueEvents } from '../../src/telemetry/queue-events.ts';
import { Random } from './random.ts';
import { SimulatedFileSystem } from './simulated-file-system.ts';

const owner = { accountId: 'account', streamId: 'stream', receiverId: 'receiver' };
/** A new payload each time: the queue owns what it was given. */
const content = () => ({ layout: 'logs/1' as const, rows: 1, payload: new Uint8Array(1000) });

async function open(options: Partial<OpenDiskQueueOptions> = {}) {
  const fs = new SimulatedFileSystem(new Random(1));
  let nowMs = 1_000_000;
  const queue = await openDiskQueue(
    { directory: '/queue', segmentBytes: 10_000, fileSystem: fs, now: () => nowMs, ...options },
    createQueueEvents(createInstruments('silent')),
  );
  const wait = async (ms: number) => {
    nowMs += ms;
    queue.status();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { fs, queue, wait };
}

async function assertRefused(queue: DiskQueue): Promise<void> {
  await assert.rejects(queue.append(content(), owner), (error) => {
    assert.ok(error instanceof AppError);
    assert.equal(error.code, 'unavailable');
    const seconds = error.retryAfterSeconds ?? 0;
    assert.ok(seconds >= 1 && seconds <= 5);
    return true;
  });
  assert.equal(queue.status().writable, false);
}

test('refuses while the disk is nearly full, and accepts again once there is room', async () => {
  const { fs, queue, wait } = await open({ minFreeDiskBytes: 1e6 });
  await queue.append(content(), owner);
  fs.free = 999_999;
  await wait(1000);
  await assertRefused(queue);
  assert.match(queue.status().reason, /1 bytes short of the 1000000/);
  fs.free = 2e6;
  await wait(1000);
  await queue.append(content(), owner);
  assert.equal(queue.status().writable, true);
});

test('refuses a write that fills the disk, and accepts a later one', async () => {
  const { fs, queue, wait } = await open({ minFreeDiskBytes: 0 });
  const first = await queue.append(content(), owner);
  fs.fillAfter(0, 1);
  await assertRefused(queue);
  assert.match(queue.status().reason, /short of the/);
  // Not tried again until the disk is measured.
  await assertRefused(queue);
  await wait(1000);
  const second = await queue.append(content(), owner);
  assert.equal(queue.status().writable, true);
  const taken = await queue.take({ maxRows: 9, maxBytes: 1e6 });
  assert.deepEqual(
    taken?.batches.map(({ id }) => id.sequence),
    [first.sequence, second.sequence],
  );
  await queue.release(second.sequence);
  await queue.close();
});

test('a segment that a full disk left empty has no oldest batch', async () => {
  const { fs, queue, wait } = await open({ minFreeDiskBytes: 0 });
  const first = await queue.append(content(), owner);
  fs.fillAfter(0, 1);
  await assertRefused(queue);
  await wait(1000);
  // After the seal of the first segment and the header of the second, written in parts.
  fs.fillAfter(4, 1);
  await assertRefused(queue);
  await wait(1000);
  const { receivedAtNanos } = await queue.append(content(), owner);
  await queue.take({ maxRows: 1, maxBytes: 1 });
  await queue.release(first.sequence);
  await queue.close();
  const next = await openDiskQueue(
    { directory: '/queue', minFreeDiskBytes: 0, fileSystem: fs },
    createQueueEvents(createInstruments('silent')),
  );
  assert.equal(next.watermarkNanos(), receivedAtNanos - 1n);
  await next.close();
});

test('closes on a full disk and leaves sealing to the next start', async () => {
  const { fs, queue } = await open({ minFreeDiskBytes: 0 });
  await queue.append(content(), owner);
  fs.fillAfter(0, 9);
  await queue.close();
  fs.fillAfter(0, 0);
  const next = await openDiskQueue(
    { directory: '/queue', minFreeDiskBytes: 0, fileSystem: fs },
    createQueueEvents(createInstruments('silent')),
  );
  assert.equal(next.status().batches, 1);
  await next.close();
});

test('keeps at least two segments free', async () => {
  const { fs, queue, wait } = await open({ minFreeDiskBytes: 0 });
  fs.free = 19_999;
  await wait(1000);
  await assertRefused(queue);
});

test('refuses at the backlog cap until batches are released', async () => {
  const { queue } = await open({ minFreeDiskBytes: 0, maxBacklogBytes: 2000 });
  const { sequence } = await queue.append(content(), owner);
  await queue.append(content(), owner);
  await assertRefused(queue);
  await queue.take({ maxRows: 1, maxBytes: 1 });
  await queue.release(sequence);
  await queue.append(content(), owner);
});

test('reports a failed sync once and for all, and still drains durable batches', async () => {
  const failures: Error[] = [];
  const onFailed = (error: Error) => void failures.push(error);
  const { fs, queue } = await open({ minFreeDiskBytes: 0, onFailed });
  const { sequence } = await queue.append(content(), owner);
  fs.failSyncAfter(0);
  await assertRefused(queue);
  await assertRefused(queue);
  assert.equal(failures.length, 1);
  assert.match(queue.status().reason, /EIO/);
  const watermark = queue.watermarkNanos();
  const taken = await queue.take({ maxRows: 9, maxBytes: 1e6 });
  assert.deepEqual(
    taken?.batches.map(({ id }) => id.sequence),
    [sequence],
  );
  await queue.release(sequence);
  assert.ok(queue.watermarkNanos() >= watermark);
  await queue.close();
});

test('rejects a batch over the limit as too large', async () => {
  const { queue } = await open({ minFreeDiskBytes: 0 });
  const large = { ...content(), payload: new Uint8Array(128 * 1024 * 1024 + 1) };
  await assert.rejects(queue.append(large, owner), { code: 'too_large' });
});

test('stamps after every watermark, even if the clock stops', async () => {
  const { queue } = await open({ minFreeDiskBytes: 0 });
  const watermark = queue.watermarkNanos();
  const { receivedAtNanos } = await queue.append(content(), owner);
  assert.ok(receivedAtNanos > watermark);
  assert.ok(queue.watermarkNanos() < receivedAtNanos);
});

test('closing the queue ends a waiting take', async () => {
  const { queue } = await open({ minFreeDiskBytes: 0 });
  const taking = queue.take({ maxRows: 1, maxBytes: 1 });
  await queue.close();
  assert.equal(await taking, undefined);
});
