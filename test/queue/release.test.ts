/** What a release frees. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openDiskQueue } from '../../src/queue/disk/local-queue.ts';
import { createInstruments } from '../../src/telemetry/instruments.ts';
import { createQueueEvents } from '../../src/telemetry/queue-events.ts';
import { Random } from './random.ts';
import { recordTelemetry } from './recording-telemetry.ts';
import { SimulatedFileSystem } from './simulated-file-system.ts';

const owner = { accountId: 'account', streamId: 'stream', receiverId: 'receiver' };

for (const memoryTailBytes of [0, 1_000_000]) {
  const origin = memoryTailBytes === 0 ? 'the disk' : 'memory';

  test(`batches from ${origin} keep their payload until released`, async () => {
    const fileSystem = new SimulatedFileSystem(new Random(1));
    const queue = await openDiskQueue(
      { directory: '/queue', fileSystem, minFreeDiskBytes: 0, memoryTailBytes },
      createQueueEvents(createInstruments('silent')),
    );
    for (const byte of [1, 2]) {
      const payload = new Uint8Array(1000).fill(byte);
      await queue.append({ layout: 'logs/1', rows: 1, payload }, owner);
    }
    const taken = await queue.take({ maxRows: 10, maxBytes: 1e6 });
    const [first, second] = taken?.batches ?? [];
    assert.ok(first !== undefined && second !== undefined);
    await queue.release(first.id.sequence);
    assert.deepEqual(new Uint8Array(second.payload), new Uint8Array(1000).fill(2));
    await queue.release(second.id.sequence);
    assert.equal(second.payload.length, 0);
    await queue.close();
  });
}

test('a released queue keeps a small segment, and frees a larger one', async () => {
  const fileSystem = new SimulatedFileSystem(new Random(1));
  const options = { directory: '/queue', fileSystem, minFreeDiskBytes: 0 };
  const open = () => openDiskQueue(options, createQueueEvents(createInstruments('silent')));
  const segments = () => fileSystem.list('/queue/segments').length;
  let queue = await open();
  const appendAndRelease = async (bytes: number) => {
    const payload = new Uint8Array(bytes);
    const { sequence } = await queue.append({ layout: 'logs/1', rows: 1, payload }, owner);
    await queue.take({ maxRows: 1, maxBytes: 1e9 });
    await queue.release(sequence);
    return sequence;
  };
  await appendAndRelease(1_000);
  assert.equal(segments(), 1);
  const last = await appendAndRelease(4_500_000);
  assert.equal(segments(), 0);
  assert.ok((await appendAndRelease(1_000)) > last);
  assert.equal(segments(), 1);
  await appendAndRelease(4_500_000);
  await queue.close();
  queue = await open();
  assert.ok((await appendAndRelease(1_000)) > last);
  await queue.close();
});

test('a released queue frees its small segment after a while without appends', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const fileSystem = new SimulatedFileSystem(new Random(1));
  const options = { directory: '/queue', fileSystem, minFreeDiskBytes: 0 };
  const queue = await openDiskQueue(options, createQueueEvents(createInstruments('silent')));
  const segments = () => fileSystem.list('/queue/segments').length;
  const append = () =>
    queue.append({ layout: 'logs/1', rows: 1, payload: new Uint8Array(1_000) }, owner);
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  const { sequence } = await append();
  await queue.take({ maxRows: 1, maxBytes: 1e6 });
  await queue.release(sequence);
  t.mock.timers.tick(9_999);
  await turn();
  assert.equal(segments(), 1);
  t.mock.timers.tick(1);
  await turn();
  assert.equal(segments(), 0);

  const second = await append();
  await queue.take({ maxRows: 1, maxBytes: 1e6 });
  await queue.release(second.sequence);
  await append();
  t.mock.timers.tick(10_000);
  await turn();
  assert.equal(segments(), 1);
  assert.equal(queue.status().batches, 1);
  await queue.close();
});

test('a seal that finds the disk full leaves the segment as it was', async () => {
  const fileSystem = new SimulatedFileSystem(new Random(1));
  const options = { directory: '/queue', segmentBytes: 2000, minFreeDiskBytes: 0 };
  const { reported, telemetry } = recordTelemetry();
  const queue = await openDiskQueue({ ...options, fileSystem }, telemetry);
  const append = () =>
    queue.append({ layout: 'logs/1', rows: 1, payload: new Uint8Array(700) }, owner);
  const { sequence } = await append();
  await queue.take({ maxRows: 1, maxBytes: 1e6 });
  fileSystem.fillAfter(3, 1);
  await queue.release(sequence);
  assert.equal(fileSystem.list('/queue/segments').length, 1);
  const killed = fileSystem.afterKill();
  await (await openDiskQueue({ ...options, fileSystem: killed }, telemetry)).close();
  assert.deepEqual(reported.damage, []);

  const next = await append();
  await queue.take({ maxRows: 1, maxBytes: 1e6 });
  await queue.release(next.sequence);
  assert.deepEqual(fileSystem.list('/queue/segments'), []);
  await queue.close();
});
