/** Histograms and facets from counts of parts equal those from rows, whatever happens to parts. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import fc from 'fast-check';
import type { EqualityField, GroupField } from '../../src/model/log-fields.ts';
import type {
  FacetsPlan,
  HistogramPlan,
  LogFilter,
  Stat,
  StatsPlan,
  StatsResult,
} from '../../src/model/plan.ts';
import { countDefaults } from '../../src/store/counts/count-steps.ts';
import { type CountedReads, createCountedReads } from '../../src/store/counts/counted-reads.ts';
import type { ReaderParts } from '../../src/store/read-time.ts';
import { byStep } from '../../src/store/sql/part-counts.ts';
import type { Statement } from '../../src/store/sql/statement.ts';
import { runs } from '../harness/runs.ts';
import { until } from '../harness/until.ts';
import { type EngineStore, generousLimits, onCluster, openEngineStore } from './engine-store.ts';
import { localToken } from './local-token.ts';
import { type LogFixture, severityFixtures, stampedBatch } from './log-row-fixture.ts';
import { everyLog } from './read-oracle.ts';
import { uncountedReader } from './uncounted-reader.ts';
import { watchedReads } from './watched-reads.ts';

const startMs = Date.parse('2026-03-01T00:00:00Z');
const hours = 3;
const dayMs = 86_400_000;
const nanos = (ms: number) => BigInt(ms) * 1_000_000n;
const accountId = randomUUID();
const streamIds = [randomUUID(), randomUUID()] as const;
const context = { accountId };
const pick = <T>(...values: T[]) => fc.constantFrom(...values);
const denseMs = startMs + 30 * 60_000;
/** Over hours, and many within seconds. */
const timeMs = fc.oneof(
  fc.integer({ min: startMs - 600_000, max: startMs + (hours * 60 + 10) * 60_000 }),
  fc.integer({ min: denseMs, max: denseMs + 20_000 }),
);

/** A DateTime of this minute wraps around to the first minute of the range. */
const wrappedNanos = nanos(startMs) + 4_294_967_296_000_000_000n;

const logArbitrary: fc.Arbitrary<Partial<LogFixture>> = fc
  .record({
    timestamp: fc.oneof(
      { weight: 30, arbitrary: timeMs.map((ms) => nanos(ms) + BigInt(ms % 1_000_000)) },
      { weight: 1, arbitrary: fc.constant(wrappedNanos) },
    ),
    severity: pick(...severityFixtures),
    host: pick('h1', 'h2', "h'3", ''),
    serviceName: pick('a', 'b', 'é', '漢'),
    logAttributes: pick<Record<string, string>>(
      {},
      { zone: 'z1', 'k v': '1', n: '2.5' },
      { zone: '', n: '-3' },
      { n: '12' },
      { n: 'n/a' },
    ),
    resourceAttributes: pick<Record<string, string>>({}, { zone: "z'2" }),
  })
  .map(({ severity, ...log }) => ({ ...log, ...severity }));

/** One key is part of another, and holds what separates fields. */
const labelFields = ['label.zone', 'label.k v', 'label.v'] as const;
const fieldArbitrary = fc.constantFrom<EqualityField[]>('severity', 'serviceName', 'host');
const equalArbitrary = fc
  .uniqueArray(
    fc.tuple(fieldArbitrary, fc.uniqueArray(pick('crit', 'INFO', '', 'a', 'é', 'h1', "h'3"))),
    {
      selector: ([field]) => field,
      maxLength: 2,
    },
  )
  .map((entries) => {
    const countable = entries.map(([field, values]) => {
      const some = field === 'severity' ? values.filter(isLevel) : values;
      return [field, some] as const;
    });
    return new Map(countable.filter(([, values]) => values.length > 0));
  });

/** Counts cannot find a word without a number: a log with this word may have a number. */
const isLevel = (value: string) => ['crit', 'INFO', ''].includes(value);

/** Logs are received on two days; a limit may hide the first day's. */
const receiptArbitrary = fc.constantFrom(0n, nanos(startMs), nanos(startMs + dayMs));

const filterArbitrary: fc.Arbitrary<LogFilter> = fc
  .record({
    ids: fc.subarray([...streamIds], { minLength: 1 }),
    from: timeMs,
    rangeMs: fc.oneof(
      fc.integer({ min: 1, max: hours * 60 }).map((minutes) => minutes * 60_000),
      fc.integer({ min: 1, max: 20_000 }),
    ),
    ends: pick<'minute' | 'milli' | 'nano'>('minute', 'milli', 'nano'),
    receivedFrom: fc.tuple(receiptArbitrary, receiptArbitrary),
    equal: equalArbitrary,
    excluded: equalArbitrary,
    minSeverity: pick(undefined, undefined, 9, 17),
  })
  .map(({ ids, from, rangeMs, ends, receivedFrom, equal, excluded, minSeverity }) => {
    const fromMs = ends === 'minute' ? from - (from % 60_000) : from;
    return {
      accountId,
      streams: ids.map((streamId, i) => ({ streamId, receivedFromNanos: receivedFrom[i]! })),
      fromNanos: nanos(fromMs) + (ends === 'nano' ? 7n : 0n),
      untilNanos: nanos(fromMs + rangeMs) + (ends === 'nano' ? 3n : 0n),
      equal,
      minSeverity,
      labels: [],
      search: [],
      excluded: { equal: excluded, labels: [] },
    };
  });

const histogramArbitrary: fc.Arbitrary<HistogramPlan> = fc
  .record({
    filter: filterArbitrary,
    buckets: fc.integer({ min: 1, max: 200 }),
    groupBy: pick<HistogramPlan['groupBy']>(
      'severity',
      'host',
      'streamId',
      'label.zone',
      undefined,
    ),
    topK: fc.integer({ min: 1, max: 5 }),
  })
  .map((plan) => ({
    ...plan,
    startMs: Number(plan.filter.fromNanos! / 1_000_000n),
    endMs: Number((plan.filter.untilNanos! + 999_999n) / 1_000_000n),
  }));

const facetsArbitrary: fc.Arbitrary<FacetsPlan> = fc
  .record({
    filter: filterArbitrary,
    fields: fc.uniqueArray(fc.oneof(fieldArbitrary, pick<GroupField>('streamId', ...labelFields)), {
      minLength: 1,
    }),
    topK: fc.integer({ min: 1, max: 5 }),
    isUnbounded: fc.boolean(),
  })
  .map(({ isUnbounded, ...plan }) => {
    if (!isUnbounded) return plan;
    return { ...plan, filter: { ...plan.filter, untilNanos: undefined } };
  });

const statArbitrary: fc.Arbitrary<Stat> = fc
  .tuple(
    pick<'count' | 'sum' | 'avg' | 'min' | 'max' | 'uniq'>(
      ...(['count', 'sum', 'avg', 'min', 'max', 'uniq'] as const),
    ),
    pick(undefined, 0, 0.5, 0.95, 1),
    pick<GroupField>('label.n', 'label.k v', 'severity'),
    fc.boolean(),
  )
  .map(([op, quantile, field, isOfLogs]): Stat => {
    if (quantile !== undefined) return { op: 'quantile', field, quantile };
    return op === 'count' && isOfLogs ? { op, field: undefined } : { op, field };
  });

const statsArbitrary: fc.Arbitrary<StatsPlan> = fc
  .record({
    plan: histogramArbitrary,
    stats: fc.array(statArbitrary, { minLength: 1, maxLength: 3 }),
    by: fc.uniqueArray(pick<GroupField>('severity', 'serviceName', 'streamId', 'label.zone'), {
      maxLength: 2,
    }),
    limit: fc.integer({ min: 1, max: 6 }),
    isExact: fc.boolean(),
  })
  .map(({ plan, ...stats }) => ({ ...plan, buckets: Math.min(plan.buckets, 20), ...stats }));

let engine: EngineStore;
const eager = {
  ...countDefaults,
  largePartRows: 1,
  minAgeSeconds: { merged: 0, other: 0 },
  fewCounts: 0,
  minLogsPerCount: byStep(() => 1),
  minLogsPerLabelCount: byStep(() => 1),
  lookEveryMs: 0,
  followEveryMs: 3_600_000,
};
let reader: ReaderParts;
let counted: CountedReads;
let plain: ReturnType<typeof uncountedReader>;
let sequence = 0n;

async function insert(rows: number): Promise<void> {
  const logs = fc.sample(logArbitrary, { numRuns: rows, seed: 20_260_301 + Number(sequence) });
  // Parts of one insert for several days do not appear at once.
  const receivedAtNanos = nanos(startMs) + ((sequence / 2n) % 2n) * nanos(dayMs);
  const batches = streamIds.map((streamId, i) =>
    stampedBatch(logs.slice((i * rows) / 2, ((i + 1) * rows) / 2), {
      owner: { accountId, streamId, receiverId: 'rcv_test' },
      id: { writer: 3n, sequence: sequence++ },
      receivedAtNanos,
    }),
  );
  await engine.store.insert('logs/1', batches, 'all', localToken);
}

const run = (sql: string) => engine.store.connection.execute('housekeeping', { sql, params: {} });

before(async () => {
  engine = await openEngineStore();
  const { connection, events } = engine.store;
  reader = { connection, database: 'weir', events, limits: generousLimits };
  counted = createCountedReads(reader, eager);
  plain = uncountedReader(reader);
  for (const rows of [3_000, 2_000, 1_000]) await insert(rows);
});
after(async () => {
  await counted.close();
  await engine.close();
});

const { signal } = new AbortController();

/**
 * Until counts answer. Parts are counted after a read of most of their time, so it asks for all of
 * it first.
 */
async function readCounted<Result>(
  plan: { readonly filter: LogFilter; readonly fields: readonly GroupField[] },
  read: () => Promise<Result | undefined>,
): Promise<Result> {
  const filter = { ...plan.filter, fromNanos: undefined, untilNanos: undefined };
  for (;;) {
    const result = await read();
    if (result !== undefined) return result;
    await counted.facets({ filter, fields: plan.fields, topK: 1 }, context);
    await delay(10, undefined, { signal });
    await counted.settled();
  }
}

async function agree(count: number): Promise<void> {
  await fc.assert(
    fc.asyncProperty(histogramArbitrary, async (plan) => {
      const fields: GroupField[] = plan.groupBy === undefined ? ['streamId'] : [plan.groupBy];
      const read = () => counted.histogram(plan, context);
      const result = await readCounted({ ...plan, fields }, read);
      assert.deepEqual(result, await plain.histogram(plan, signal));
    }),
    { numRuns: runs(count) },
  );
  await fc.assert(
    fc.asyncProperty(facetsArbitrary, async (plan) => {
      const result = await readCounted(plan, () => counted.facets(plan, context));
      assert.deepEqual(result, await plain.facets(plan, signal));
    }),
    { numRuns: runs(count) },
  );
}

/** Sums are added up in another order. */
function rounded({ groups }: StatsResult) {
  return groups.map(({ values, points }) => ({
    values,
    points: points.map((point) => ({
      ...point,
      values: point.values.map((value) => value && Number(value.toPrecision(9))),
    })),
  }));
}

suite('counts of parts', { skip: onCluster && 'only on one server' }, () => {
  test('give the histograms and facets of rows', () => agree(6));

  for (const [title, shortest, minLogs, fewCounts] of [
    ['of small parts are by ten seconds where those of large ones', 60_000, 1, 900],
    ['are by the second where tenths of one', 1_000, 1, 0],
    ['are by the minute where ten seconds', 60_000, 1, 0],
    ['are by the hour where minutes', 60_000, 6, 0],
    ['are by the day where hours', 86_400_000, 1, 0],
  ] as const) {
    test(`${title} hold few logs`, async () => {
      // Each part takes a statement.
      if (fewCounts === 0) await run('OPTIMIZE TABLE weir.logs FINAL');
      const minLogsPerCount = byStep((step) => (step < shortest ? 5_000 : minLogs));
      const own = createCountedReads(reader, { ...eager, minLogsPerCount, fewCounts });
      let answered = 0;
      for (const plan of fc.sample(facetsArbitrary, { numRuns: 5, seed: 11 })) {
        const filter = { ...plan.filter, fromNanos: undefined, untilNanos: undefined };
        let result: Awaited<ReturnType<typeof own.facets>>;
        // Counts are made in the background; not every plan is answered from them.
        for (let attempt = 0; attempt < 4 && result === undefined; attempt += 1) {
          await own.facets({ ...plan, filter }, context);
          await delay(10);
          await own.settled();
          result = await own.facets(plan, context);
        }
        if (result === undefined) continue;
        answered += 1;
        assert.deepEqual(result, await plain.facets(plan, signal));
      }
      await own.close();
      assert.ok(answered > 2, `${answered} answered from counts`);
    });
  }

  test('give the statistics of rows', async () => {
    await fc.assert(
      fc.asyncProperty(statsArbitrary, async (plan) => {
        const whole = { ...plan.filter, fromNanos: undefined, untilNanos: undefined };
        const read = async () => {
          const result = await counted.stats(plan, context);
          if (result !== undefined) return result;
          for (const stat of plan.stats) {
            await counted.stats({ ...plan, filter: whole, stats: [stat] }, context);
            await delay(10, undefined, { signal });
            await counted.settled();
          }
          return undefined;
        };
        const result = await until(read, { what: 'counts' });
        assert.deepEqual(rounded(result), rounded(await plain.stats(plan, signal)));
      }),
      { numRuns: runs(4) },
    );
  });

  test('follow inserts, merges and deletions', async () => {
    await insert(800);
    await agree(2);
    await run('OPTIMIZE TABLE weir.logs FINAL');
    await agree(2);
    await run("ALTER TABLE weir.logs DELETE WHERE Host = 'h1' SETTINGS mutations_sync = 1");
    await agree(2);
  });

  test('are not made where each would be of few logs', async () => {
    const sparse = createCountedReads(reader, {
      ...eager,
      minLogsPerCount: byStep(() => 2_000),
    });
    const [plan] = fc.sample(facetsArbitrary, { numRuns: 1, seed: 7 });
    const filter = { ...plan!.filter, fromNanos: undefined, untilNanos: undefined };
    for (let i = 0; i < 3; i++) {
      assert.equal(await sparse.facets({ ...plan!, filter, fields: ['host'] }, context), undefined);
      await delay(20);
      await sparse.settled();
    }
  });

  test('of new parts are made without another read', async () => {
    const seen = { lists: 0, rowReads: 0 };
    const connection: ReaderParts['connection'] = {
      ...reader.connection,
      ...watchedReads(reader.connection, ({ sql }) => {
        seen[sql.includes('system.parts') ? 'lists' : 'rowReads'] += 1;
      }),
    };
    const watchful = createCountedReads({ ...reader, connection }, { ...eager, followEveryMs: 10 });
    const filter = everyLog(accountId, streamIds);
    const read = () => watchful.facets({ filter, fields: ['host'], topK: 1 }, context);
    const followed = async () => {
      const { lists } = seen;
      await until(() => seen.lists >= lists + 2, { what: 'a look for new parts' });
      await watchful.settled();
    };
    try {
      await until(read, { what: 'counts' });
      await insert(100);
      await followed();
      await run('OPTIMIZE TABLE weir.logs FINAL');
      for (let i = 0; i < 3; i++) await followed();
      seen.rowReads = 0;
      assert.notEqual(await read(), undefined);
      assert.equal(seen.rowReads, 0);
    } finally {
      await watchful.close();
    }
  });

  test('by several fields and by labels are made before the first question', async () => {
    const statements: Statement[] = [];
    const connection: ReaderParts['connection'] = {
      ...reader.connection,
      query(pool, statement, aborted) {
        statements.push(statement);
        return reader.connection.query(pool, statement, aborted);
      },
      ...watchedReads(reader.connection, (statement) => {
        if (!statement.sql.includes('system.parts')) statements.push(statement);
      }),
    };
    const own = createCountedReads({ ...reader, connection }, { ...eager, followEveryMs: 10 });
    const isCounting = ({ params }: Statement) => Object.values(params).includes('zone');
    try {
      await until(() => statements.some(isCounting), { what: 'counts by a label' });
      await own.settled();
      statements.length = 0;
      const facets: FacetsPlan = {
        filter: {
          ...everyLog(accountId, streamIds),
          equal: new Map<EqualityField, string[]>([
            ['severity', ['INFO']],
            ['host', ['h1']],
          ]),
        },
        fields: ['serviceName'],
        topK: 10,
      };
      assert.deepEqual(await own.facets(facets, context), await plain.facets(facets, signal));
      const bounds = { startMs: startMs - 3_600_000, endMs: startMs + 4 * 3_600_000 };
      const stats: StatsPlan = {
        filter: {
          ...everyLog(accountId, streamIds),
          fromNanos: nanos(bounds.startMs),
          untilNanos: nanos(bounds.endMs),
        },
        ...bounds,
        buckets: 1,
        stats: [{ op: 'quantile', field: 'label.n', quantile: 0.95 }],
        by: ['serviceName'],
        limit: 3,
        isExact: true,
      };
      assert.deepEqual(await own.stats(stats, context), await plain.stats(stats, signal));
      assert.deepEqual(statements, []);
    } finally {
      await own.close();
    }
  });

  test('of a merged part are the sum of those of its parts', async () => {
    const counting: unknown[] = [];
    const connection: ReaderParts['connection'] = {
      ...reader.connection,
      query(pool, statement, aborted) {
        if (statement.sql.includes('groupArray')) counting.push(...Object.values(statement.params));
        return reader.connection.query(pool, statement, aborted);
      },
    };
    const own = createCountedReads({ ...reader, connection }, eager);
    const plan: FacetsPlan = {
      filter: everyLog(accountId, streamIds),
      fields: ['host', 'severity'],
      topK: 10,
    };
    try {
      await insert(400);
      await until(() => own.facets(plan, context), { what: 'counts' });
      // All parts are counted, and the last list of parts has them.
      for (let i = 0; i < 3; i++) {
        await own.settled();
        await own.facets(plan, context);
      }
      counting.length = 0;
      await run('OPTIMIZE TABLE weir.logs FINAL');
      await run('ALTER TABLE weir.logs MATERIALIZE INDEX origins SETTINGS mutations_sync = 1');
      const result = await own.facets(plan, context);
      await own.settled();
      assert.deepEqual(counting, []);
      assert.deepEqual(result, await plain.facets(plan, signal));
    } finally {
      await own.close();
    }
  });

  suite('after a restart', () => {
    const plan: FacetsPlan = {
      filter: everyLog(accountId, streamIds),
      fields: ['host', 'severity'],
      topK: 10,
    };
    let folder: string;
    before(async () => {
      folder = await mkdtemp(join(tmpdir(), 'weir-counts-'));
    });
    after(() => rm(folder, { recursive: true }));

    /** Counts all parts, as an earlier process. */
    async function countAll(): Promise<void> {
      const own = createCountedReads(reader, { ...eager, folder });
      await until(() => own.facets(plan, context), { what: 'counts' });
      for (let i = 0; i < 3; i++) {
        await own.settled();
        await own.facets(plan, context);
      }
      await own.close();
    }

    /** The first answer of another process, and the statements that it took besides lists. */
    async function askOnce() {
      const statements: string[] = [];
      const note = ({ sql }: Statement) => {
        if (!/system\.parts|mergeTreeIndex/.test(sql)) statements.push(sql);
      };
      const connection: ReaderParts['connection'] = {
        ...reader.connection,
        query(pool, statement, aborted) {
          note(statement);
          return reader.connection.query(pool, statement, aborted);
        },
        ...watchedReads(reader.connection, note),
      };
      const own = createCountedReads({ ...reader, connection }, { ...eager, folder });
      try {
        return { result: await own.facets(plan, context), statements: [...statements] };
      } finally {
        await own.close();
      }
    }

    test('answer the first question without reading a row', async () => {
      await countAll();
      const { result, statements } = await askOnce();
      assert.deepEqual(result, await plain.facets(plan, signal));
      assert.deepEqual(statements, []);
    });

    for (const [change, sql] of [
      ['a merge', 'OPTIMIZE TABLE weir.logs FINAL'],
      ['a deletion', "ALTER TABLE weir.logs DELETE WHERE Host = 'h2' SETTINGS mutations_sync = 1"],
    ] as const) {
      test(`are of the parts that ${change} left`, async () => {
        await insert(100);
        await countAll();
        await run(sql);
        await insert(100);
        const { result } = await askOnce();
        // Of no part, if all are new.
        if (result !== undefined) assert.deepEqual(result, await plain.facets(plan, signal));
        await countAll();
        assert.deepEqual((await askOnce()).result, await plain.facets(plan, signal));
      });
    }

    for (const [what, change] of [
      ['torn', (files: Buffer[]) => files.map((bytes) => bytes.subarray(0, -1))],
      ['of another part', (files: Buffer[]) => [...files.slice(1), files[0]!]],
    ] as const) {
      test(`are not taken from a file that is ${what}`, async () => {
        await insert(100);
        await countAll();
        const paths = (await readdir(folder)).map((name) => join(folder, name));
        assert.ok(paths.length > 1);
        const files = await Promise.all(paths.map((path) => readFile(path)));
        const changed = change(files);
        for (const [i, path] of paths.entries()) await writeFile(path, changed[i]!);
        const { result, statements } = await askOnce();
        assert.equal(result, undefined);
        assert.deepEqual(statements, []);
      });
    }
  });

  test('count each log once while parts are inserted and merged', async () => {
    const plan: FacetsPlan = {
      filter: everyLog(accountId, streamIds),
      fields: ['severity'],
      topK: 10,
    };
    const total = async () => (await counted.facets(plan, context))?.[0]!.total;
    const atFirst = await readCounted(plan, total);
    const seen: number[] = [];
    let inserted = 0;
    let isChanging = true;
    const changes = (async () => {
      for (let i = 1; i <= 12 || seen.length < 5; i++) {
        await insert(100);
        inserted += 100;
        if (i % 3 === 0) await run('OPTIMIZE TABLE weir.logs FINAL');
        await delay(20, undefined, { signal });
      }
    })().finally(() => {
      isChanging = false;
    });
    while (isChanging) {
      const count = await total();
      if (count !== undefined) seen.push(count - atFirst);
      await delay(1);
    }
    await changes;
    for (const [i, count] of seen.entries()) {
      assert.ok(count >= (seen[i - 1] ?? 0) && count % 100 === 0, seen.join());
    }
    assert.equal(await readCounted(plan, total), atFirst + inserted);
  });
});
