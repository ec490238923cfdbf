/** Housekeeping of metrics; labels are kept as long as their samples. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, beforeEach, test } from 'node:test';
import { localToken } from './local-token.ts';
import type { Stream } from '../../src/model/account.ts';
import {
  createHousekeeping,
  type Housekeeping,
  housekeepingDefaults,
} from '../../src/store/housekeeping.ts';
import { until } from '../harness/until.ts';
import {
  allMutated,
  type EngineStore,
  onCluster,
  openEngineStore,
  truncateTables,
} from './engine-store.ts';
import { stampedBatch } from './log-row-fixture.ts';
import { metricBatch, type MetricFixture, samplesPlan, seriesPlan } from './metric-fixture.ts';
import { housekeepingParts, newStream } from './stream-fixture.ts';

const msPerDay = 86_400_000;
const now = Date.parse('2026-05-20T12:00:00Z');
const accountId = randomUUID();
const metricTables = ['samples', 'histograms', 'exemplars', 'metric_metadata'];

let engine: EngineStore;
before(async () => {
  engine = await openEngineStore();
});
beforeEach(() => truncateTables(engine));
after(() => engine.close());

const stream = (retentionDays: number) => newStream(accountId, retentionDays);

function ownerOf({ streamId }: Stream) {
  return { accountId, streamId, receiverId: 'rcv_test' };
}

function receiptOf(daysAgo: number): bigint {
  return BigInt(now - daysAgo * msPerDay) * 1_000_000n;
}

/** Rows in each table, by days since receipt. */
async function fill(of: Stream, daysAgo: readonly number[], series = 1): Promise<void> {
  const batches = daysAgo.map((days) => {
    const timeMs = now - days * msPerDay;
    const metrics = Array.from(
      { length: series },
      (_, i): MetricFixture => ({
        name: `m${i}`,
        samples: [[timeMs, days]],
        histograms: [[timeMs, Buffer.from([8, 1])]],
        exemplars: [[timeMs, days, { trace_id: randomUUID() }]],
      }),
    );
    const metadata = [{ name: 'm', help: String(days) }];
    return metricBatch(metrics, { owner: ownerOf(of), receivedAtNanos: receiptOf(days), metadata });
  });
  await engine.store.insert('metrics/1', batches, 'all', localToken);
}

function housekeeping(
  streams: Stream[],
  maxDiskBytes?: number,
  deleted: Stream[] = [],
): Housekeeping {
  const parts = { store: engine.store, ...housekeepingParts(streams, now, deleted) };
  return createHousekeeping(parts, { ...housekeepingDefaults, maxDiskBytes });
}

async function query<Row>(sql: string): Promise<Row[]> {
  return engine.store.connection.query<Row>('housekeeping', { sql, params: {} });
}

/** Days since receipt of the rows in a table, newest first. */
async function daysIn(table: string, of: Stream): Promise<number[]> {
  const rows = await query<[string]>(
    `SELECT DISTINCT toString(toUnixTimestamp64Milli(toDateTime64(ReceivedAt, 3, 'UTC'))) AS ms
     FROM weir.${table} WHERE StreamId = '${of.streamId}' ORDER BY ms DESC`,
  );
  return rows.map(([ms]) => (now - Number(ms)) / msPerDay);
}

test('drops days that no stream keeps from every table, labels a day later', async () => {
  const [short, long] = [stream(2), stream(10)];
  await fill(long, [0, 9, 10, 11, 12, 13, 40]);
  await fill(short, [0, 3]);
  await housekeeping([short, long]).dropExpiredDays();
  for (const table of metricTables) {
    assert.deepEqual(await daysIn(table, long), [0, 9, 10], table);
    assert.deepEqual(await daysIn(table, short), [0, 3], table);
  }
  assert.deepEqual(await daysIn('series', long), [0, 9, 10, 11]);
});

test('deletes rows of streams with shorter retention, exactly to their limit', async () => {
  const [short, long] = [stream(2), stream(10)];
  await fill(long, [0, 3, 9]);
  await fill(short, [0, 1.999, 2.001, 3.001, 3.5]);
  await housekeeping([short, long]).deleteExpiredRows();
  await allMutated(engine);
  for (const table of metricTables) {
    assert.deepEqual(await daysIn(table, short).then((days) => days.length), 2, table);
    assert.deepEqual(await daysIn(table, long), [0, 3, 9], table);
  }
  assert.equal((await daysIn('series', short)).length, 4, 'labels are kept 25 hours longer');
});

test('deletes samples that a deletion left, with their labels', async () => {
  const gone = stream(100);
  await fill(gone, [0, 1, 2]);
  const dataDeletedUntil = new Date(now - msPerDay).toISOString();
  await housekeeping([{ ...gone, dataDeletedUntil }]).deleteExpiredRows();
  await allMutated(engine);
  for (const table of [...metricTables, 'series']) {
    assert.deepEqual(await daysIn(table, gone), [0], table);
  }
});

test('deletes samples and labels that reach the store after their stream was deleted', async () => {
  const [gone, kept] = [stream(100), stream(100)];
  for (const one of [gone, kept]) await fill(one, [0, 1]);
  await housekeeping([kept], undefined, [gone]).deleteExpiredRows();
  await allMutated(engine);
  for (const table of [...metricTables, 'series']) {
    assert.deepEqual(await daysIn(table, gone), [], table);
    assert.deepEqual(await daysIn(table, kept), [0, 1], table);
  }
});

test('drops the oldest day of logs and metrics over the disk cap', async () => {
  const only = stream(100);
  const logs = Array.from({ length: 3_000 }, () => ({ body: randomUUID() }));
  await fill(only, [0, 1, 2, 3, 4], 2_000);
  for (const days of [1, 3, 5]) {
    const batch = stampedBatch(logs, { owner: ownerOf(only), receivedAtNanos: receiptOf(days) });
    await engine.store.insert('logs/1', [batch], 'all', localToken);
  }
  const sizes = await query<[string]>(
    `SELECT toString(sum(bytes_on_disk)) FROM system.parts
     WHERE active AND database = 'weir' AND partition_id >= '20260518'`,
  );
  await housekeeping([only], Number(sizes[0]![0]) + 100_000).dropDaysOverCap();
  assert.deepEqual(await daysIn('samples', only), [0, 1, 2]);
  assert.deepEqual(await daysIn('logs', only), [1]);
  assert.deepEqual(await daysIn('series', only), [0, 1, 2, 3], 'labels are dropped a day later');

  await housekeeping([only], 1).dropDaysOverCap();
  for (const table of metricTables) assert.deepEqual(await daysIn(table, only), [0], table);
  assert.deepEqual(await daysIn('logs', only), []);
  assert.deepEqual(await daysIn('series', only), [0, 1]);
});

test('hides a deleted stream’s metrics at once, deletes them soon, and no other’s', async () => {
  const [gone, kept] = [stream(100), stream(100)];
  await fill(gone, [0, 1, 2]);
  await fill(kept, [0, 1, 2]);
  const deletedUntilNanos = receiptOf(1);
  const { streamId } = gone;
  const limit = { streamId, receivedFromNanos: deletedUntilNanos + 1n, deletedUntilNanos };
  const range = { fromMs: 0n, untilMs: BigInt(now - msPerDay) };
  const earlier = seriesPlan(ownerOf(gone), [], { ...range, streams: [limit] });
  assert.deepEqual(
    await engine.store.series(earlier),
    [],
    'labels must not be kept for another day',
  );

  await engine.store.deleteStreamData(accountId, streamId, deletedUntilNanos);
  for (const table of [...metricTables, 'series']) {
    const left = async () => (await daysIn(table, gone)).length === 1;
    await until(left, { what: `the rows of ${table} to be gone` });
    assert.deepEqual(await daysIn(table, gone), [0], table);
    assert.deepEqual(await daysIn(table, kept), [0, 1, 2], table);
  }
});

test('finds labels that are sent again right after a deletion', async () => {
  const only = stream(100);
  const metric: MetricFixture = { name: 'm', samples: [[now, 1]] };
  const deletedUntilNanos = receiptOf(0) + 500_000_000n;
  const insert = (metrics: MetricFixture[], receivedAtNanos: bigint) => {
    const batch = metricBatch(metrics, { owner: ownerOf(only), receivedAtNanos });
    return engine.store.insert('metrics/1', [batch], 'all', localToken);
  };
  await insert([metric], deletedUntilNanos - 1_000_000n);
  await insert([metric], deletedUntilNanos + 1_000_000n);
  await insert(
    [{ ...metric, samples: [[now + 1, 2]], isKnown: true }],
    deletedUntilNanos + 2_000_000_000n,
  );
  await engine.store.deleteStreamData(accountId, only.streamId, deletedUntilNanos);
  const limit = {
    streamId: only.streamId,
    receivedFromNanos: deletedUntilNanos + 1n,
    deletedUntilNanos,
  };
  const [series] = await engine.store.samples(samplesPlan(ownerOf(only), [], { streams: [limit] }));
  assert.deepEqual([...(series?.times ?? [])], [BigInt(now + 1)]);
});

test('a series of large inserts pauses merges of samples', { skip: onCluster }, async () => {
  const only = stream(1);
  for (let part = 0; part < 2; part++) await fill(only, [0]);
  const metadata = [{ name: 'm', help: 'x'.repeat(8 * 2 ** 20) }];
  const options = { owner: ownerOf(only), receivedAtNanos: receiptOf(0), metadata };
  const large = metricBatch([], options);
  for (let inserts = 0; inserts < 4; inserts++) {
    await engine.store.insert('metrics/1', [large], 'all', localToken);
  }
  const sql = 'OPTIMIZE TABLE weir.samples FINAL';
  const merged = engine.store.connection.execute('housekeeping', { sql, params: {} });
  await assert.rejects(merged, /[Cc]ancelled merging/);
});
