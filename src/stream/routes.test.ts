/** Handlers from query string to response, over a store that is an array. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { toReadRequest } from '../../test/harness/read-request.ts';
import type { Stream } from '../model/account.ts';
import { AppError } from '../model/errors.ts';
import { decodeLogId, encodeLogId, maxTie, nilLogId } from '../model/log-id.ts';
import type { FacetsPlan, HistogramPlan, ListPlan, LogRecord, StatsPlan } from '../model/plan.ts';
import { planFacets } from './plan.ts';
import { createStreamRoutes } from './routes.ts';
import type { FacetsBatchResponse, HistogramResponse, ListResponse } from './responses.ts';
import { toIsoMillis } from './timestamps.ts';

const nowMs = Date.parse('2026-04-01T00:00:00Z');
const days = (n: number) => BigInt(nowMs - n * 86_400_000) * 1_000_000n;

function stream(streamId: string, change: Partial<Stream> = {}): Stream {
  const kept = { retentionDays: 30, downsampling: null, dataDeletedUntil: null, createdAt: '' };
  return { streamId, accountId: 'acme', name: streamId, ...kept, ...change };
}

const first = '00000000-0000-4000-8000-000000000001';
const second = '00000000-0000-4000-8000-000000000002';

function record(timeNanos: bigint, tie: bigint): LogRecord {
  const logId = encodeLogId({ timeNanos, tie });
  return {
    logId,
    timestamp: toIsoMillis(timeNanos),
    timestampNanos: String(timeNanos),
  } as LogRecord;
}

/** Answers from `logs` by the contract of the store, and records plans. */
function openReader(logs: readonly LogRecord[], watermark: { nanos: bigint }) {
  const plans: (ListPlan | HistogramPlan | FacetsPlan | StatsPlan)[] = [];
  const streamRoutes = createStreamRoutes({
    store: {
      async list(plan) {
        plans.push(plan);
        const { position, limit, direction, untilWatermarkNanos } = plan;
        const beyond = (log: LogRecord) => {
          if (position === undefined) return true;
          const { timeNanos, tie } = decodeLogId(log.logId)!;
          const after = timeNanos - position.timeNanos || tie - position.tie;
          return direction === 'older' ? after < 0n : after > 0n;
        };
        const inReach = (log: LogRecord) =>
          untilWatermarkNanos === undefined || BigInt(log.timestampNanos) <= untilWatermarkNanos;
        const sorted = [...logs].sort((a, b) => (a.logId < b.logId ? 1 : -1));
        const found = sorted.filter((log) => beyond(log) && inReach(log));
        return direction === 'older' ? found.slice(0, limit) : found.slice(-limit);
      },
      async histogram(plan) {
        plans.push(plan);
        return { counts: Array.from({ length: plan.buckets }, () => 1), groups: undefined };
      },
      async facets(plan) {
        plans.push(plan);
        return plan.fields.map((field) => ({
          field,
          values: [{ value: 'x', count: 2 }],
          other: 1,
          total: 3,
        }));
      },
      fields: async () => ({
        fields: [
          { field: 'serviceName', count: 3 },
          { field: 'label.a', count: 2 },
        ],
        sampled: 3,
        isExact: false,
      }),
      async fieldValues({ prefix }) {
        return { values: [{ value: prefix, count: 1 }], sampled: 3, isExact: true };
      },
      async stats(plan) {
        plans.push(plan);
        const values = plan.stats.map((_, i) => i + 60);
        const points = [{ bucket: plan.buckets - 1, values }];
        const rest = { values: undefined, points };
        const stored = (field: string) => (field === 'host' ? '' : 'v');
        return { groups: [{ values: plan.by.map(stored), points }, rest], isExact: true };
      },
    },
    grants: {
      streams: async () => [stream(first), stream(second, { retentionDays: 1 })],
    },
    watermarkNanos: () => watermark.nanos,
    now: () => nowMs,
  });
  const routes = new Map(streamRoutes.map((route) => [route.path, route]));
  const read = (path: string, query: Record<string, string> = {}, params = {}) =>
    routes.get(path)!.read(toReadRequest('acme', query, { params }));
  return {
    plans,
    list: (query = {}) => read('/api/v1/logs', query) as Promise<ListResponse>,
    histogram: (query = {}) => read('/api/v1/histogram', query) as Promise<HistogramResponse>,
    one: (logId: string) => read('/api/v1/logs/:logId', {}, { logId }) as Promise<LogRecord>,
    fields: () => read('/api/v1/fields'),
    values: (name: string, query = {}) => read('/api/v1/fields/:name/values', query, { name }),
    stats: (query = {}) => read('/api/v1/stats', query),
    batch: (query = {}) => read('/api/v1/facets/batch', query) as Promise<FacetsBatchResponse>,
  };
}

const far = { nanos: days(-1) };

suite('streams', () => {
  test('reads all streams of the account by default, each within its retention', async () => {
    const { list, plans } = openReader([], far);
    await list();
    assert.deepEqual(plans[0]!.filter.streams, [
      { streamId: first, receivedFromNanos: days(30) },
      { streamId: second, receivedFromNanos: days(1) },
    ]);
  });

  test('reads only the named stream; another account’s stream is not found', async () => {
    const { list, plans } = openReader([], far);
    await list({ streamId: second });
    assert.deepEqual(
      plans[0]!.filter.streams.map(({ streamId }) => streamId),
      [second],
    );
    await assert.rejects(list({ streamId: '00000000-0000-4000-8000-00000000000f' }), (error) => {
      assert.ok(error instanceof AppError);
      assert.equal(error.code, 'not_found');
      return true;
    });
  });
});

suite('cursor and newest', () => {
  const logs = [record(days(2), 1n), record(days(2), 2n), record(days(3), 3n)];

  test('older pages continue from the oldest log, newer ones from the newest', async () => {
    const { list } = openReader(logs, far);
    const page = await list({ limit: '2' });
    assert.equal(page.cursor.logId, logs[0]!.logId);
    assert.equal(page.newest.logId, logs[1]!.logId);
    const since = `${page.cursor.timestamp},${page.cursor.logId}`;
    const newer = await list({ since });
    assert.deepEqual([newer.cursor.logId, newer.newest.logId], [logs[1]!.logId, logs[1]!.logId]);
  });

  test('an empty page returns the given position', async () => {
    const { list } = openReader([], far);
    const nil = { timestamp: '1970-01-01T00:00:00.000Z', logId: nilLogId };
    const nothing = await list();
    assert.deepEqual([nothing.cursor, nothing.newest], [nil, nil]);
    const sinceTime = '2026-03-01T00:00:00.000Z';
    assert.deepEqual((await list({ sinceTime })).cursor, { timestamp: sinceTime, logId: nilLogId });
    const given = { timestamp: logs[0]!.timestamp, logId: logs[0]!.logId };
    assert.deepEqual((await list({ since: JSON.stringify(given) })).cursor, given);
  });

  test('order=asc pages from the oldest to the newest, beyond the watermark', async () => {
    const { list } = openReader(logs, { nanos: days(4) });
    const seen: string[] = [];
    let cursor: string | undefined;
    for (;;) {
      const page = await list({ order: 'asc', limit: '1', ...(cursor && { cursor }) });
      if (page.logs.length === 0) break;
      seen.push(...page.logs.map(({ logId }) => logId));
      cursor = `${page.cursor.timestamp},${page.cursor.logId}`;
    }
    const oldestFirst = logs.map(({ logId }) => logId).sort();
    assert.deepEqual(seen, oldestFirst);
    const all = await list({ order: 'asc' });
    assert.deepEqual(
      all.logs.map(({ logId }) => logId),
      oldestFirst,
    );
    const before = await list({ cursor: `${all.cursor.timestamp},${all.cursor.logId}` });
    assert.deepEqual(
      before.logs.map(({ logId }) => logId),
      oldestFirst.slice(0, -1).reverse(),
    );
  });

  test('rejects cursor together with since', async () => {
    const { list } = openReader(logs, far);
    const at = `1970-01-01T00:00:00Z,${nilLogId}`;
    await assert.rejects(list({ cursor: at, since: at }), /cannot accept cursor and since at once/);
  });

  test('newest is at most the watermark, so that polls repeat what was above it', async () => {
    const watermark = { nanos: days(2) - 1n };
    const { list } = openReader(logs, watermark);
    const { newest, cursor, logs: answered } = await list();
    assert.equal(newest.logId, encodeLogId({ timeNanos: days(2) - 1n, tie: maxTie }));
    assert.equal(cursor.logId, logs[2]!.logId);
    watermark.nanos = far.nanos;
    const since = `${newest.timestamp},${newest.logId}`;
    assert.deepEqual((await list({ since })).logs, answered.slice(0, 2));
  });
});

test('polling from newest returns every later log once', async () => {
  const step = fc.record({
    append: fc.integer({ min: 0, max: 5 }),
    /** Number of appended logs that are released. */
    release: fc.double({ min: 0, max: 1, noNaN: true }),
    limit: fc.integer({ min: 1, max: 4 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 20 }), async (steps) => {
      const visible: LogRecord[] = [];
      const watermark = { nanos: days(5) };
      const { list } = openReader(visible, watermark);
      let clock = days(5) + 1n;
      let tie = 0n;
      const appended: LogRecord[] = [];
      const start = await list({ limit: '1' });
      let position = start.newest;
      const seen: string[] = [];
      const poll = async (limit: number) => {
        const since = `${position.timestamp},${position.logId}`;
        const page = await list({ since, limit: String(limit) });
        seen.push(...page.logs.map(({ logId }) => logId).reverse());
        position = page.cursor;
        return page.logs.length;
      };
      for (const { append, release, limit } of steps) {
        for (let i = 0; i < append; i++) appended.push(record(clock, tie++));
        clock += 1n;
        // Inserted but not released: readable, but after the watermark.
        visible.splice(0, visible.length, ...appended.filter((_, i) => i % 2 === 0 || i < 3));
        const count = Math.floor(release * appended.length);
        const vouched = appended[count];
        const next = vouched === undefined ? clock - 1n : BigInt(vouched.timestampNanos) - 1n;
        if (next > watermark.nanos) watermark.nanos = next;
        const released = appended.filter((log) => BigInt(log.timestampNanos) <= watermark.nanos);
        visible.push(...released.filter((log) => !visible.includes(log)));
        await poll(limit);
      }
      watermark.nanos = clock;
      visible.splice(0, visible.length, ...appended);
      while ((await poll(4)) > 0);
      assert.deepEqual(
        seen,
        appended.map(({ logId }) => logId),
      );
    }),
  );
});

test('rejects a path segment that is no logId', async () => {
  const log = record(days(2), 1n);
  const { one } = openReader([log], far);
  assert.equal((await one(log.logId.toUpperCase())).logId, log.logId);
  for (const text of ['', 'x', nilLogId, first, `${log.logId}0`]) {
    await assert.rejects(one(text), { code: 'malformed', parameter: 'logId' });
  }
});

suite('histogram', () => {
  test('bucket edges are floored, adjacent, and end at endTime', async () => {
    const { histogram } = openReader([], far);
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1e10, max: 4e12 }),
        fc.integer({ min: 1, max: 1e12 }),
        fc.integer({ min: 1, max: 500 }),
        async (start, range, buckets) => {
          const query = {
            startTime: `${start}`,
            endTime: `${start + range}`,
            buckets: `${buckets}`,
          };
          const answer = await histogram(query);
          assert.equal(answer.buckets.length, buckets);
          assert.equal(answer.total, buckets);
          for (const [i, bucket] of answer.buckets.entries()) {
            const edge = (n: number) =>
              Number(BigInt(start) + (BigInt(n) * BigInt(range)) / BigInt(buckets));
            assert.equal(Date.parse(bucket.startTime), edge(i));
            assert.equal(Date.parse(bucket.endTime), edge(i + 1));
          }
        },
      ),
    );
  });

  test('counts a range below a millisecond exactly', async () => {
    const { histogram, plans } = openReader([], far);
    await histogram({
      startTime: '2026-03-01T00:00:00.0004Z',
      endTime: '2026-03-01T00:00:01.0006Z',
    });
    const { filter, startMs, endMs } = plans[0] as HistogramPlan;
    const at = Date.parse('2026-03-01T00:00:00Z');
    assert.deepEqual([startMs, endMs], [at, at + 1_001]);
    assert.equal(filter.fromNanos, BigInt(at) * 1_000_000n + 400_000n);
    assert.equal(filter.untilNanos, BigInt(at) * 1_000_000n + 1_000_600_000n);
  });

  test('rejects an empty or reversed range', async () => {
    const { histogram } = openReader([], far);
    await assert.rejects(histogram({ startTime: '5', endTime: '5' }), /endTime must be after/);
  });
});

test('counts two names of one field once and returns both', async () => {
  const { batch, plans } = openReader([], far);
  const { facets } = await batch({ fields: 'service,host,serviceName' });
  assert.deepEqual((plans[0] as FacetsPlan).fields, ['serviceName', 'host']);
  assert.deepEqual(
    facets.map(({ field }) => field),
    ['service', 'host', 'serviceName'],
  );
});

test('hides logs received before a deletion of the data', () => {
  const deleted = '2026-03-31T12:00:00.000Z';
  const streams = [stream(first, { dataDeletedUntil: deleted })];
  const plan = planFacets({ accountId: 'acme', streams, nowMs }, { topK: 1 }, [
    { name: 'host', field: 'host' },
  ]);
  assert.equal(
    plan.filter.streams[0]!.receivedFromNanos,
    BigInt(Date.parse(deleted)) * 1_000_000n + 1n,
  );
});

suite('stats', () => {
  const range = { startTime: '2026-03-01T00:00:30Z', endTime: '2026-03-01T00:02:30Z' };

  test('steps begin at multiples of their length, rates divide by seconds in range', async () => {
    const { stats, plans } = openReader([], far);
    const by = 'service,customer.id';
    const answer = await stats({ ...range, step: '1m', stat: 'rate,p99.9(label.ms)', by });
    const plan = plans[0] as StatsPlan;
    assert.deepEqual(plan.by, ['serviceName', 'label.customer.id']);
    assert.deepEqual(plan.stats, [
      { op: 'count', field: undefined },
      { op: 'quantile', field: 'label.ms', quantile: 0.999 },
    ]);
    assert.equal(plan.buckets, 3);
    assert.equal(plan.startMs, Date.parse('2026-03-01T00:00:00Z'));
    const time = '2026-03-01T00:02:00.000Z';
    // 60 logs in the 30 seconds that are in the range.
    const values = { rate: 2, 'p99.9(label.ms)': 61 };
    assert.deepEqual(answer, {
      startTime: '2026-03-01T00:00:00.000Z',
      endTime: '2026-03-01T00:03:00.000Z',
      exact: true,
      rows: [
        { time, by: { service: 'v', 'customer.id': 'v' }, values },
        { time, by: {}, other: true, values },
      ],
    });
  });

  test('answers as Prometheus does', async () => {
    const { stats } = openReader([], far);
    const query = { ...range, format: 'prometheus', by: 'label.customer.id' };
    const result = (values: object) => [
      { metric: { __name__: 'count', label_customer_id: 'v' }, ...values },
      { metric: { __name__: 'count', other: 'true' }, ...values },
    ];
    assert.deepEqual(await stats(query), {
      status: 'success',
      data: { resultType: 'vector', result: result({ value: [1_772_323_350, '60'] }) },
    });
    assert.deepEqual(await stats({ ...query, step: '60' }), {
      status: 'success',
      data: { resultType: 'matrix', result: result({ values: [[1_772_323_320, '60']] }) },
    });
    // Names of labels are valid and differ, and a label is never empty.
    const named = await stats({ ...query, by: '404.rate,404-rate,host' });
    const { data } = named as { data: { result: { metric: object }[] } };
    const { metric } = data.result[0]!;
    assert.deepEqual(metric, { __name__: 'count', _404_rate: 'v', _404_rate_2: 'v' });
  });

  const refused: readonly (readonly [Record<string, string>, string, RegExp])[] = [
    [{ stat: 'p95(duration)' }, 'stat', /or label\.<key> for a label/],
    [{ stat: 'p100(label.a)' }, 'stat', /a percentile such as p95/],
    [{ stat: 'sum' }, 'stat', /"sum": it must be count, rate, or a function of a field/],
    [{ stat: `${'count,'.repeat(10)}rate` }, 'stat', /11 stats: at most 10/],
    [{ by: 'host,service,severity,label.a' }, 'by', /1 to 3 fields/],
    [{ by: 'customer' }, 'by', /"customer"/],
    [{ step: '0' }, 'step', /at least 1ms/],
    [{ step: '10ms' }, 'step', /12000 steps, at most 11000: raise step/],
    [{ step: '100ms', by: 'host', limit: '1000' }, 'limit', /1200 steps of 1000 groups/],
    [{ limit: '1001' }, 'limit', /1 to 1000/],
    [{ format: 'csv' }, 'format', /rows or prometheus/],
  ];
  for (const [query, parameter, message] of refused) {
    test(`refuses ${JSON.stringify(query).slice(0, 60)}`, async () => {
      const { stats } = openReader([], far);
      await assert.rejects(stats({ ...range, ...query }), (error: unknown) => {
        assert.ok(error instanceof AppError);
        assert.equal(error.parameter, parameter);
        assert.match(error.message, message);
        return true;
      });
    });
  }
});

test('names fields as parameters take them, and refuses others', async () => {
  const { fields, values } = openReader([], far);
  assert.deepEqual(await fields(), {
    fields: [
      { name: 'service', count: 3 },
      { name: 'label.a', count: 2 },
    ],
    sampled: 3,
    exact: false,
  });
  assert.deepEqual(await values('label.a', { prefix: 'x' }), {
    field: 'label.a',
    values: [{ value: 'x', count: 1 }],
    sampled: 3,
    exact: true,
  });
  await assert.rejects(values('customer'), /"customer": it must be one of .* or label\.<key>/);
});
