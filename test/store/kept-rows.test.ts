/** Rows of the steps that a range cuts stay in memory, and are exact whatever happens to parts. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, suite, test } from 'node:test';
import type { EqualityField } from '../../src/model/log-fields.ts';
import type {
  FacetsPlan,
  FacetsResult,
  HistogramPlan,
  HistogramResult,
} from '../../src/model/plan.ts';
import { countDefaults } from '../../src/store/counts/count-steps.ts';
import { type CountedReads, createCountedReads } from '../../src/store/counts/counted-reads.ts';
import { trackChanges } from '../../src/store/counts/table-changes.ts';
import type { ReaderParts } from '../../src/store/read-time.ts';
import { byStep } from '../../src/store/sql/part-counts.ts';
import { type EngineStore, generousLimits, onCluster, openEngineStore } from './engine-store.ts';
import { until } from '../harness/until.ts';
import { localToken } from './local-token.ts';
import { severityFixtures, stampedBatch } from './log-row-fixture.ts';
import { everyLog } from './read-oracle.ts';
import { uncountedReader } from './uncounted-reader.ts';
import { watchedReads } from './watched-reads.ts';

const startMs = Date.parse('2026-03-01T00:00:00Z');
const nanos = (ms: number) => BigInt(ms) * 1_000_000n;
const accountId = randomUUID();
const streamId = randomUUID();
const context = { accountId };
const filter = everyLog(accountId, [streamId]);
const { signal } = new AbortController();

let engine: EngineStore;
let reader: ReaderParts;
let tracked: ReturnType<typeof trackChanges>;
let own: CountedReads;
let plain: ReturnType<typeof uncountedReader>;
let sequence = 0n;
const statements: string[] = [];

const options = {
  ...countDefaults,
  largePartRows: 1,
  minAgeSeconds: { merged: 0, other: 0 },
  fewCounts: 0,
  minLogsPerCount: byStep((step) => (step < 60_000 ? 50_000 : 1)),
  lookEveryMs: 0,
  followEveryMs: 3_600_000,
};

/** Over three hours, evenly, at odd times. */
async function insert(rows: number): Promise<void> {
  const logs = Array.from({ length: rows }, (_, i) => ({
    timestamp: nanos(startMs + ((i * 6_674_767) % 10_800_000)) + BigInt(i),
    host: ['h1', 'h2', ''][i % 3]!,
    serviceName: ['a', 'b', 'é', 'd', ''][i % 5]!,
    ...severityFixtures[i % severityFixtures.length],
  }));
  const batch = stampedBatch(logs, {
    owner: { accountId, streamId, receiverId: 'rcv_test' },
    id: { writer: 3n, sequence: sequence++ },
    receivedAtNanos: nanos(startMs),
  });
  await engine.store.insert('logs/1', [batch], 'all', localToken);
}

before(async () => {
  engine = await openEngineStore();
  const { connection, events } = engine.store;
  reader = { connection, database: 'weir', events, limits: generousLimits };
  const noted: ReaderParts['connection'] = {
    ...connection,
    ...watchedReads(connection, ({ sql }) => statements.push(sql)),
  };
  tracked = trackChanges(noted, 'weir');
  own = createCountedReads({ ...reader, connection: tracked.connection }, options, tracked.changes);
  plain = uncountedReader(reader);
  for (const rows of [3_000, 2_000, 1_000]) await insert(rows);
  const whole: FacetsPlan = { filter, fields: ['host'], topK: 1 };
  await until(() => own.facets(whole, context), { what: 'counts' });
  await own.settled();
});
after(async () => {
  await own.close();
  await engine.close();
});

const range = { startMs: startMs + 12_345, endMs: startMs + 2 * 3_600_000 + 23_456 };

/** Of the range, moved. */
const histogram = (byMs: number, change: Partial<HistogramPlan> = {}): HistogramPlan => {
  const bounds = { startMs: range.startMs + byMs, endMs: range.endMs + byMs };
  const [fromNanos, untilNanos] = [nanos(bounds.startMs), nanos(bounds.endMs)];
  const ends = { fromNanos, untilNanos };
  const plan = { ...bounds, buckets: 7, groupBy: undefined, topK: 5, ...change };
  return { ...plan, filter: { ...(change.filter ?? filter), ...ends } };
};
const facets = (): FacetsPlan => {
  return { filter: histogram(0).filter, fields: ['severity', 'serviceName'], topK: 5 };
};

/** @returns the number of statements */
async function ask(plan: HistogramPlan | FacetsPlan): Promise<number> {
  const isHistogram = 'buckets' in plan;
  let length = 0;
  const read = async () => {
    statements.length = 0;
    const answer = await (isHistogram ? own.histogram(plan, context) : own.facets(plan, context));
    ({ length } = statements);
    // Parts are counted after a read of most of their time.
    if (answer === undefined) await own.facets({ filter, fields: ['host'], topK: 1 }, context);
    return answer;
  };
  const result = await until<HistogramResult | FacetsResult[]>(read, { what: 'counts' });
  const rows = isHistogram ? plain.histogram(plan, signal) : plain.facets(plan, signal);
  assert.deepEqual(result, await rows);
  return length;
}

suite('rows of the steps that a range cuts', { skip: onCluster && 'only on one server' }, () => {
  test('answer the same and other questions about it without a statement', async () => {
    assert.ok((await ask(histogram(0))) > 0);
    const one = new Map<EqualityField, string[]>([['serviceName', ['a']]]);
    const asked = [
      histogram(0),
      histogram(0, { groupBy: 'severity' }),
      histogram(0, { filter: { ...filter, equal: one } }),
      histogram(2_000),
      facets(),
    ];
    const numbers: number[] = [];
    for (const plan of asked) numbers.push(await ask(plan));
    assert.deepEqual(numbers, [0, 0, 0, 0, 0]);
    assert.equal(await ask(histogram(120_000)), 1, 'other minutes are cut, and no list is needed');
  });

  test('are none where all logs of a part are on one side of each end', async () => {
    const minLogsPerCount = byStep((step) => (step < 86_400_000 ? 50_000 : 1));
    const byDay = createCountedReads(
      { ...reader, connection: tracked.connection },
      { ...options, minLogsPerCount },
      tracked.changes,
    );
    const whole: FacetsPlan = { filter, fields: ['host', 'serviceName'], topK: 5 };
    const [fromNanos, untilNanos] = [nanos(startMs - 7_000), nanos(startMs + 11_000_000)];
    const plan = { ...whole, filter: { ...filter, fromNanos, untilNanos } };
    try {
      await until(() => byDay.facets(whole, context), { what: 'counts' });
      await byDay.settled();
      await byDay.facets(whole, context);
      statements.length = 0;
      assert.deepEqual(await byDay.facets(plan, context), await plain.facets(plan, signal));
      assert.deepEqual(statements, []);
    } finally {
      await byDay.close();
    }
  });

  test('follow inserts, merges and deletions', async () => {
    const plan = histogram(0);
    await insert(100);
    for (const sql of [
      'OPTIMIZE TABLE weir.logs',
      'OPTIMIZE TABLE weir.logs FINAL',
      "ALTER TABLE weir.logs DELETE WHERE Host = 'h2' SETTINGS mutations_sync = 1",
    ]) {
      await tracked.connection.execute('housekeeping', { sql, params: {} });
      assert.ok((await ask(plan)) > 0);
      await until(async () => (await ask(plan)) === 0, { what: 'an answer from memory' });
    }
  });

  test('are read where the range ends within a millisecond', async () => {
    const plan = histogram(0);
    const { fromNanos } = plan.filter;
    const later = { ...plan, filter: { ...plan.filter, fromNanos: fromNanos! + 1n } };
    await ask(later);
    assert.ok((await ask(later)) > 0);
  });
});
