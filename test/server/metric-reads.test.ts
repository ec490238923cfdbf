/** Metric reads: from requests to queries, and from rows to the formats of Prometheus. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, suite, test } from 'node:test';
import { uncompressSync } from 'snappy';
import { AppError } from '../../src/model/errors.ts';
import type { SamplesPlan, SeriesPlan } from '../../src/model/metric-plan.ts';
import { accountId } from './edge.ts';
import {
  formType,
  type MetricEdge,
  messageHeaders,
  nowMs,
  openMetricEdge,
  readRequest,
  retentionDays,
  streamId,
} from './metric-edge.ts';

const dayMs = 86_400_000;

let opened: MetricEdge;
before(async () => {
  opened = await openMetricEdge();
});
after(() => opened.edge.close());
beforeEach(() => opened.store.reset());

const sampled = (name: string, ...times: bigint[]) => ({
  labels: [['__name__', name]] as const,
  times: BigInt64Array.from(times),
  values: BigUint64Array.from(times, () => 0x7ff0000000000002n),
  histograms: [],
});

suite('queries to the store', () => {
  const last = () => opened.store.plans.at(-1) as SeriesPlan;

  test('cover the last day of all streams by default', async () => {
    await opened.answer('labels');
    assert.deepEqual(last(), {
      accountId,
      streams: [
        { streamId, receivedFromNanos: BigInt(nowMs - retentionDays * dayMs) * 1_000_000n },
      ],
      selectors: [],
      fromMs: BigInt(nowMs - dayMs),
      untilMs: BigInt(nowMs),
      limit: 6,
    });
  });

  test('begin a day before the given end', async () => {
    await opened.answer('labels?end=1000000000.5');
    assert.deepEqual([last().fromMs, last().untilMs], [999_913_600_500n, 1_000_000_000_500n]);
    await opened.answer('labels?end=-1e300');
    assert.deepEqual([last().fromMs, last().untilMs], [-(2n ** 63n), -(2n ** 63n)]);
  });

  test('have the given range, selectors and stream', async () => {
    const selectors = [
      [{ name: '__name__', type: 'equal', value: 'up' }],
      [{ name: 'a', type: 'matches', value: 'b|c' }],
    ];
    const query =
      'start=1&end=2026-03-01T00:00:00Z&match[]=up&match[]=%7Ba%3D~%22b%7Cc%22%7D&limit=2' +
      `&streamId=${streamId.toUpperCase()}&nocache=1`;
    await opened.answer(`labels?${query}`);
    const { fromMs, untilMs, selectors: asked, limit, streams } = last();
    assert.deepEqual([fromMs, untilMs], [1000n, BigInt(Date.parse('2026-03-01T00:00:00Z'))]);
    assert.deepEqual(asked, selectors);
    assert.equal(limit, 3);
    assert.equal(streams.length, 1);
    const ofUrl = last();
    await opened.answer('labels', { method: 'POST', headers: [formType], body: query });
    assert.deepEqual(last(), ofUrl);
    await opened.answer(`labels?${query.slice(0, 8)}`, {
      method: 'POST',
      headers: [['Content-Type', 'application/x-www-form-urlencoded; charset=UTF-8']],
      body: query.slice(8),
    });
    assert.deepEqual(last(), ofUrl);
  });

  test('find labels by names of any kind', async () => {
    for (const name of ['job', 'U__k8s_2e_pod', 'k8s.pod', '%C3%A9', 'a%2Fb', 'a%20b']) {
      await opened.answer(`label/${name}/values`);
    }
    assert.deepEqual(opened.store.askedNames, ['job', 'k8s.pod', 'k8s.pod', 'é', 'a/b', 'a b']);
    await opened.answer(`label/${'a'.repeat(5000)}/values`);
    assert.equal(opened.store.askedNames.at(-1)?.length, 5000);
  });

  test('include each query of a remote read, except for empty ranges', async () => {
    opened.store.samples = [sampled('up', 1n)];
    const body = readRequest([1, 5], [5, 1], [2, 3]);
    const { status } = await opened.call('read', { method: 'POST', headers: messageHeaders, body });
    assert.equal(status, 200);
    assert.deepEqual(
      opened.store.plans.map((plan) => [
        (plan as SamplesPlan).fromMs,
        (plan as SamplesPlan).untilMs,
      ]),
      [
        [1n, 5n],
        [2n, 3n],
      ],
    );
    const { selectors, maxSeries, maxSamples } = opened.store.plans[0] as SamplesPlan;
    assert.deepEqual(selectors, [[{ name: '__name__', type: 'equal', value: 'up' }]]);
    assert.deepEqual([maxSeries, maxSamples], [5, 4]);
  });
});

suite('responses', () => {
  test('list names, up to the requested limit', async () => {
    opened.store.names = ['a', 'b', 'c'];
    const whole = { status: 'success', data: ['a', 'b', 'c'] };
    assert.deepEqual(await opened.answer('labels'), whole);
    assert.deepEqual(await opened.answer('labels?limit=3'), whole);
    assert.deepEqual(await opened.answer('labels?limit=0'), whole);
    assert.deepEqual(await opened.answer('label/a/values?limit=2'), {
      status: 'success',
      data: ['a', 'b'],
      warnings: ['results truncated due to limit'],
    });
  });

  test('refuse rather than truncate silently', async () => {
    opened.store.names = ['a', 'b', 'c', 'd', 'e', 'f'];
    const { status, body } = await opened.call('labels');
    assert.equal(status, 503);
    assert.match(body, /more than 5 .* raise metrics.maxReadSeries/);
    const cut = (await opened.answer('labels?limit=100')) as { data: string[]; warnings: string[] };
    assert.equal(cut.data.length, 5);
    assert.equal(cut.warnings.length, 1);
  });

  test('list series with labels of any name', async () => {
    opened.store.series = [
      [
        ['__name__', 'up'],
        ['__proto__', 'x'],
      ],
      [['__name__', 'down']],
    ];
    const { body } = await opened.call('series?match[]=up');
    assert.equal(
      body,
      '{"status":"success","data":[{"__name__":"up","__proto__":"x"},{"__name__":"down"}]}',
    );
  });

  test('list metadata by metric', async () => {
    const entry = { type: 'counter', unit: '', help: 'h' };
    opened.store.metadata = [
      { name: 'a', ...entry },
      { name: 'a', ...entry, help: 'other' },
      { name: 'b', ...entry },
    ];
    assert.deepEqual(await opened.answer('metadata'), {
      status: 'success',
      data: { a: [entry, { ...entry, help: 'other' }], b: [entry] },
    });
    assert.deepEqual(await opened.answer('metadata?limit=1&limit_per_metric=1&metric=a'), {
      status: 'success',
      data: { a: [entry] },
      warnings: ['results truncated due to limit'],
    });
    assert.equal((opened.store.plans.at(-1) as { metric?: string }).metric, 'a');
  });

  test('refuse rather than truncate metadata', async () => {
    const entry = { type: 'counter', unit: '', help: '' };
    const names = ['a', 'a', 'a', 'b', 'b', 'b', 'b'];
    opened.store.metadata = names.map((name, i) => ({ name, ...entry, help: `${i}` }));
    assert.equal((await opened.call('metadata')).status, 503);
    assert.equal((await opened.call('metadata?limit=2')).status, 503);
    const { data } = (await opened.answer('metadata?limit=1')) as { data: { a: unknown[] } };
    assert.equal(data.a.length, 3);
  });

  test('list exemplars by series', async () => {
    const seriesLabels = [['__name__', 'up']] as const;
    const labels = [['trace_id', 'abc']] as const;
    opened.store.exemplars = [
      { seriesLabels, labels, timeMs: 1_600_096_945_479n, value: 6 },
      { seriesLabels, labels: [], timeMs: 1_600_096_945_480n, value: -Infinity },
      { seriesLabels: [['__name__', 'z']], labels, timeMs: 0n, value: Number.NaN },
    ];
    assert.deepEqual(await opened.answer('query_exemplars?query=%7B__name__%3D~%22.%2B%22%7D'), {
      status: 'success',
      data: [
        {
          seriesLabels: { __name__: 'up' },
          exemplars: [
            { labels: { trace_id: 'abc' }, value: '6', timestamp: 1_600_096_945.479 },
            { labels: {}, value: '-Inf', timestamp: 1_600_096_945.48 },
          ],
        },
        {
          seriesLabels: { __name__: 'z' },
          exemplars: [{ labels: { trace_id: 'abc' }, value: 'NaN', timestamp: 0 }],
        },
      ],
    });

    test('exemplars are those of all selectors of an expression', async () => {
      const query = 'histogram_quantile(0.9, rate(a_bucket[5m])) / on() b{c="d"}';
      await opened.answer(`query_exemplars?query=${encodeURIComponent(query)}`);
      const [plan] = opened.store.plans;
      assert.ok(plan !== undefined && 'selectors' in plan);
      assert.deepEqual(
        plan.selectors.map((one) => one.map(({ value }) => value)),
        [['a_bucket'], ['d', 'b']],
      );
      opened.store.reset();
      const none = await opened.answer('query_exemplars?query=1');
      assert.deepEqual([none, opened.store.plans], [{ status: 'success', data: [] }, []]);
    });
  });

  test('report the version of the API', async () => {
    const { data } = (await opened.answer('status/buildinfo')) as { data: Record<string, string> };
    assert.deepEqual([data['application'], data['version']], ['Weir', '3.0.0']);
  });

  for (const transport of ['HTTP/1.1', 'HTTP/2'] as const) {
    test(`${transport}: returns the exact samples of each query`, async () => {
      opened.store.samples = [sampled('up', 1n)];
      const { status, headers, bytes } = await opened.call('read', {
        method: 'POST',
        headers: messageHeaders,
        body: readRequest([1, 5], [5, 1]),
        transport,
      });
      assert.equal(status, 200);
      assert.equal(headers['content-type'], 'application/x-protobuf');
      assert.equal(headers['content-encoding'], 'snappy');
      assert.equal(headers['cache-control'], 'private, no-store');
      const label = Buffer.concat([
        Buffer.of(0x0a, 14, 0x0a, 8),
        Buffer.from('__name__'),
        Buffer.of(0x12, 2),
        Buffer.from('up'),
      ]);
      const sample = Buffer.of(0x12, 11, 0x09, 2, 0, 0, 0, 0, 0, 0xf0, 0x7f, 0x10, 1);
      const expected = Buffer.concat([
        Buffer.of(0x0a, 31, 0x0a, 29),
        label,
        sample,
        Buffer.of(0x0a, 0),
      ]);
      assert.deepEqual(uncompressSync(bytes), expected);
    });
  }

  test('failed reads release their memory and places', async () => {
    const read = { method: 'POST', headers: messageHeaders, body: readRequest([1, 2]) };
    opened.store.fault = new AppError('unavailable', 'cannot read');
    for (let i = 0; i < 5; i += 1) assert.equal((await opened.call('read', read)).status, 503);
    opened.store.fault = undefined;
    assert.equal((await opened.call('read', read)).status, 200);
  });

  test("a query over a limit of reads has Prometheus' text, which clients look for", async () => {
    const reason = 'cannot answer with more than 4 samples: raise metrics.maxReadSamples';
    opened.store.fault = new AppError('execution', reason);
    const { status, body } = await opened.call('query?query=up');
    assert.equal(status, 422);
    const { errorType, error } = JSON.parse(body) as Record<string, string>;
    assert.equal(errorType, 'execution');
    assert.equal(
      error,
      `query processing would load too many samples into memory in query execution: ${reason}`,
    );
  });

  test('refuse more samples than allowed over all queries of a read', async () => {
    opened.store.samples = [sampled('up', 1n, 2n, 3n)];
    const read = (body: Buffer) =>
      opened.call('read', { method: 'POST', headers: messageHeaders, body });
    assert.equal((await read(readRequest([1, 2]))).status, 200);
    const { status, body } = await read(readRequest([1, 2], [1, 2]));
    assert.equal(status, 422);
    assert.match(body, /more than 4 samples: .* raise metrics.maxReadSamples/);
  });
});
