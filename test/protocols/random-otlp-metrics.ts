/** Random OTLP metrics requests of all kinds, most of them valid. */
import fc from 'fast-check';
import type { KeyValue } from './otlp-proto.ts';
import {
  type Exemplar,
  type ExponentialPoint,
  type HistogramPoint,
  type Metric,
  type MetricsRequest,
  type NumberPoint,
  type SummaryPoint,
  temporality,
} from './otlp-metrics.ts';

const startNanos = 1_700_000_000_000_000_000n;
const names = ['requests', 'http.server.duration', 'free_ratio', 'q_total', 'π/λ', '1st', 'a b__c'];
const units = [
  '',
  '1',
  's',
  'ms',
  'By',
  'By/s',
  '{request}',
  '{request}/min',
  '%',
  'foo.bar',
  'm/s',
];
const keys = ['http.method', 'http_method', 'a', '_b', '2xx', 'le', 'host.name', 'job', 'ключ'];

const time = fc
  .bigInt({ min: 0n, max: 600_000_000_000n })
  .map((nanos) => String(startNanos + nanos));
const count = fc.nat(1000).map(String);
const number = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.integer({ min: -1000, max: 1000 }),
  fc.constantFrom(Number.POSITIVE_INFINITY, Number.NaN),
);
const anyValue = fc.oneof(
  fc.string().map((stringValue) => ({ stringValue })),
  fc.boolean().map((boolValue) => ({ boolValue })),
  fc.integer().map((value) => ({ intValue: String(value) })),
  fc.constantFrom(1.5, 100, 0).map((doubleValue) => ({ doubleValue })),
);
const attributes: fc.Arbitrary<KeyValue[]> = fc.uniqueArray(
  fc.record({ key: fc.constantFrom(...keys), value: anyValue }),
  { maxLength: 4, selector: ({ key }) => key },
);

const exemplar: fc.Arbitrary<Exemplar> = fc.record(
  {
    timeUnixNano: time,
    asDouble: fc.integer({ min: -5, max: 50 }),
    traceId: fc.constantFrom(
      '0af7651916cd43dd8448eb211c80319c',
      '00000000000000000000000000000000',
    ),
    spanId: fc.constantFrom('b7ad6b7169203331'),
    filteredAttributes: attributes,
  },
  { requiredKeys: ['timeUnixNano', 'asDouble'] },
);
const exemplars = fc.array(exemplar, { maxLength: 3 });
const shared = {
  startTimeUnixNano: fc.constant(String(startNanos - 1n)),
  timeUnixNano: time,
  attributes,
  flags: fc.constantFrom(0, 0, 0, 1),
};

const numberPoint: fc.Arbitrary<NumberPoint> = fc.oneof(
  fc.record({ ...shared, asDouble: number, exemplars }),
  fc.record({ ...shared, asInt: fc.maxSafeInteger().map(String), exemplars }),
);
const histogramPoint: fc.Arbitrary<HistogramPoint> = fc
  .tuple(
    fc.record({ ...shared, count, exemplars }),
    fc.uniqueArray(fc.constantFrom(-1.5, 0, 0.005, 1, 2.5, 10, 1e6, 1e21, 5e-7)),
    fc.option(number, { nil: undefined }),
    fc.infiniteStream(count),
  )
  .map(([point, bounds, sum, counts]) => ({
    ...point,
    ...(sum === undefined ? {} : { sum }),
    explicitBounds: bounds.toSorted((a, b) => a - b),
    bucketCounts: bounds.length === 0 ? [] : [...counts.take(bounds.length + 1)],
  }));
const buckets = fc.record({
  offset: fc.integer({ min: -2000, max: 2000 }),
  bucketCounts: fc.array(fc.constantFrom('0', '0', '1', '7', '300'), { maxLength: 30 }),
});
const exponentialPoint: fc.Arbitrary<ExponentialPoint> = fc
  .record({
    ...shared,
    sum: number,
    scale: fc.integer({ min: -4, max: 20 }),
    zeroCount: count,
    positive: buckets,
    negative: buckets,
    exemplars,
  })
  .map((point) => {
    const counts = [
      point.zeroCount,
      ...point.positive.bucketCounts,
      ...point.negative.bucketCounts,
    ];
    return { ...point, count: String(counts.reduce((sum, one) => sum + Number(one), 0)) };
  });
const summaryPoint: fc.Arbitrary<SummaryPoint> = fc.record({
  ...shared,
  count,
  sum: number,
  quantileValues: fc.uniqueArray(
    fc.record({ quantile: fc.constantFrom(0, 0.5, 0.99, 1), value: number }),
    { selector: ({ quantile }) => quantile },
  ),
});

const pointsOf = <Point>(point: fc.Arbitrary<Point>) =>
  fc.array(point, { minLength: 1, maxLength: 3 });

/** @param temporalities of sums and histograms */
export function metricsRequests(temporalities: readonly number[]): fc.Arbitrary<MetricsRequest> {
  const aggregationTemporality = fc.constantFrom(...temporalities);
  const metric: fc.Arbitrary<Metric> = fc
    .tuple(
      fc.record({
        name: fc.constantFrom(...names),
        unit: fc.constantFrom(...units),
        description: fc.string(),
      }),
      fc.oneof(
        fc.record({ gauge: fc.record({ dataPoints: pointsOf(numberPoint) }) }),
        fc.record({
          sum: fc.record({
            dataPoints: pointsOf(numberPoint),
            aggregationTemporality,
            isMonotonic: fc.boolean(),
          }),
        }),
        fc.record({
          histogram: fc.record({ dataPoints: pointsOf(histogramPoint), aggregationTemporality }),
        }),
        fc.record({
          exponentialHistogram: fc.record({
            dataPoints: pointsOf(exponentialPoint),
            aggregationTemporality,
          }),
        }),
        fc.record({ summary: fc.record({ dataPoints: pointsOf(summaryPoint) }) }),
      ),
    )
    .map(([head, data]) => ({ ...head, ...data }));
  const scope = fc.record({
    name: fc.constantFrom('', 'lib'),
    version: fc.constantFrom('', '1.2'),
    attributes,
  });
  const identity = fc.subarray([
    { key: 'service.name', value: { stringValue: 'shop' } },
    { key: 'service.namespace', value: { stringValue: 'eu' } },
    { key: 'service.instance.id', value: { stringValue: 'pod-1' } },
  ]);
  const resource = fc
    .tuple(identity, attributes)
    .map(([own, others]) => ({ attributes: [...own, ...others] }));
  const scopeMetrics = fc.record({
    scope,
    metrics: fc.array(metric, { maxLength: 3 }),
    schemaUrl: fc.constantFrom('', 'https://opentelemetry.io/schemas/1.26.0'),
  });
  return fc.record({
    resourceMetrics: fc.array(
      fc.record({ resource, scopeMetrics: fc.array(scopeMetrics, { maxLength: 2 }) }),
      { maxLength: 2 },
    ),
  });
}

export const allTemporalities = Object.values(temporality);
