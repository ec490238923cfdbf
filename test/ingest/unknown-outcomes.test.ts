/** Inserts whose outcome is unknown, on a real engine: their rows are stored once. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { openDrain } from '../../src/ingest/drain.ts';
import { openLocalQueue } from '../../src/queue/disk/local-queue.ts';
import type { ClickHouseStore } from '../../src/store/clickhouse.ts';
import { createDrainEvents, createQueueEvents } from '../../src/telemetry/queue-events.ts';
import { createInstruments } from '../../src/telemetry/instruments.ts';
import { until } from '../harness/until.ts';
import { isAlive } from '../harness/weir-process.ts';
import { Random } from '../queue/random.ts';
import { SimulatedFileSystem } from '../queue/simulated-file-system.ts';
import { type FaultProxy, openFaultProxy } from '../scaled/fault-proxy.ts';
import { openStoreServer, type StoreServer } from '../scaled/store-server.ts';
import { type EngineStore, openEngineStore } from '../store/engine-store.ts';
import { encodeLogs } from '../store/log-row-fixture.ts';
import { newOwner } from '../store/metric-fixture.ts';

const rounds = Number(process.env['WEIR_RUNS'] ?? 4);
const seed = Number(process.env['WEIR_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
const rowsPerBatch = 200;

let engine: EngineStore;
let server: StoreServer;
let proxy: FaultProxy;
before(async () => {
  engine = await openEngineStore();
  server = await openStoreServer();
  proxy = await openFaultProxy({ port: server.port });
});
after(async () => {
  await proxy.close();
  await server.close();
  await engine.close();
});

interface Drained {
  readonly store: ClickHouseStore;
  readonly sendsAhead: boolean;
  /** Disturbs the inserts of the next batches. */
  readonly disturb: (random: Random) => Promise<void>;
}

/** Appends batches while inserts are disturbed. @returns rows, and how many of them differ */
async function storeAll({ store, sendsAhead, disturb }: Drained) {
  const random = new Random(seed);
  const instruments = createInstruments('silent');
  const queue = await openLocalQueue(
    { directory: '/queue', minFreeDiskBytes: 0, fileSystem: new SimulatedFileSystem(random) },
    createQueueEvents(instruments),
  );
  const telemetry = createDrainEvents(instruments);
  const options = {
    maxRows: 2 * rowsPerBatch,
    pace: { minIntervalMs: 0, maxIntervalMs: 0, heavyRowsPerSecond: 1 },
    retry: { firstPauseMs: 1, maxPauseMs: 50, attemptsPerBatch: 3, crashesPerBatch: 10 },
    sendsAhead,
  };
  const drain = queue.work((shard) => openDrain({ shard, queue, store, telemetry }, options));
  const owner = newOwner();
  const logs = Array.from({ length: rowsPerBatch }, (_, i) => ({ body: `row ${i}`.repeat(9) }));
  const append = async () => {
    const payload = encodeLogs(logs);
    await queue.append({ layout: 'logs/1', rows: rowsPerBatch, payload }, owner);
  };
  const isEmpty = () => queue.status().batches === 0;
  // The first insert of a holder fences.
  await append();
  for (let round = 0; round < rounds; round++) {
    await until(isEmpty, { what: 'the drain' });
    const disturbed = disturb(random);
    for (let batch = 0; batch < 3; batch++) await append();
    await disturbed;
  }
  await until(isEmpty, { what: 'the drain' });
  await drain.close();
  const [row] = await store.connection.query<[string, string]>('housekeeping', {
    sql: `SELECT toString(count()), toString(uniqExact(Batch, Row)) FROM weir.logs
WHERE AccountId = {account:String}`,
    params: { account: owner.accountId },
  });
  return row!.map(Number);
}

const rows = (1 + rounds * 3) * rowsPerBatch;
const allOnce = [rows, rows];

test('a connection to a server that is cut within an insert or its answer', async (t) => {
  t.diagnostic(`WEIR_SEED=${seed}`);
  const stored = await storeAll({
    store: await server.open(proxy.port),
    sendsAhead: false,
    async disturb(random) {
      const isUp = random.chance(0.4);
      await proxy.cutAfter(random.below(isUp ? 30_000 : 300), isUp ? 'up' : 'down');
    },
  });
  assert.deepEqual(stored, allOnce);
});

test('an embedded engine that is killed while it inserts or answers', async (t) => {
  t.diagnostic(`WEIR_SEED=${seed}`);
  const { store } = engine;
  const stored = await storeAll({
    store,
    sendsAhead: true,
    async disturb(random) {
      await sleep(random.below(60));
      const pid = engine.enginePid();
      if (pid !== undefined && isAlive(pid)) process.kill(pid, 'SIGKILL');
    },
  });
  assert.deepEqual(stored, allOnce);
});

test('an embedded engine that stores the rows and whose answer is lost', async () => {
  const { store } = engine;
  let lost = 0;
  const insert: ClickHouseStore['insert'] = async (...call) => {
    await store.insert(...call);
    if (lost++ < 2) throw new Error('the answer is lost');
  };
  const stored = await storeAll({
    store: { ...store, insert },
    sendsAhead: true,
    disturb: async () => undefined,
  });
  assert.ok(lost > 2);
  assert.deepEqual(stored, allOnce);
});
