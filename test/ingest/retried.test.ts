/**
 * Quarantined batches that are drained again, on a simulated disk and a failing store: each row
 * exactly once, through crashes, and none below the published watermark.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type DrainOptions, openDrain } from '../../src/ingest/drain.ts';
import type { StampedBatch } from '../../src/model/batch.ts';
import { openLocalQueue } from '../../src/queue/disk/local-queue.ts';
import { listStems } from '../../src/queue/disk/quarantine-folder.ts';
import type { Queue, Shard, Taken } from '../../src/queue/port.ts';
import { createDrainEvents, createQueueEvents } from '../../src/telemetry/queue-events.ts';
import { createInstruments } from '../../src/telemetry/instruments.ts';
import { Random } from '../queue/random.ts';
import { recordTelemetry } from '../queue/recording-telemetry.ts';
import { openSink } from '../queue/sink.ts';
import { SimulatedFileSystem } from '../queue/simulated-file-system.ts';
import { FakeStore, until } from './fake-store.ts';

const owner = { accountId: 'account', streamId: 'stream', receiverId: 'receiver' };
const seeds = Number(process.env['WEIR_RUNS'] ?? 60);
const firstSeed = Number(process.env['WEIR_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
const folder = '/queue/quarantine';

const hasty: Partial<DrainOptions> = {
  maxRows: 20,
  maxBytes: 4000,
  pace: { minIntervalMs: 0, maxIntervalMs: 0, heavyRowsPerSecond: 1 },
  retry: { firstPauseMs: 0, maxPauseMs: 1, attemptsPerBatch: 3, crashesPerBatch: 10 },
};

const instruments = () => createInstruments('silent');

function openQueue(
  fs: SimulatedFileSystem,
  telemetry = createQueueEvents(instruments()),
): Promise<Queue> {
  return openLocalQueue(
    { directory: '/queue', segmentBytes: 3000, minFreeDiskBytes: 0, fileSystem: fs },
    telemetry,
  );
}

/** The only shard of the queue, driven by the test. */
function shardOf(queue: Queue): Shard {
  let found: Shard | undefined;
  queue.work((shard) => {
    found = shard;
    return { close: async () => undefined };
  });
  return found!;
}

const limits = { maxRows: 1000, maxBytes: 1_000_000 };
const idsOf = (taken: Taken | undefined) => taken?.batches.map(({ id }) => id.sequence);

/**
 * A store that records the time of receipt of each row, like one that looks rows up in a time span.
 */
class RememberingStore extends FakeStore {
  readonly receivedAt = new Map<bigint, bigint[]>();
  readonly overlooked: bigint[] = [];

  override async insert(
    layout: StampedBatch['layout'],
    batches: readonly StampedBatch[],
    mode: 'all' | 'missing',
  ): Promise<void> {
    for (const { id, receivedAtNanos, copies } of batches) {
      const earlier = this.receivedAt.get(id.sequence) ?? [];
      const { fromNanos = receivedAtNanos, untilNanos = receivedAtNanos } = copies ?? {};
      const isSeen = (time: bigint) => time >= fromNanos && time <= untilNanos;
      if (!earlier.every(isSeen)) this.overlooked.push(id.sequence);
      this.receivedAt.set(id.sequence, [...earlier, receivedAtNanos]);
    }
    return super.insert(layout, batches, mode);
  }
}

function startDrain(queue: Queue, store: FakeStore) {
  const telemetry = createDrainEvents(instruments());
  return queue.work((shard) =>
    openDrain({ shard, queue, store: store.asStore(), telemetry }, hasty),
  );
}

async function append(queue: Queue, random: Random, prefix = ''): Promise<number> {
  const rows = 1 + random.below(5);
  const payload = Buffer.from(`${prefix}${'x'.repeat(random.below(300))}`);
  await queue.append({ layout: 'logs/1', rows, payload }, owner);
  return rows;
}

/** Like the operator's command while the service is stopped. */
function retryAll(fs: SimulatedFileSystem): void {
  for (const stem of listStems(fs, folder, '.batch')) {
    fs.rename(`${folder}/${stem}.batch`, `${folder}/${stem}.retry`);
  }
  fs.syncDirectory(folder);
}

test('stores each row once, whatever landed before and whenever the process dies', async (t) => {
  t.diagnostic(`${seeds} runs from seed ${firstSeed}`);
  for (let seed = firstSeed; seed < firstSeed + seeds; seed++) {
    const random = new Random(seed);
    const store = new RememberingStore(random);
    // Refused after some of its rows have landed.
    store.faults = { lostAnswer: 0.2, unavailable: 0.1, fenceFails: 0.2, badPrefix: '?' };
    let fs = new SimulatedFileSystem(random);
    let rows = 0;
    for (let life = 0; life < 4; life++) {
      if (life > 0) retryAll(fs);
      // The store still refuses it for two runs.
      if (life === 2) store.faults = { ...store.faults, badPrefix: '!' };
      const queue = await openQueue(fs);
      const drain = startDrain(queue, store);
      for (let batch = 0; batch < 8; batch++) {
        rows += await append(queue, random, random.chance(0.3) ? '?' : '');
      }
      if (life === 3 || random.chance(0.5)) await until(() => queue.status().batches === 0);
      await drain.close();
      fs = fs.afterKill();
    }
    try {
      for (const [row, times] of store.rows) assert.equal(times, 1, `${row}: ${times} times`);
      assert.equal(store.rows.size, rows);
      assert.deepEqual(store.overlooked, []);
      assert.deepEqual(fs.list(folder), []);
    } catch (error) {
      throw new Error(`repeat with WEIR_SEED=${seed} WEIR_RUNS=1`, { cause: error });
    }
  }
});

/** A log with one or more quarantined batches. */
async function withQuarantined(random: Random, batches = 1): Promise<SimulatedFileSystem> {
  const fs = new SimulatedFileSystem(random);
  const queue = await openQueue(fs);
  const drain = startDrain(queue, new FakeStore(random));
  for (let batch = 0; batch < batches; batch++) await append(queue, random, '!');
  await until(() => queue.status().batches === 0);
  await drain.close();
  await queue.close();
  return fs;
}

test('a retried batch counts as backlog and holds the watermark', async () => {
  const random = new Random(3);
  const fs = await withQuarantined(random);
  retryAll(fs);
  const queue = await openQueue(fs);
  assert.deepEqual([queue.status().batches, queue.status().quarantinedBatches], [1, 0]);
  assert.ok(queue.status().rows > 0 && queue.status().bytes > 0);
  const openedAtMs = Date.now();
  await until(() => Date.now() > openedAtMs);
  const held = queue.watermarkNanos();
  await append(queue, random);
  const taken: StampedBatch[] = [];
  const sink = openSink(queue, { took: (batches) => taken.push(...batches) });
  await until(() => queue.status().batches === 0);
  const [again, other] = taken;
  assert.ok(again && other);
  assert.ok(again.receivedAtNanos > held, 'below the published watermark');
  assert.ok(again.copies!.fromNanos < again.receivedAtNanos, 'received at a new time');
  assert.ok(queue.watermarkNanos() >= other.receivedAtNanos);
  await sink.close();
  await queue.close();
});

test('does not drain a batch that the log still contains', async () => {
  const random = new Random(5);
  const fs = new SimulatedFileSystem(random);
  let queue = await openQueue(fs);
  for (const prefix of ['', '!', '']) await append(queue, random, prefix);
  let shard = shardOf(queue);
  const { batches } = (await shard.take(limits))!;
  // Stopped before it releases them.
  await shard.quarantine(batches[1]!, 'refused');
  await queue.close();
  retryAll(fs);
  queue = await openQueue(fs);
  shard = shardOf(queue);
  assert.equal(queue.status().batches, 3);
  const again = (await shard.take(limits))!;
  assert.deepEqual(
    again.batches.map(({ id, receivedAtNanos, copies }) => [id, receivedAtNanos, copies]),
    batches.map(({ id, receivedAtNanos }) => [id, receivedAtNanos, undefined]),
  );
  assert.deepEqual(fs.list(folder), []);
  await queue.close();
});

test('drains a batch that the log can no longer read, as received now', async () => {
  const random = new Random(6);
  const fs = new SimulatedFileSystem(random);
  const beforeNanos = BigInt(Date.now()) * 1_000_000n;
  let queue = await openQueue(fs);
  for (let batch = 0; batch < 3; batch++) await append(queue, random, 'known');
  const shard = shardOf(queue);
  const { batches } = (await shard.take(limits))!;
  await shard.quarantine(batches[1]!, 'refused');
  await shard.release(batches.slice(0, 1));
  await queue.close();
  retryAll(fs);
  const [path = ''] = fs.paths().filter((each) => each.includes('/segments/'));
  const bytes = Buffer.from(fs.contentOf(path));
  for (let at = bytes.indexOf('known'); at >= 0; at = bytes.indexOf('known', at)) bytes[at] = 0;
  fs.overwrite(path, bytes);
  queue = await openQueue(fs);
  assert.equal(queue.watermarkNanos(), -1n);
  const taken = await shardOf(queue).take(limits);
  assert.deepEqual(idsOf(taken), [batches[1]!.id.sequence]);
  const [{ receivedAtNanos, copies } = batches[1]!] = taken!.batches;
  assert.ok(receivedAtNanos > beforeNanos, `received at ${receivedAtNanos}`);
  assert.ok(copies!.fromNanos <= batches[1]!.receivedAtNanos);
  await queue.close();
});

test('reads retried batches together, within the limits', async () => {
  const random = new Random(7);
  const fs = await withQuarantined(random, 5);
  retryAll(fs);
  const queue = await openQueue(fs);
  const shard = shardOf(queue);
  const first = (await shard.take({ ...limits, maxRows: 1 }))!;
  assert.equal(first.batches.length, 1);
  const rest = (await shard.take(limits))!;
  assert.equal(rest.batches.length, 4);
  await shard.release(first.batches);
  assert.deepEqual([queue.status().batches, listStems(fs, folder, '.retry').length], [4, 4]);
  await shard.release(rest.batches);
  assert.deepEqual([queue.status().batches, fs.list(folder)], [0, []]);
  await queue.close();
});

test('completes a retry that a killed process began', async () => {
  const random = new Random(8);
  const fs = await withQuarantined(random, 2);
  const [whole = '', torn = ''] = listStems(fs, folder, '.batch');
  retryAll(fs);
  // Both were refused again, and one was not written completely.
  const contentOf = (stem: string) => fs.contentOf(`${folder}/${stem}.retry`);
  fs.overwrite(`${folder}/${whole}.batch`, contentOf(whole));
  fs.overwrite(`${folder}/${torn}.batch`, contentOf(torn).subarray(0, 80));
  fs.overwrite(`${folder}/${'7'.padStart(20, '0')}.json`, Buffer.from('{}'));
  const queue = await openQueue(fs);
  assert.deepEqual([queue.status().batches, queue.status().quarantinedBatches], [2, 0]);
  const shard = shardOf(queue);
  const taken = (await shard.take(limits))!;
  assert.deepEqual(idsOf(taken), [BigInt(whole), BigInt(torn)]);
  await shard.release(taken.batches);
  assert.deepEqual(fs.list(folder), []);
  await queue.close();
});

test('an unreadable file blocks nothing and is reported', async () => {
  const random = new Random(9);
  const fs = await withQuarantined(random, 2);
  const [atOpen, later] = listStems(fs, folder, '.batch').map((stem) => `${folder}/${stem}.retry`);
  retryAll(fs);
  const unreadable = new Set([atOpen]);
  const open = fs.open.bind(fs);
  fs.open = (path, mode) => {
    if (unreadable.has(path)) throw new Error(`EIO: ${path}`);
    return open(path, mode);
  };
  const { passedOver, telemetry } = recordTelemetry();
  const queue = await openQueue(fs, telemetry);
  assert.deepEqual([queue.status().batches, passedOver], [1, [atOpen]]);
  unreadable.add(later);
  await append(queue, random);
  const { batches } = (await shardOf(queue).take(limits))!;
  assert.equal(batches[0]?.copies, undefined, 'the batch must come from the log');
  assert.deepEqual([queue.status().batches, passedOver], [1, [atOpen, later]]);
  assert.equal(listStems(fs, folder, '.retry').length, 2);
  await queue.close();
});

test('a file damaged meanwhile blocks nothing and is kept', async () => {
  const random = new Random(4);
  const fs = await withQuarantined(random);
  retryAll(fs);
  const [stem = ''] = listStems(fs, folder, '.retry');
  const path = `${folder}/${stem}.retry`;
  fs.overwrite(path, Buffer.from(fs.contentOf(path)).fill(0, 70));
  const { reported, telemetry } = recordTelemetry();
  const queue = await openQueue(fs, telemetry);
  const store = new FakeStore(random);
  const rows = await append(queue, random);
  const drain = startDrain(queue, store);
  await until(() => queue.status().batches === 0);
  assert.equal(store.rows.size, rows);
  assert.ok(fs.list(folder).includes(`${stem}.damaged`));
  assert.deepEqual(
    reported.damage.map(({ kind, quarantineFile, fromSequence }) => [
      kind,
      quarantineFile,
      fromSequence,
    ]),
    [['corrupt', `${folder}/${stem}.damaged`, BigInt(stem)]],
  );
  await drain.close();
  await queue.close();
});
