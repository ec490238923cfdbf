/** Requests of OTLP metrics and the resulting samples. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  nowMs,
  openOtlpMetrics,
  samplesOf,
  valuesOf,
} from '../../../../test/protocols/otlp-metric-rows.ts';
import {
  attributesOf,
  type Exemplar,
  type Metric,
  type NumberPoint,
  requestOf,
  temporality,
} from '../../../../test/protocols/otlp-metrics.ts';
import { readMetricRows } from '../../../../test/protocols/read-metric-rows.ts';
import { blankSeriesView } from '../../../../test/harness/blank-series-view.ts';
import { AppError } from '../../../model/errors.ts';
import { seriesState } from '../../../model/series-view.ts';

const traceId = '0af7651916cd43dd8448eb211c80319c';
const nanos = (seconds: number) => String(BigInt(nowMs + 1000 * seconds) * 1_000_000n);
const at = (seconds: number, value: number, startSeconds = 0): NumberPoint => ({
  startTimeUnixNano: nanos(startSeconds),
  timeUnixNano: nanos(seconds),
  asDouble: value,
});
const sum = (
  dataPoints: readonly NumberPoint[],
  aggregationTemporality: number,
  isMonotonic = true,
): Metric => ({ name: 'hits', sum: { dataPoints, aggregationTemporality, isMonotonic } });
const histogram = (point: object, aggregationTemporality: number): Metric => ({
  name: 'took',
  unit: 's',
  histogram: {
    dataPoints: [{ startTimeUnixNano: nanos(0), timeUnixNano: nanos(9), ...point }],
    aggregationTemporality,
  },
});

test('stores gauges, counters and summaries under their names in Prometheus', async () => {
  const { cumulative } = temporality;
  const summary = { timeUnixNano: nanos(1), count: '7', sum: 3.5 };
  const batch = await openOtlpMetrics().decode(
    requestOf([
      { name: 'temp', unit: 'Cel', gauge: { dataPoints: [at(1, 21.5)] } },
      sum([{ ...at(1, 4), attributes: attributesOf({ 'http.method': 'GET' }) }], cumulative),
      { ...sum([at(1, -2)], cumulative, false), name: 'queue' },
      {
        name: 'rpc',
        summary: { dataPoints: [{ ...summary, quantileValues: [{ quantile: 0.5, value: 2 }] }] },
      },
    ]),
  );
  assert.deepEqual(valuesOf(batch), {
    temp_celsius: 21.5,
    'hits_total{http_method="GET"}': 4,
    queue: -2,
    rpc_count: 7,
    rpc_sum: 3.5,
    'rpc{quantile="0.5"}': 2,
  });
  const types = readMetricRows(batch.payload).metadata.map(({ name, type }) => [name, type]);
  assert.deepEqual(types, [
    ['temp_celsius', 'gauge'],
    ['hits_total', 'counter'],
    ['queue', 'gauge'],
    ['rpc', 'summary'],
  ]);
});

test('stores an explicit histogram as cumulative buckets with exemplars', async () => {
  const point = {
    count: '6',
    sum: 8.5,
    bucketCounts: ['1', '2', '3'],
    explicitBounds: [1, 2.5],
    exemplars: [{ asDouble: 2, timeUnixNano: nanos(8), traceId }],
  };
  const batch = await openOtlpMetrics().decode(
    requestOf([histogram(point, temporality.cumulative)]),
  );
  assert.deepEqual(valuesOf(batch), {
    took_seconds_count: 6,
    took_seconds_sum: 8.5,
    'took_seconds_bucket{le="1.0"}': 1,
    'took_seconds_bucket{le="2.5"}': 3,
    'took_seconds_bucket{le="+Inf"}': 6,
  });
  const { exemplars, series } = readMetricRows(batch.payload);
  assert.deepEqual(exemplars[0]?.labels, [['trace_id', traceId]]);
  const bucket = series.find(({ id }) => id === exemplars[0]?.id);
  assert.ok(bucket?.labels.some(([name, value]) => name === 'le' && value === '2.5'));
});

test('stores nothing of a point that exceeds the limit of series', async () => {
  const point = {
    count: '6',
    sum: 8.5,
    bucketCounts: ['1', '2', '3'],
    explicitBounds: [1, 2.5],
    exemplars: [{ asDouble: 0.5, timeUnixNano: nanos(8), traceId }],
  };
  const request = requestOf([
    histogram(point, temporality.cumulative),
    { name: 'temp', gauge: { dataPoints: [at(1, 21.5)] } },
  ]);
  for (let room = 0; room < 5; room += 1) {
    let seen = 0;
    // The gauge is the last of them.
    const look = () => (seen++ < room || seen === room + 2 ? seriesState.new : seriesState.refused);
    const view = { ...blankSeriesView, look };
    const batch = await openOtlpMetrics({}, view).decode(request);
    assert.deepEqual(valuesOf(batch), { temp: 21.5 }, `room for ${room}`);
    assert.equal(batch.rejectedCount, 1);
    assert.deepEqual(readMetricRows(batch.payload).exemplars, []);
  }
});

test('labels an exemplar with its ids and, in 128 characters, its attributes', async () => {
  const labelsOf = async (exemplar: Partial<Exemplar>) => {
    const point = {
      count: '1',
      sum: 2,
      bucketCounts: ['1'],
      explicitBounds: [],
      exemplars: [{ asDouble: 2, timeUnixNano: nanos(8), ...exemplar }],
    };
    const metric = histogram(point, temporality.cumulative);
    const batch = await openOtlpMetrics().decode(requestOf([metric]));
    return readMetricRows(batch.payload).exemplars[0]?.labels;
  };
  // Some senders write the zero id where there is none.
  const ids = { traceId, spanId: '0'.repeat(16) };
  const short = { ...ids, filteredAttributes: attributesOf({ user: 'anna' }) };
  assert.deepEqual(await labelsOf(short), [
    ['trace_id', traceId],
    ['user', 'anna'],
  ]);
  const long = { ...ids, filteredAttributes: attributesOf({ user: 'x'.repeat(128) }) };
  assert.deepEqual(await labelsOf(long), [['trace_id', traceId]]);
});

test('labels series with job and promoted attributes, the rest in target_info', async () => {
  const resource = {
    'service.name': 'shop',
    'service.namespace': 'eu',
    'service.instance.id': 'pod-1',
    'host.name': 'h',
    team: 'x',
  };
  const metrics: Metric[] = [{ name: 'up', gauge: { dataPoints: [at(0, 1), at(400, 1)] } }];
  const otlp = openOtlpMetrics({ otlpPromotedAttributes: ['team'] });
  const samples = samplesOf(await otlp.decode(requestOf(metrics, resource)));
  const own = 'instance="pod-1",job="eu/shop",team="x"';
  const target = 'target_info{host_name="h",instance="pod-1",job="eu/shop",team="x"}';
  assert.deepEqual(
    samples.map(({ series, timeMs }) => [series, (timeMs - nowMs) / 1000]),
    [
      [`up{${own}}`, 0],
      [`up{${own}}`, 400],
      [target, 0],
      [target, 150],
      [target, 300],
      [target, 400],
    ],
  );
});

test('adds labels of the scope if so configured', async () => {
  const scope = { name: 'lib', version: '2', attributes: attributesOf({ kind: 'k' }) };
  const metrics = [{ name: 'up', gauge: { dataPoints: [at(0, 1)] } }];
  const request = { resourceMetrics: [{ scopeMetrics: [{ scope, metrics }] }] };
  const labels = 'otel_scope_kind="k",otel_scope_name="lib",otel_scope_version="2"';
  const withLabels = await openOtlpMetrics({ otlpScope: 'labels' }).decode(request);
  assert.deepEqual(valuesOf(withLabels), { [`up{${labels}}`]: 1 });
  assert.deepEqual(valuesOf(await openOtlpMetrics().decode(request)), { up: 1 });
});

test('adds deltas up from zero, stores a repeated one again and rejects a late one', async () => {
  const otlp = openOtlpMetrics();
  const delta = async (...points: NumberPoint[]) => {
    const batch = await otlp.decode(requestOf([sum(points, temporality.delta)]));
    const samples = samplesOf(batch).map(({ timeMs, value }) => [timeMs - nowMs, value]);
    return { samples, reasons: [...batch.rejectedByReason.keys()], warnings: batch.warnings };
  };
  const late = 'delta point older than the last of its series';
  assert.deepEqual((await delta(at(10, 5), at(20, 7, 10))).samples, [
    [1, 0],
    [10_000, 5],
    [20_000, 12],
  ]);
  assert.deepEqual((await delta(at(20, 7, 10))).samples, [[20_000, 12]]);
  assert.deepEqual(await delta(at(10, 5)), { samples: [], reasons: [late], warnings: new Map() });
  const overlapping = await delta(at(30, 1, 15));
  assert.deepEqual(overlapping.samples, [[30_000, 13]]);
  assert.deepEqual([...(overlapping.warnings?.values() ?? [])], [1]);
});

test('keeps each delta as a separate counter where totals are off', async () => {
  const otlp = openOtlpMetrics({ otlpMaxDeltaSeries: 0 });
  const points = [at(10, 5), at(20, 7, 10)];
  const batch = await otlp.decode(requestOf([sum(points, temporality.delta)]));
  assert.deepEqual(
    samplesOf(batch).map(({ timeMs, value }) => [timeMs - nowMs, value]),
    [
      [1, 0],
      [10_000, 5],
      [10_001, 0],
      [20_000, 7],
    ],
  );
});

test('adds up deltas of histograms bucket by bucket', async () => {
  const otlp = openOtlpMetrics();
  const point = { count: '2', bucketCounts: ['1', '1'], explicitBounds: [1] };
  const next = { ...point, startTimeUnixNano: nanos(9), timeUnixNano: nanos(18) };
  await otlp.decode(requestOf([histogram(point, temporality.delta)]));
  const batch = await otlp.decode(requestOf([histogram(next, temporality.delta)]));
  assert.deepEqual(valuesOf(batch), {
    took_seconds_count: 4,
    'took_seconds_bucket{le="1.0"}': 2,
    'took_seconds_bucket{le="+Inf"}': 4,
  });
});

test('marks a point without a recorded value as the end of its series', async () => {
  const point = { timeUnixNano: nanos(1), flags: 1 };
  const batch = await openOtlpMetrics().decode(
    requestOf([{ name: 'up', gauge: { dataPoints: [point] } }]),
  );
  const [sample] = readMetricRows(batch.payload).samples;
  assert.equal(sample?.valueBits, 0x7ff0_0000_0000_0002n);
});

test('stores a point without a time at the time of receipt, with a warning', async () => {
  const batch = await openOtlpMetrics().decode(
    requestOf([{ name: 'up', gauge: { dataPoints: [{ asInt: '1' }] } }]),
  );
  assert.deepEqual(samplesOf(batch), [{ series: 'up', timeMs: nowMs, value: 1 }]);
  assert.equal(batch.warnings?.size, 1);
});

test('rejects invalid points one by one with their reasons', async () => {
  const { unspecified, cumulative } = temporality;
  const bad = { count: '1', bucketCounts: ['1'], explicitBounds: [1, 2] };
  const scale = { timeUnixNano: nanos(1), count: '0', scale: -5 };
  const batch = await openOtlpMetrics().decode(
    requestOf([
      { name: 'ok', gauge: { dataPoints: [at(1, 1)] } },
      sum([at(1, 1)], unspecified),
      { name: '…', gauge: { dataPoints: [at(1, 1)] } },
      { name: 'empty', gauge: { dataPoints: [{ timeUnixNano: nanos(1) }] } },
      histogram(bad, cumulative),
      {
        name: 'wide',
        exponentialHistogram: { dataPoints: [scale], aggregationTemporality: cumulative },
      },
      {
        name: 'key',
        gauge: { dataPoints: [{ ...at(1, 1), attributes: attributesOf({ '.': 'x' }) }] },
      },
    ]),
  );
  assert.deepEqual(valuesOf(batch), { ok: 1 });
  assert.deepEqual(
    batch.rejected.map(({ index, reason }) => `${index} ${reason}`),
    [
      '1 neither cumulative nor delta: metric "hits_total"',
      '2 no metric name',
      '3 data point without a value: metric "empty"',
      '4 bad histogram: metric "took_seconds", 1 bucket counts for 2 bounds',
      '5 bad histogram: metric "wide", its scale -5 is below -4',
      '6 attribute key that cannot name a label: metric "key"',
    ],
  );
});

test('refuses JSON that is not well formed, too deep, or of no object', async () => {
  const otlp = openOtlpMetrics();
  for (const text of ['', '[]', '{"resourceMetrics":[', `{"a":${'['.repeat(2000)}`, '{} x']) {
    await assert.rejects(
      otlp.decodeBody(Buffer.from(text), 'json'),
      (error) => error instanceof AppError && error.code === 'malformed',
      text.slice(0, 30),
    );
  }
});

test('refuses more resources, scopes or metrics than data points', async () => {
  const otlp = openOtlpMetrics();
  const lists = {
    resources: (items: string) => `{"resourceMetrics":[${items}]}`,
    scopes: (items: string) => `{"resourceMetrics":[{"scopeMetrics":[${items}]}]}`,
    metrics: (items: string) => `{"resourceMetrics":[{"scopeMetrics":[{"metrics":[${items}]}]}]}`,
  };
  for (const [what, listOf] of Object.entries(lists)) {
    const listed = (count: number) => Buffer.from(listOf(Array(count).fill('{}').join(',')));
    assert.equal((await otlp.decodeBody(listed(200_000), 'json')).rows, 0);
    await assert.rejects(
      otlp.decodeBody(listed(200_001), 'json'),
      (error) => error instanceof AppError && error.code === 'too_large',
      what,
    );
  }
});

test('names a list of another signal in a warning', async () => {
  const body = Buffer.from('{"resourceLogs":[{}]}');
  const batch = await openOtlpMetrics().decodeBody(body, 'json');
  assert.match([...(batch.warnings?.keys() ?? [])].join(), /this address takes metrics/);
});
