/** List, histogram and facets against a plain array, for any filter, page and direction. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, suite, test } from 'node:test';
import fc from 'fast-check';
import { localToken } from './local-token.ts';
import { AppError } from '../../src/model/errors.ts';
import { decodeLogId, type LogPosition } from '../../src/model/log-id.ts';
import { fieldEntries, type GroupField } from '../../src/model/log-fields.ts';
import { arrivalsUntil } from '../../src/model/arrival.ts';
import type {
  ListPlan,
  LogFilter,
  LogRecord,
  Stat,
  StatsPlan,
  WalkPoint,
} from '../../src/model/plan.ts';
import { parseLogQuery } from '../../src/query/parse.ts';
import { printQuery } from '../../src/query/print.ts';
import { withQuery } from '../../src/stream/plan-query.ts';
import { parseRecordFields, pickFields, recordProperties } from '../../src/stream/record-fields.ts';
import { queryArbitrary } from '../harness/query-arbitrary.ts';
import { runs as runsOf } from '../harness/runs.ts';
import { type EngineStore, generousLimits, onCluster, openEngineStore } from './engine-store.ts';
import { type LogFixture, severityFixtures, stampedBatch } from './log-row-fixture.ts';
import { matchesQuery } from './query-oracle.ts';
import { expectedStats } from './stats-oracle.ts';
import { everyLog, facetValue, labelsOf, matches, type Stored, toStored } from './read-oracle.ts';

const startMs = Date.parse('2026-03-01T00:00:00Z');
const rangeMs = 40 * 86_400_000;
const nanos = (ms: number) => BigInt(ms) * 1_000_000n;

const accountId = randomUUID();
const streamIds = [randomUUID(), randomUUID()] as const;

const words = ['Timeout', 'GRÖSSE', 'größe', 'ΟΔΟΣ', 'οδοσα', '50%', 'a_b', 'x\\y', "it's", '漢字'];
const pick = <T>(...values: T[]) => fc.constantFrom(...values);

const labelValues = pick('v', 'w', '', '7', '50.5', '-6', '1e2');

/** Half of the logs share one nanosecond, the rest spread over the range. */
const logArbitrary: fc.Arbitrary<Partial<LogFixture>> = fc
  .record({
    timestamp: fc.oneof(
      fc.constant(nanos(startMs) + 5n),
      fc.bigInt(nanos(startMs), nanos(startMs + rangeMs) - 1n),
      fc.constant(-1n),
    ),
    severity: pick(...severityFixtures),
    host: pick('h1', 'h2', "h'3", ''),
    serviceName: pick('a', 'b', 'c'),
    k8sPod: pick('p1', 'p2', ''),
    body: fc.array(fc.constantFrom(...words), { maxLength: 4 }).map((some) => some.join(' ')),
    logAttributes: fc.dictionary(pick('k', 'both', '__proto__'), labelValues, {
      maxKeys: 2,
    }),
    resourceAttributes: fc.dictionary(pick('both', 'r'), labelValues, { maxKeys: 2 }),
    traceId: pick('4bf92f3577b34da6a3ce929d0e0e4736', '4bf92f3577b34da6a3ce929d0e0e4737', ''),
    eventName: pick('e1', 'e2', ''),
    scopeName: pick('s1', ''),
  })
  .map(({ severity, ...log }) => ({ ...log, ...severity }));

/** A cluster of two shards on one engine takes several times as long for each read. */
const runs = (count: number) => runsOf(onCluster ? count / 4 : count);

let engine: EngineStore;
let stored: Stored[];
/** The end of the last batch, in order of arrival. */
let newest: Stored[];
before(async () => {
  engine = await openEngineStore();
  const logs = fc.sample(logArbitrary, { numRuns: 3_000, seed: 20_260_301 });
  const batches = [0, 1, 2, 3, 4, 5].map((i) =>
    stampedBatch(logs.slice(i * 500, (i + 1) * 500), {
      owner: { accountId, streamId: streamIds[i % 2]!, receiverId: 'rcv_test' },
      id: { writer: 3n, sequence: BigInt(i) },
      receivedAtNanos: nanos(startMs + i * 86_400_000),
    }),
  );
  await engine.store.insert('logs/1', batches.slice(0, 4), 'all', localToken);
  await engine.store.insert('logs/1', batches.slice(4), 'all', localToken);
  const stranger = { accountId: randomUUID(), streamId: streamIds[0], receiverId: 'rcv_other' };
  const foreign = stampedBatch(logs.slice(0, 500), {
    owner: stranger,
    receivedAtNanos: nanos(startMs),
  });
  await engine.store.insert('logs/1', [foreign], 'all', localToken);
  stored = batches.flatMap((batch, i) => toStored(batch, logs.slice(i * 500, (i + 1) * 500)));
  newest = stored.slice(2_833);
  stored.sort((a, b) => (a.logId < b.logId ? 1 : -1));
});
after(() => engine.close());

const timeArbitrary = fc.option(
  fc.oneof(fc.constant(nanos(startMs) + 5n), fc.bigInt(nanos(startMs), nanos(startMs + rangeMs))),
  { nil: undefined, freq: 2 },
);

const labelsArbitrary = fc.array(
  fc.record({ key: pick('k', 'both', 'r', '__proto__', 'absent'), value: pick('v', 'w', '') }),
  { maxLength: 2 },
);

const filterArbitrary: fc.Arbitrary<LogFilter> = fc.record({
  accountId: fc.constant(accountId),
  streams: fc.subarray([...streamIds], { minLength: 1 }).chain((ids) =>
    fc.tuple(
      ...ids.map((streamId) =>
        fc.record({
          streamId: fc.constant(streamId),
          receivedFromNanos: pick(0n, nanos(startMs + 2 * 86_400_000) + 1n),
        }),
      ),
    ),
  ),
  fromNanos: timeArbitrary,
  untilNanos: timeArbitrary,
  equal: fc
    .record(
      {
        severity: fc.array(pick('info', 'err', 'WARNING', 'audit', ''), {
          minLength: 1,
          maxLength: 2,
        }),
        traceId: fc.constant(['4BF92F3577B34DA6A3CE929D0E0E4736']),
        host: fc.array(pick('h1', "h'3", ''), { minLength: 1, maxLength: 2 }),
        k8sPod: fc.array(pick('p1', 'nobody'), { minLength: 1, maxLength: 2 }),
      },
      { requiredKeys: [] },
    )
    .map((equal) => new Map(Object.entries(equal)) as LogFilter['equal']),
  minSeverity: fc.option(fc.integer({ min: 1, max: 24 }), { nil: undefined, freq: 2 }),
  labels: labelsArbitrary,
  excluded: fc.record({
    equal: fc.constantFrom(
      new Map(),
      new Map([['severity', ['warn']]]),
      new Map([
        ['severity', ['', 'audit']],
        ['host', ['', "h'3"]],
      ]),
    ) as fc.Arbitrary<NonNullable<LogFilter['excluded']>['equal']>,
    labels: labelsArbitrary,
  }),
  search: fc.array(
    fc.record({
      text: pick('timeout', 'Größe', 'ΟΔΟΣ', 'οδος', '%', '_', '\\', "'", '漢', 'out g', 'tIME'),
      exclude: fc.boolean(),
    }),
    { maxLength: 2 },
  ),
});

function listPlan(filter: LogFilter, change: Partial<ListPlan> = {}): ListPlan {
  const plan = { filter, limit: 1_000, direction: 'older', position: undefined } as const;
  return { ...plan, untilWatermarkNanos: undefined, ...change };
}

/** Pages until one is short. */
async function walk(plan: ListPlan): Promise<LogRecord[]> {
  const walked: LogRecord[] = [];
  let position: LogPosition | undefined = plan.position;
  for (;;) {
    const page = await engine.store.list({ ...plan, position });
    if (plan.direction === 'older') walked.push(...page);
    else walked.unshift(...page);
    if (page.length < plan.limit) return walked;
    position = decodeLogId((plan.direction === 'older' ? page.at(-1)! : page[0]!).logId);
  }
}

const idsOf = (logs: readonly { readonly logId: string }[]) => logs.map(({ logId }) => logId);

const fields: GroupField[] = [
  'severity',
  'host',
  'serviceName',
  'k8sPod',
  'streamId',
  'traceId',
  'eventName',
  'scope',
  'receiverId',
  'label.k',
  'label.both',
  'label.__proto__',
];

test('list, histogram, facets, tail and export agree with the array for any filter', async () => {
  await fc.assert(
    fc.asyncProperty(filterArbitrary, fc.integer({ min: 1, max: 500 }), (filter, buckets) =>
      agree(
        filter,
        stored.filter((log) => matches(filter, log)),
        buckets,
      ),
    ),
    { numRuns: runs(8) },
  );
});

const queryValues = pick(
  'v',
  'w',
  '',
  '7',
  '50.5',
  '6',
  'h1',
  "h'3",
  'a',
  'p1',
  'warn',
  'CRIT',
  '17',
);
const queries = queryArbitrary({
  words: pick('timeout', 'Größe', 'ΟΔΟΣ', '%', '_', '\\', 'out g', 'tIME', ''),
  keys: pick(
    'k',
    'both',
    'r',
    'label.k',
    'absent',
    'host',
    'service',
    'k8s-pod',
    'severity',
    'msg',
  ),
  values: queryValues,
  regexes: pick('^h', 'v|w', '\\d', '(?i:time)', '^.$', '.\\..'),
}).filter((tree) => isReadable(printQuery(tree)));

function isReadable(text: string): boolean {
  try {
    return parseLogQuery(text) !== undefined;
  } catch {
    return false;
  }
}

test('list, histogram, facets, tail and export agree with the array for any query', async () => {
  const streams = streamIds.map((streamId) => ({ streamId, name: streamId }));
  // Half of them with the other filters.
  const filters = fc.oneof(fc.constant(everyLog(accountId, streamIds)), filterArbitrary);
  await fc.assert(
    fc.asyncProperty(filters, queries, (filter, query) => {
      const expected = stored.filter((log) => matches(filter, log) && matchesQuery(query, log));
      return agree(withQuery(filter, parseLogQuery(printQuery(query))!, streams), expected, 40);
    }),
    { numRuns: runs(8) },
  );
});

/** The first read of a range selects by its filter; the next one filters all that arrived. */
test('tails of one range with different filters get what a statement returns', async () => {
  const [first] = newest;
  const position = { receivedAtNanos: first!.receivedAtNanos, batch: (3n << 64n) | 5n, row: 332 };
  const streams = streamIds.map((streamId) => ({ streamId, receivedFromNanos: 0n }));
  let { receivedAtNanos: untilNanos } = position;
  await fc.assert(
    fc.asyncProperty(filterArbitrary, async (random) => {
      const filter = { ...random, streams, fromNanos: undefined, untilNanos: undefined };
      const plan = {
        filter,
        after: position,
        untilNanos: untilNanos++,
        limit: 1_000,
        maxBytes: 10_000_000,
      };
      const page = await engine.store.arrivals(plan);
      assert.deepEqual(await engine.store.arrivals(plan), page);
      const found = newest.filter((log) => matches(filter, log)).map(({ logId }) => logId);
      assert.deepEqual(page.logs.map(({ log }) => log.logId).sort(), found.sort());
    }),
    { numRuns: runs(40) },
  );
});

async function agree(filter: LogFilter, expected: readonly Stored[], buckets: number) {
  assert.deepEqual(idsOf(await walk(listPlan(filter))), idsOf(expected));
  const range = { filter, after: arrivalsUntil(0n), untilNanos: nanos(startMs + rangeMs) };
  const page = { ...range, limit: 10_000, maxBytes: 100_000_000 };
  const arrived = (await engine.store.arrivals(page)).logs.map(({ log }) => log.logId);
  assert.deepEqual(arrived.sort(), idsOf(expected).sort());
  assert.equal(await engine.store.countArrivals(range), expected.length);
  assert.deepEqual(idsOf(await exported(filter)), idsOf(expected));

  const from = filter.fromNanos ?? nanos(startMs);
  const until = filter.untilNanos ?? nanos(startMs + rangeMs);
  const facets = await engine.store.facets({ filter, fields, topK: 100 });
  for (const { field, values, other, total } of facets) {
    assert.equal(total, expected.length, field);
    assert.equal(other, 0);
    const counts = Map.groupBy(expected, (log) => facetValue(field, log));
    const wanted = [...counts].map(([value, logs]) => ({ value, count: logs.length }));
    const order = (a: { value: string }, b: { value: string }) => (a.value < b.value ? -1 : 1);
    assert.deepEqual([...values].sort(order), wanted.sort(order));
  }
  if (from >= until) return;
  const within = { ...filter, fromNanos: from, untilNanos: until };
  const plan = {
    filter: within,
    startMs: Number(from / 1_000_000n),
    endMs: Number((until + 999_999n) / 1_000_000n),
    buckets,
  };
  const histogram = await engine.store.histogram({ ...plan, groupBy: 'severity', topK: 100 });
  const edge = (i: number) =>
    nanos(plan.startMs + Math.floor((i * (plan.endMs - plan.startMs)) / buckets));
  const bucketsOf = (logs: readonly Stored[]) =>
    histogram.counts.map(
      (_, i) =>
        logs.filter((log) => log.timeNanos >= edge(i) && log.timeNanos < edge(i + 1)).length,
    );
  assert.deepEqual(histogram.counts, bucketsOf(expected));
  const bySeverity = [...histogram.groups!.values()].flat().reduce((sum, n) => sum + n, 0);
  assert.equal(bySeverity, expected.length);

  const groupBy = fields[buckets % fields.length]!;
  const topK = 1 + (buckets % 3);
  const grouped = await engine.store.histogram({ ...plan, groupBy, topK });
  assert.deepEqual(grouped.counts, histogram.counts);
  const ranked = rank(expected, (log) => facetValue(groupBy, log)).slice(0, topK);
  const wanted = ranked.map(([value, logs]) => [value, bucketsOf(logs)] as const);
  assert.deepEqual([...grouped.groups!], wanted);
}

test('fields and values are those of the newest logs, exact where these are all', async () => {
  await fc.assert(
    fc.asyncProperty(
      filterArbitrary,
      pick(...fields),
      pick('', 'H', 'v', '4B', 'in'),
      async (filter, field, prefix) => {
        const logs = stored.filter((log) => matches(filter, log));
        const plan = { filter, field, prefix, limit: 100 };
        const { values, ...sample } = await engine.store.fieldValues(plan);
        assertCounts(values, logs, (log) => {
          const value = facetValue(field, log);
          return value.toLowerCase().startsWith(prefix.toLowerCase()) ? [value] : [];
        });
        if (logs.length < 1_000) {
          assert.deepEqual(sample, { sampled: logs.length, isExact: true });
        }
        const found = await engine.store.fields({ filter, limit: 1_000 });
        const named = found.fields.map(({ field: value, count }) => ({ value, count }));
        const table: GroupField[] = fieldEntries.map(([name]) => name);
        assertCounts(named, logs, (log) => [
          ...table.filter((name) => facetValue(name, log) !== ''),
          ...[...labelsOf(log.log).keys()].map((key) => `label.${key}`),
        ]);
      },
    ),
    { numRuns: runs(8) },
  );
});

/** Windows stop at enough logs, which are fewer than all only in larger tables than this one. */
function assertCounts(
  actual: readonly { readonly value: string; readonly count: number }[],
  logs: readonly Stored[],
  valuesOf: (log: Stored) => readonly string[],
): void {
  const all = logs.flatMap(valuesOf).filter((value) => value !== '');
  const wanted = [...Map.groupBy(all, (value) => value)].map(([value, { length }]) => {
    return { value, count: length };
  });
  const order = (a: { value: string }, b: { value: string }) => (a.value < b.value ? -1 : 1);
  assert.deepEqual([...actual].sort(order), wanted.sort(order));
  const counts = actual.map(({ count }) => count);
  assert.deepEqual(
    counts,
    counts.toSorted((a, b) => b - a),
  );
}

const statFields: GroupField[] = ['label.both', 'label.k', 'host', 'severity'];
const statArbitrary: fc.Arbitrary<Stat> = fc.oneof(
  fc.record({
    op: fc.constant('count' as const),
    field: fc.option(pick(...statFields), { nil: undefined }),
  }),
  fc.record({
    op: pick<'sum' | 'avg' | 'min' | 'max' | 'uniq'>('sum', 'avg', 'min', 'max', 'uniq'),
    field: pick(...statFields),
  }),
  fc.record({
    op: fc.constant('quantile' as const),
    field: pick(...statFields),
    quantile: pick(0, 0.5, 0.9, 0.999),
  }),
);
const statsArbitrary: fc.Arbitrary<StatsPlan> = fc
  .record({
    filter: filterArbitrary,
    buckets: fc.integer({ min: 1, max: 30 }),
    stats: fc.array(statArbitrary, { minLength: 1, maxLength: 4 }),
    by: fc.uniqueArray(pick(...fields), { maxLength: 3 }),
    limit: fc.integer({ min: 1, max: 6 }),
    isExact: fc.boolean(),
  })
  .map((plan) => {
    const { fromNanos = nanos(startMs), untilNanos = nanos(startMs + rangeMs) } = plan.filter;
    const until = untilNanos > fromNanos ? untilNanos : fromNanos + 1n;
    return {
      ...plan,
      filter: { ...plan.filter, fromNanos, untilNanos: until },
      startMs: Number(fromNanos / 1_000_000n),
      endMs: Number((until + 999_999n) / 1_000_000n),
    };
  });

test('statistics agree with the array for any plan', async () => {
  await fc.assert(
    fc.asyncProperty(statsArbitrary, async (plan) => {
      const { groups, isExact } = await engine.store.stats(plan);
      assert.ok(isExact);
      const logs = stored.filter((log) => matches(plan.filter, log));
      const expected = expectedStats(plan, logs);
      assert.deepEqual(
        groups.map(({ values }) => values),
        expected.map(({ values }) => values),
      );
      for (const [i, { points }] of groups.entries()) {
        assert.deepEqual(
          points.map(({ bucket }) => bucket),
          [...expected[i]!.points.keys()],
        );
        for (const { bucket, values } of points) {
          const wanted = expected[i]!.points.get(bucket)!;
          for (const [at, value] of values.entries()) assertNear(value, wanted[at]!);
        }
      }
    }),
    { numRuns: runs(25) },
  );
});

/** Sums are added in another order. */
function assertNear(value: number | null, wanted: number | null): void {
  const isNear =
    value !== null && wanted !== null && Math.abs(value - wanted) <= 1e-9 * Math.abs(wanted);
  if (!isNear) assert.equal(value, wanted);
}

/** The most frequent first, equal ones in the order of their bytes. */
function rank(logs: readonly Stored[], valueOf: (log: Stored) => string) {
  return [...Map.groupBy(logs, valueOf)].sort(
    ([a, some], [b, others]) =>
      others.length - some.length || Buffer.compare(Buffer.from(a), Buffer.from(b)),
  );
}

/** All steps of a walk. */
async function exported(filter: LogFilter): Promise<LogRecord[]> {
  const logs: LogRecord[] = [];
  let from: WalkPoint | undefined;
  do {
    const step = await engine.store.walk({ filter, limit: 1_000, from }, neverAborted);
    logs.push(...step.logs);
    from = step.next;
  } while (from !== undefined);
  return logs;
}

const neverAborted = new AbortController().signal;

suite('thousands of logs in one nanosecond', () => {
  const everything: LogFilter = everyLog(accountId, streamIds);

  test('pages visit each once, in both directions', async () => {
    const limit = 777;
    const older = await walk(listPlan(everything, { limit }));
    assert.deepEqual(idsOf(older), idsOf(stored));
    const position = { timeNanos: -1n, tie: 0n };
    const newer = await walk(listPlan(everything, { limit, direction: 'newer', position }));
    assert.deepEqual(idsOf(newer), idsOf(stored));
  });

  test('requested parts are those of the complete log', async () => {
    const plan = listPlan(everything, { limit: 200 });
    const whole = await engine.store.list(plan);
    for (const text of [...recordProperties, 'k8sPod', 'label.k', 'message,host', 'scope.name']) {
      const parts = parseRecordFields(text)!;
      const paths = parts.map(({ path }) => path);
      const some = await engine.store.list({ ...plan, paths });
      const picked = (logs: readonly LogRecord[]) => logs.map((log) => pickFields(log, parts));
      assert.deepEqual(picked(some), picked(whole), text);
    }
  });

  test('nothing beyond the watermark is newer', async () => {
    const watermark = nanos(startMs) + 5n;
    const plan = listPlan(everything, {
      direction: 'newer',
      position: { timeNanos: 0n, tie: 0n },
      untilWatermarkNanos: watermark,
    });
    const expected = stored.filter((log) => log.timeNanos <= watermark);
    assert.deepEqual(idsOf(await walk(plan)), idsOf(expected));
  });

  test('topK returns the most frequent values and counts the rest', async () => {
    const [facet] = await engine.store.facets({ filter: everything, fields: ['host'], topK: 2 });
    const listed = facet!.values.reduce((sum, { count }) => sum + count, 0);
    assert.equal(facet!.values.length, 2);
    assert.equal(facet!.total, stored.length);
    assert.equal(facet!.other, stored.length - listed);
  });

  test('a histogram of a label that differs in each log has the most frequent values', async () => {
    const owner = { accountId: randomUUID(), streamId: randomUUID(), receiverId: 'rcv_test' };
    const count = 21_000;
    const logs = Array.from({ length: count }, (_, i) => ({
      timestamp: nanos(startMs) + BigInt(i),
      logAttributes: { id: String(Math.max(i, 4)) },
    }));
    const id = { writer: 77n, sequence: 1n };
    const batch = stampedBatch(logs, { owner, id, receivedAtNanos: nanos(startMs) });
    await engine.store.insert('logs/1', [batch], 'all', localToken);
    const filter = everyLog(owner.accountId, [owner.streamId]);
    const range = { startMs, endMs: startMs + 1_000, buckets: 1 };
    const plan = { filter, ...range, groupBy: 'label.id', topK: 2 } as const;
    const { counts, groups } = await engine.store.histogram(plan);
    assert.deepEqual(counts, [count]);
    assert.deepEqual(
      [...groups!],
      [
        ['4', [5]],
        ['10', [1]],
      ],
    );
  });

  test('a read over its limits fails instead of returning less', async () => {
    const changes = [{ maxRowsRead: 100 }, { maxMemoryBytes: 1_000 }, { maxRowsReturned: 1 }];
    for (const change of changes) {
      const tight = await engine.reopen({ limits: { ...generousLimits, ...change } });
      const plan = { filter: everything, fields: ['serviceName'] as const, topK: 10 };
      await assert.rejects(tight.facets(plan), (error: unknown) => {
        assert.ok(error instanceof AppError);
        assert.equal(error.code, 'unavailable');
        assert.doesNotMatch(error.message, /SELECT|weir\.|DB::/);
        return true;
      });
      await tight.close();
    }
  });

  test('an aborted read fails, and the next one is answered', async () => {
    const { store } = engine;
    const plan = listPlan(everything, { limit: 10 });
    await assert.rejects(store.list(plan, AbortSignal.abort()), AppError);
    const stopping = new AbortController();
    const stopped = store.list(plan, stopping.signal);
    stopping.abort();
    await assert.rejects(stopped, AppError);
    assert.equal((await store.list(plan, new AbortController().signal)).length, 10);
  });

  test('a page does not wait for searches of its account', async () => {
    const { store } = engine;
    const { connection } = store;
    const done = new AbortController();
    const sql = 'SELECT sum(sipHash64(number)) FROM numbers(10000000000000)';
    const slow = { sql, params: {}, settings: { max_execution_time: 0 } };
    const context = { accountId, signal: done.signal };
    const searches = Array.from({ length: 4 }, () => connection.read(slow, context));
    assert.equal((await store.list(listPlan(everything, { limit: 10 }))).length, 10);
    done.abort();
    const ends = await Promise.allSettled(searches);
    assert.ok(ends.every(({ status }) => status === 'rejected'));
  });
});
