/** Housekeeping frees disk by retention and cap, invisible to readers except for the freed data. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, beforeEach, test } from 'node:test';
import { localToken } from './local-token.ts';
import type { Stream } from '../../src/model/account.ts';
import {
  createHousekeeping,
  type Housekeeping,
  housekeepingDefaults,
  openHousekeepingTimer,
  type HousekeepingOptions,
} from '../../src/store/housekeeping.ts';
import { createMergePause } from '../../src/store/merges/merge-pause.ts';
import { until } from '../harness/until.ts';
import {
  allMutated,
  type EngineStore,
  localName,
  onCluster,
  openEngineStore,
  truncateTables,
} from './engine-store.ts';
import { stampedBatch } from './log-row-fixture.ts';
import { everyLog } from './read-oracle.ts';
import { housekeepingParts, newStream } from './stream-fixture.ts';

const msPerDay = 86_400_000;
const now = Date.parse('2026-05-20T12:00:00Z');
const accountId = randomUUID();

let engine: EngineStore;
before(async () => {
  engine = await openEngineStore();
});
beforeEach(() => truncateTables(engine));
after(() => engine.close());

const stream = (retentionDays: number) => newStream(accountId, retentionDays);

/** One batch per day of receipt, by days ago. */
async function fill(of: Stream, daysAgo: readonly number[], rows = 100): Promise<void> {
  const owner = { accountId, streamId: of.streamId, receiverId: 'rcv_test' };
  const logs = Array.from({ length: rows }, (_, i) => ({ body: `needle-${i} in the hay` }));
  const batches = daysAgo.map((days) => {
    const receivedAtNanos = BigInt(now - days * msPerDay) * 1_000_000n;
    return stampedBatch(logs, { owner, receivedAtNanos });
  });
  await engine.store.insert('logs/1', batches, 'all', localToken);
}

const noneDeleted = { deletedStreams: async () => [] };

function housekeeping(
  streams: Stream[],
  change: Partial<HousekeepingOptions> = {},
  deleted: Stream[] = [],
): Housekeeping {
  const options = { ...housekeepingDefaults, ...change };
  const parts = { store: engine.store, ...housekeepingParts(streams, now, deleted) };
  return createHousekeeping(parts, options);
}

async function query<Row>(sql: string): Promise<Row[]> {
  return engine.store.connection.query<Row>('housekeeping', { sql, params: {} });
}

/** Rows by days ago. */
async function rowsByDay(of: Stream): Promise<Map<number, number>> {
  const rows = await query<[string, string]>(
    `SELECT toString(toUnixTimestamp64Milli(ReceivedAt)), toString(count()) FROM weir.logs
     WHERE StreamId = '${of.streamId}' GROUP BY 1 ORDER BY 1 DESC`,
  );
  return new Map(rows.map(([ms, count]) => [(now - Number(ms)) / msPerDay, Number(count)]));
}

test('drops days that no stream keeps', async () => {
  const [short, long] = [stream(2), stream(10)];
  await fill(long, [0, 9, 10, 11, 40]);
  await fill(short, [0, 3]);
  await housekeeping([short, long]).dropExpiredDays();
  // A day that began ten days ago ends later: it is dropped tomorrow.
  assert.deepEqual([...(await rowsByDay(long)).keys()], [0, 9, 10]);
  assert.deepEqual([...(await rowsByDay(short)).keys()], [0, 3]);
  await housekeeping([]).dropExpiredDays();
  assert.equal((await rowsByDay(long)).size, 3, 'without a list of streams nothing may be dropped');
});

test('deletes rows of streams with shorter retention, exactly to their limit', async () => {
  const [short, long] = [stream(2), stream(10)];
  await fill(long, [0, 3, 9]);
  await fill(short, [0, 1.999, 2.001, 3]);
  await housekeeping([short, long]).deleteExpiredRows();
  await allMutated(engine);
  assert.deepEqual([...(await rowsByDay(short)).keys()], [0, 1.999]);
  assert.deepEqual([...(await rowsByDay(long)).keys()], [0, 3, 9]);
});

test('applies the retention of 200,000 streams', async () => {
  const [one, ...others] = Array.from({ length: 200_000 }, () => stream(2)) as [Stream];
  await fill(one, [0, 1, 40]);
  const { dropExpiredDays, deleteExpiredRows } = housekeeping([one, ...others]);
  await dropExpiredDays();
  await deleteExpiredRows();
  assert.deepEqual([...(await rowsByDay(one)).keys()], [0, 1]);
});

test('a series of large inserts pauses merges', { skip: onCluster }, async () => {
  const { connection, placement } = engine.store;
  const merges = createMergePause(connection, { placement, table: 'logs' });
  const merge = () => query('OPTIMIZE TABLE weir.logs FINAL');
  try {
    for (let inserts = 0; inserts < 4; inserts++) await merges.beforeInsert(2 ** 30);
    const only = stream(1);
    for (let part = 0; part < 2; part++) await fill(only, [0]);
    await assert.rejects(merge(), /[Cc]ancelled merging/);
    for (let inserts = 0; inserts < 100; inserts++) await merges.beforeInsert(2 ** 30);
    await merge();
  } finally {
    merges.close();
  }
});

test('drops the oldest days over the disk cap, never the newest', async () => {
  const only = stream(100);
  await fill(only, [0, 1, 2, 3], 2_000);
  const sizes = await query<[string]>(
    `SELECT toString(sum(bytes_on_disk)) FROM system.parts
     WHERE active AND table = '${localName(engine, 'logs')}'
     GROUP BY partition_id ORDER BY partition_id DESC`,
  );
  const twoDays = Number(sizes[0]![0]) + Number(sizes[1]![0]);
  await housekeeping([only], { maxDiskBytes: twoDays }).dropDaysOverCap();
  assert.deepEqual([...(await rowsByDay(only)).keys()], [0, 1]);
  await housekeeping([only], { maxDiskBytes: 1 }).dropDaysOverCap();
  assert.deepEqual([...(await rowsByDay(only)).keys()], [0]);
});

test('a dropped day leaves the lists, which may come from memory', {
  skip: onCluster,
}, async () => {
  const only = stream(100);
  await fill(only, [0, 1], 2);
  const store = await engine.reopen({ maxLogsInMemory: 10 });
  const filter = everyLog(accountId, [only.streamId]);
  const range = { position: undefined, untilWatermarkNanos: undefined };
  const listed = async () => {
    const scanned = { rows: 0, bytes: 0 };
    const plan = { filter, limit: 10, direction: 'older', ...range } as const;
    const logs = await store.list(plan, undefined, scanned);
    return { logs: logs.length, isInMemory: scanned.rows === 0 };
  };
  await until(async () => (await listed()).isInMemory, { what: 'logs in memory' });
  assert.equal((await listed()).logs, 4);
  const parts = { store, ...housekeepingParts([only], now) };
  const options = { ...housekeepingDefaults, maxDiskBytes: 1 };
  await createHousekeeping(parts, options).dropDaysOverCap();
  assert.equal((await listed()).logs, 2);
  await store.close();
});

test('deletes a stream’s data up to a time, and no other’s', async () => {
  const [gone, kept] = [stream(100), stream(100)];
  await fill(gone, [0, 1, 2]);
  await fill(kept, [0, 1, 2]);
  const untilNanos = BigInt(now - msPerDay) * 1_000_000n;
  await engine.store.deleteStreamData(accountId, gone.streamId, untilNanos);
  await until(async () => (await rowsByDay(gone)).size === 1, { what: 'the rows to be deleted' });
  assert.deepEqual([...(await rowsByDay(gone)).keys()], [0]);
  assert.deepEqual([...(await rowsByDay(kept)).keys()], [0, 1, 2]);
});

test('deletes rows that a deletion left, such as those that were in the queue', async () => {
  const [gone, kept] = [stream(100), stream(100)];
  await fill(gone, [0, 1, 2]);
  await fill(kept, [0, 1, 2]);
  const dataDeletedUntil = new Date(now - msPerDay).toISOString();
  await housekeeping([{ ...gone, dataDeletedUntil }, kept]).deleteExpiredRows();
  await allMutated(engine);
  assert.deepEqual([...(await rowsByDay(gone)).keys()], [0]);
  assert.deepEqual([...(await rowsByDay(kept)).keys()], [0, 1, 2]);
});

test('deletes what reaches the store after its stream was deleted', async () => {
  const [gone, kept] = [stream(100), stream(100)];
  await fill(gone, [0, 1]);
  await engine.store.deleteStreamData(accountId, gone.streamId);
  await until(async () => (await rowsByDay(gone)).size === 0, { what: 'the rows to be deleted' });
  await fill(gone, [0, 1, 90]);
  await fill(kept, [0, 1]);
  await housekeeping([kept], {}, [gone]).deleteExpiredRows();
  await allMutated(engine);
  assert.deepEqual([...(await rowsByDay(gone)).keys()], []);
  assert.deepEqual([...(await rowsByDay(kept)).keys()], [0, 1]);
});

test('builds the search index that inserts and merges skip, and reads use it', async () => {
  const only = stream(100);
  const indexBytes = async () => {
    const [row] = await query<[string]>(
      `SELECT toString(data_compressed_bytes) FROM system.data_skipping_indices
       WHERE table = '${localName(engine, 'logs')}' AND name = 'message_fine'`,
    );
    return Number(row![0]);
  };
  for (const days of [[0, 1], [0]]) await fill(only, days, 1_000);
  assert.equal(await indexBytes(), 0);
  const keeper = housekeeping([only]);
  await keeper.indexMessages();
  await allMutated(engine);
  const built = await indexBytes();
  assert.ok(built > 0);

  await engine.store.connection.execute('housekeeping', {
    sql: `OPTIMIZE TABLE weir.${localName(engine, 'logs')} FINAL`,
    params: {},
  });
  assert.ok((await indexBytes()) < built, 'a merge does not build the index');
  await keeper.indexMessages();
  await allMutated(engine);
  assert.ok((await indexBytes()) > 0, 'housekeeping builds it again');
  if (!onCluster) {
    const mutations = () => query<[string]>(`SELECT toString(count()) FROM system.mutations`);
    const known = await mutations();
    await housekeeping([only]).indexMessages();
    assert.deepEqual(await mutations(), known, 'a start finds that no part lacks it');
  }
  const plan = await query<[string]>(
    `EXPLAIN indexes = 1 SELECT count() FROM weir.logs WHERE lower(Body) LIKE '%nowhere-to-be%'`,
  );
  assert.match(plan.flat().join('\n'), /message_fine/);
});

test('rounds repeat until closed, and survive a failing task', async () => {
  let rounds = 0;
  const streams = async () => {
    rounds += 1;
    throw new Error('the directory is away');
  };
  const parts = { store: engine.store, streams, ...noneDeleted, now: () => now };
  const keeper = createHousekeeping(parts, { ...housekeepingDefaults, deleteEveryMs: 0 });
  const timer = openHousekeepingTimer(keeper, 1);
  await until(() => rounds > 4, { what: 'five rounds' });
  await timer.close();
  const ended = rounds;
  await keeper.indexMessages();
  await allMutated(engine);
  assert.equal(rounds, ended);
});

test('a task cut off by close is no failure, and none begins after it', async () => {
  const failed: string[] = [];
  const housekeepingFailed = (task: string) => void failed.push(task);
  const events = { ...engine.store.events, housekeepingFailed };
  const store = { ...engine.store, events };
  const away = { streams: async () => Promise.reject(new Error('away')), now: () => now };
  const keeper = createHousekeeping({ store, ...noneDeleted, ...away }, housekeepingDefaults);
  await keeper.runRound(new AbortController().signal);
  assert.ok(failed.includes('drop_expired_days'));

  failed.length = 0;
  const asked = Promise.withResolvers<void>();
  const cut = Promise.withResolvers<never>();
  const streams = async () => {
    asked.resolve();
    return cut.promise;
  };
  const closing = new AbortController();
  const parts = { store, streams, ...noneDeleted, now: () => now };
  const round = createHousekeeping(parts, housekeepingDefaults).runRound(closing.signal);
  await asked.promise;
  closing.abort();
  cut.reject(new Error('socket hang up'));
  await round;
  assert.deepEqual(failed, []);
});

test('a daily task that fails is retried with backoff, and after success a day later', async () => {
  const failed: string[] = [];
  const housekeepingFailed = (task: string) => void failed.push(task);
  const store = { ...engine.store, events: { ...engine.store.events, housekeepingFailed } };
  let nowMs = now;
  let isAway = true;
  const streams = async () => (isAway ? Promise.reject(new Error('away')) : []);
  const parts = { store, streams, ...noneDeleted, now: () => nowMs };
  const keeper = createHousekeeping(parts, housekeepingDefaults);
  const attempted = async (secondsLater: number) => {
    failed.length = 0;
    nowMs += secondsLater * 1000;
    await keeper.runRound(new AbortController().signal);
    return ['delete_expired_rows', 'plan_downsampling'].map((task) => failed.includes(task));
  };
  const both = [true, true];
  const neither = [false, false];
  assert.deepEqual(await attempted(0), both);
  assert.deepEqual(await attempted(9), neither);
  assert.deepEqual(await attempted(1), both);
  assert.deepEqual(await attempted(19), neither);
  assert.deepEqual(await attempted(1), both);
  isAway = false;
  await attempted(40);
  isAway = true;
  assert.deepEqual(await attempted(86_399), neither);
  assert.deepEqual(await attempted(1), both);
});

test('a daily task runs again once a clock that was a year ahead is right', async () => {
  let nowMs = now + 365 * msPerDay;
  let runs = 0;
  const streams = async () => {
    runs++;
    return [];
  };
  const parts = { store: engine.store, streams, ...noneDeleted, now: () => nowMs };
  const { runRound } = createHousekeeping(parts, housekeepingDefaults);
  const runsOfRound = async () => {
    runs = 0;
    await runRound(new AbortController().signal);
    return runs;
  };
  const first = await runsOfRound();
  assert.ok((await runsOfRound()) < first);
  nowMs = now;
  assert.equal(await runsOfRound(), first);
});
