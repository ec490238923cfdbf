/** The drain between a queue on a simulated disk and a failing store: each row exactly once. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { queryObjects } from 'node:v8';
import {
  type Drain,
  type DrainOptions,
  defaultDrainOptions,
  openDrain,
} from '../../src/ingest/drain.ts';
import { openLocalQueue } from '../../src/queue/disk/local-queue.ts';
import type { Queue, Shard } from '../../src/queue/port.ts';
import { createDrainEvents, createQueueEvents } from '../../src/telemetry/queue-events.ts';
import { createInstruments } from '../../src/telemetry/instruments.ts';
import { StoreInsertError } from '../../src/store/port.ts';
import { Random } from '../queue/random.ts';
import { SimulatedFileSystem } from '../queue/simulated-file-system.ts';
import { FakeStore, until } from './fake-store.ts';

const owner = { accountId: 'account', streamId: 'stream', receiverId: 'receiver' };
const seeds = Number(process.env['WEIR_RUNS'] ?? 100);
const firstSeed = Number(process.env['WEIR_SEED'] ?? Math.floor(Math.random() * 2 ** 31));

/** Waits as little as possible. */
const hasty: Partial<DrainOptions> = {
  maxRows: 20,
  maxBytes: 4000,
  pace: { minIntervalMs: 0, maxIntervalMs: 0, heavyRowsPerSecond: 1 },
  retry: { firstPauseMs: 0, maxPauseMs: 1, attemptsPerBatch: 3, crashesPerBatch: 4 },
};

function openQueue(fs: SimulatedFileSystem): Promise<Queue> {
  return openLocalQueue(
    { directory: '/queue', segmentBytes: 3000, minFreeDiskBytes: 0, fileSystem: fs },
    createQueueEvents(createInstruments('silent')),
  );
}

function startDrain(queue: Queue, store: FakeStore, options = hasty) {
  const telemetry = createDrainEvents(createInstruments('silent'));
  return queue.work((shard) =>
    openDrain({ shard, queue, store: store.asStore(), telemetry }, options),
  );
}

/** Appends batches of 1 to 5 rows. @returns the number of their rows */
async function appendSome(queue: Queue, random: Random, isBad = false): Promise<number> {
  const rows = 1 + random.below(5);
  const payload = Buffer.from(`${isBad ? '!' : ''}${'x'.repeat(random.below(300))}`);
  await queue.append({ layout: 'logs/1', rows, payload }, owner);
  return isBad ? 0 : rows;
}

function assertOnce(store: FakeStore, expectedRows: number): void {
  for (const [row, times] of store.rows) {
    assert.equal(times, 1, `row ${row} is stored ${times} times`);
  }
  assert.equal(
    store.insertsOverLoose,
    0,
    'inserts must wait until the outcome of earlier ones is known',
  );
  assert.equal(store.rows.size, expectedRows);
}

test('stores each row exactly once, whatever the store answers', async (t) => {
  t.diagnostic(`${seeds} runs from seed ${firstSeed}`);
  for (let seed = firstSeed; seed < firstSeed + seeds; seed++) {
    const random = new Random(seed);
    const store = new FakeStore(random);
    store.faults = { lostAnswer: 0.2, unavailable: 0.2, fenceFails: 0.3, badPrefix: '!' };
    let fs = new SimulatedFileSystem(random);
    const options = { ...hasty, sendsAhead: random.chance(0.5) };
    let rows = 0;
    for (let life = 0; life < 3; life++) {
      const queue = await openQueue(fs);
      const drain = startDrain(queue, store, options);
      const batches = random.below(15);
      for (let batch = 0; batch < batches; batch++) rows += await appendSome(queue, random);
      if (life === 2) await until(() => queue.status().batches === 0);
      else if (random.chance(0.3)) await until(() => queue.status().batches < 3);
      await drain.close();
      // A simulated crash: rows that were stored but not released come again.
      fs = fs.afterKill();
    }
    try {
      assertOnce(store, rows);
    } catch (error) {
      throw new Error(`repeat with WEIR_SEED=${seed} WEIR_RUNS=1`, { cause: error });
    }
  }
});

test('sets a bad batch aside and continues', async () => {
  const random = new Random(7);
  const store = new FakeStore(random);
  const queue = await openQueue(new SimulatedFileSystem(random));
  let rows = 0;
  for (let batch = 0; batch < 30; batch++) rows += await appendSome(queue, random, batch % 7 === 3);
  const drain = startDrain(queue, store);
  await until(() => queue.status().batches === 0);
  assert.equal(queue.status().quarantinedBatches, 4);
  assertOnce(store, rows);
  await drain.close();
});

test('sets a batch aside that crashes the engine each time, and no other', async () => {
  const random = new Random(11);
  const store = new FakeStore(random);
  store.faults = { ...store.faults, lostAnswer: 0.3, crashPrefix: '#' };
  const queue = await openQueue(new SimulatedFileSystem(random));
  let rows = 0;
  for (let batch = 0; batch < 30; batch++) {
    if (batch % 7 !== 3) rows += await appendSome(queue, random);
    else await queue.append({ layout: 'logs/1', rows: 2, payload: Buffer.from('#') }, owner);
  }
  const drain = startDrain(queue, store);
  await until(() => queue.status().batches === 0);
  assert.equal(queue.status().quarantinedBatches, 4);
  assertOnce(store, rows);
  await drain.close();
});

test('finds the batch that crashes the engine among many after a few crashes', async () => {
  const random = new Random(16);
  const store = new FakeStore(random);
  store.faults = { ...store.faults, crashPrefix: '#' };
  const queue = await openQueue(new SimulatedFileSystem(random));
  let rows = 0;
  for (let batch = 0; batch < 64; batch++) {
    if (batch !== 21) rows += await appendSome(queue, random);
    else await queue.append({ layout: 'logs/1', rows: 2, payload: Buffer.from('#') }, owner);
  }
  const drain = startDrain(queue, store, { ...hasty, maxRows: 1000, maxBytes: 1e6 });
  await until(() => queue.status().batches === 0);
  assert.equal(queue.status().quarantinedBatches, 1);
  assertOnce(store, rows);
  const halvings = Math.log2(64);
  assert.equal(store.crashes(), halvings + hasty.retry!.crashesPerBatch);
  await drain.close();
});

test('sets nothing aside while no answer comes, and the engine has not crashed', async () => {
  const random = new Random(12);
  const store = new FakeStore(random);
  store.faults = { ...store.faults, lostAnswer: 1 };
  const queue = await openQueue(new SimulatedFileSystem(random));
  const drain = startDrain(queue, store);
  const rows = await appendSome(queue, random);
  await until(() => store.inserts.length > 30);
  assert.equal(queue.status().quarantinedBatches, 0);
  store.faults = { ...store.faults, lostAnswer: 0 };
  await until(() => queue.status().batches === 0);
  assertOnce(store, rows);
  await drain.close();
});

test('sets nothing aside while the store is unavailable', async () => {
  const random = new Random(8);
  const store = new FakeStore(random);
  const queue = await openQueue(new SimulatedFileSystem(random));
  const drain = startDrain(queue, store);
  store.isAway = true;
  let rows = 0;
  for (let batch = 0; batch < 20; batch++) rows += await appendSome(queue, random, batch === 4);
  for (let turn = 0; turn < 500; turn++) await new Promise((resolve) => setImmediate(resolve));
  assert.equal(queue.status().batches, 20);
  assert.equal(queue.status().quarantinedBatches, 0);
  store.isAway = false;
  await until(() => queue.status().batches === 0);
  assert.equal(queue.status().quarantinedBatches, 1);
  assertOnce(store, rows);
  await drain.close();
});

test('stores the batches of an earlier process only if rows are missing', async () => {
  const random = new Random(9);
  const store = new FakeStore(random);
  const fs = new SimulatedFileSystem(random);
  const before = await openQueue(fs);
  const rows = await appendSome(before, random);
  const queue = await openQueue(fs.afterKill());
  const more = await appendSome(queue, random);
  const drain = startDrain(queue, store);
  await until(() => queue.status().batches === 0);
  assert.deepEqual(
    store.inserts.map(({ mode }) => mode),
    ['missing', 'all'],
  );
  assertOnce(store, rows + more);
  await drain.close();
});

test('batches that arrive during an insert share the next', async () => {
  const random = new Random(10);
  const store = new FakeStore(random);
  const queue = await openQueue(new SimulatedFileSystem(random));
  const pace = { minIntervalMs: 30, maxIntervalMs: 30, heavyRowsPerSecond: 1e9 };
  const { promise, resolve } = Promise.withResolvers<void>();
  store.mayAnswer = promise;
  const drain = startDrain(queue, store, { ...hasty, maxRows: 10_000, maxBytes: 1e6, pace });
  const first = await appendSome(queue, random);
  await until(() => store.inserts.length === 1);
  let rest = 0;
  for (let batch = 0; batch < 40; batch++) rest += await appendSome(queue, random);
  resolve();
  await until(() => queue.status().batches === 0);
  assert.deepEqual(
    store.inserts.map(({ rows }) => rows),
    [first, rest],
  );
  await drain.close();
});

test('logs are sent while the store inserts others, and released in order', async () => {
  const random = new Random(12);
  const store = new FakeStore(random);
  const queue = await openQueue(new SimulatedFileSystem(random));
  const answers = [0, 1, 2].map(() => Promise.withResolvers<void>());
  let asked = 0;
  const slow = {
    ...store.asStore(),
    insert: async (...args: Parameters<FakeStore['insert']>) => {
      const answer = answers[asked++]!;
      await store.insert(...args);
      await answer.promise;
    },
  };
  const telemetry = createDrainEvents(createInstruments('silent'));
  const options = { ...hasty, maxRows: 1, sendsAhead: true };
  const drain = queue.work((shard) => openDrain({ shard, queue, store: slow, telemetry }, options));
  let rows = 0;
  for (let batch = 0; batch < 3; batch++) rows += await appendSome(queue, random);
  await until(() => asked === 2);
  answers[1]!.resolve();
  await setTimeout(50);
  assert.equal(asked, 2, 'a third waits for the first');
  assert.equal(queue.status().batches, 3, 'the second is not released before the first');
  answers[0]!.resolve();
  await until(() => asked === 3);
  answers[2]!.resolve();
  await until(() => queue.status().batches === 0);
  assertOnce(store, rows);
  await drain.close();
});

test('nothing is sent ahead while a failure is dealt with', async () => {
  const random = new Random(15);
  const store = new FakeStore(random);
  const queue = await openQueue(new SimulatedFileSystem(random));
  const fences = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let asked = 0;
  let fenced = 0;
  const failing = {
    ...store.asStore(),
    insert: async (...args: Parameters<FakeStore['insert']>) => {
      asked++;
      // The first insert, and the first of what waited for it.
      if (asked === 1 || asked === 3) throw new StoreInsertError('unknown', 'no answer');
      await store.insert(...args);
    },
    fence: () => fences[fenced++]!.promise,
  };
  const telemetry = createDrainEvents(createInstruments('silent'));
  const options = { ...hasty, sendsAhead: true };
  const drain = queue.work((shard) =>
    openDrain({ shard, queue, store: failing, telemetry }, options),
  );
  let rows = await appendSome(queue, random);
  for (const [index, fence] of fences.entries()) {
    await until(() => fenced === index + 1);
    const before = asked;
    rows += await appendSome(queue, random);
    await setTimeout(50);
    assert.equal(asked, before);
    fence.resolve();
  }
  await until(() => queue.status().batches === 0);
  assertOnce(store, rows);
  await drain.close();
});

test('what is being stored does not make the next insert full', async () => {
  const random = new Random(14);
  const store = new FakeStore(random);
  const queue = await openQueue(new SimulatedFileSystem(random));
  const { promise, resolve } = Promise.withResolvers<void>();
  store.mayAnswer = promise;
  const append = (rows: number) =>
    queue.append({ layout: 'logs/1', rows, payload: Buffer.from('x') }, owner);
  await append(20);
  const pace = { minIntervalMs: 600_000, maxIntervalMs: 600_000, heavyRowsPerSecond: 1 };
  const drain = startDrain(queue, store, { ...hasty, maxRows: 20, pace, sendsAhead: true });
  await until(() => store.inserts.length === 1);
  await append(5);
  await setTimeout(50);
  assert.equal(store.inserts.length, 1);
  await append(15);
  await until(() => store.inserts.length === 2);
  assert.deepEqual(
    store.inserts.map(({ rows }) => rows),
    [20, 20],
  );
  resolve();
  await drain.close();
});

test('metrics wait for those before them', async () => {
  const random = new Random(13);
  const store = new FakeStore(random);
  const queue = await openQueue(new SimulatedFileSystem(random));
  const { promise, resolve } = Promise.withResolvers<void>();
  store.mayAnswer = promise;
  const drain = startDrain(queue, store, { ...hasty, maxRows: 1, sendsAhead: true });
  for (let batch = 0; batch < 2; batch++) {
    await queue.append({ layout: 'metrics/1', rows: 1, payload: Buffer.from('x') }, owner);
  }
  await until(() => store.inserts.length === 1);
  await setTimeout(50);
  assert.equal(store.inserts.length, 1);
  resolve();
  await until(() => store.inserts.length === 2);
  await drain.close();
});

test('metrics that arrive during an insert share the next', async () => {
  const random = new Random(14);
  const store = new FakeStore(random);
  const queue = await openQueue(new SimulatedFileSystem(random));
  const { promise, resolve } = Promise.withResolvers<void>();
  store.mayAnswer = promise;
  const drain = startDrain(queue, store, { ...hasty, sendsAhead: true });
  for (let batch = 0; batch < 4; batch++) {
    await queue.append({ layout: 'metrics/1', rows: 1, payload: Buffer.from('x') }, owner);
    await until(() => store.inserts.length === 1);
    for (let turn = 0; turn < 50; turn++) await new Promise((next) => setImmediate(next));
  }
  resolve();
  await until(() => queue.status().batches === 0);
  assert.deepEqual(
    store.inserts.map(({ rows }) => rows),
    [1, 3],
  );
  await drain.close();
});

test('an idle drain closes at once', async () => {
  const random = new Random(11);
  const queue = await openQueue(new SimulatedFileSystem(random));
  const drain = startDrain(queue, new FakeStore(random), defaultDrainOptions);
  await drain.close();
  await queue.close();
});

test('closes although the store never answers, and its rows are stored once later', async () => {
  const random = new Random(1);
  const store = new FakeStore(random);
  let fs = new SimulatedFileSystem(random);
  const silent = Promise.withResolvers<never>();
  let asked = 0;
  const hanging = {
    ...store.asStore(),
    insert: () => {
      asked++;
      return silent.promise;
    },
  };
  const queue = await openQueue(fs);
  const telemetry = createDrainEvents(createInstruments('silent'));
  const drain = queue.work((shard) =>
    openDrain({ shard, queue, store: hanging, telemetry }, { ...hasty, closeGraceMs: 1 }),
  );
  const rows = await appendSome(queue, random);
  await until(() => asked === 1);
  await drain.close();
  await queue.close();
  fs = fs.afterKill();
  const reopened = await openQueue(fs);
  const next = startDrain(reopened, store);
  await until(() => reopened.status().batches === 0);
  assertOnce(store, rows);
  assert.equal(store.inserts[0]?.mode, 'missing');
  await next.close();
  await reopened.close();
});

test('an insert slower than the stop timeout is not a failure of the queue', async () => {
  const random = new Random(1);
  const store = new FakeStore(random);
  const { promise, resolve } = Promise.withResolvers<void>();
  store.mayAnswer = promise;
  const queue = await openQueue(new SimulatedFileSystem(random));
  const failed: string[] = [];
  const telemetry = {
    ...createDrainEvents(createInstruments('silent')),
    queueFailed: ({ action }: { readonly action: string }) => void failed.push(action),
  };
  let isHeld = true;
  const drains: Drain[] = [];
  const work = queue.work((shard) => {
    const release: Shard['release'] = async (batches) => {
      assert.ok(isHeld, 'it was released');
      await shard.release(batches);
    };
    const parts = { shard: { ...shard, release }, queue, store: store.asStore(), telemetry };
    const drain = openDrain(parts, { ...hasty, closeGraceMs: 1 });
    drains.push(drain);
    return drain;
  });
  await appendSome(queue, random);
  await until(() => store.inserts.length === 1);
  await work.close();
  isHeld = false;
  await queue.close();
  resolve();
  await drains[0]!.ended;
  assert.deepEqual(failed, []);
});

test('retains no memory of drained batches', async () => {
  const store = new FakeStore(new Random(1));
  const random = new Random(2);
  const queue = await openQueue(new SimulatedFileSystem(random));
  const drain = startDrain(queue, store);
  const drainSome = async (inserts: number) => {
    const goal = store.inserts.length + inserts;
    while (store.inserts.length < goal) {
      await appendSome(queue, random);
      await until(() => queue.status().batches === 0);
    }
  };
  await drainSome(100);
  const before = queryObjects(Promise, { format: 'count' });
  await drainSome(1000);
  const grown = queryObjects(Promise, { format: 'count' }) - before;
  assert.ok(grown < 500, `${grown} promises more after 1000 inserts`);
  await drain.close();
  await queue.close();
});
