/** Bombs in OTLP metrics. */
import { bytesField, doubleField, text, varint, varintField } from '../harness/proto-wire.ts';
import {
  type Bomb,
  emptyMessage,
  gzipBomb,
  jsonAround,
  largeBytes,
  mebibyte,
  nestedValue,
  repeated,
} from './payloads.ts';
import type { Sent } from './send.ts';

const inJson = (body: Buffer): Sent => ({
  way: 'otlp metrics',
  headers: { 'content-type': 'application/json' },
  body,
});
const inProtobuf = (body: Buffer, coding?: string): Sent => ({
  way: 'otlp metrics',
  headers: {
    'content-type': 'application/x-protobuf',
    ...(coding !== undefined && { 'content-encoding': coding }),
  },
  body,
});

const dataFields = { gauge: 5, sum: 7, histogram: 9, exponential: 10 } as const;
const cumulative = varintField(2, 2n);
const attributesFields = { gauge: 7, sum: 7, histogram: 9, exponential: 1 } as const;

/** A request with one metric. @param points fields of its data */
function inMetric(kind: keyof typeof dataFields, points: Buffer): Buffer {
  const data = bytesField(dataFields[kind], Buffer.concat([points, cumulative]));
  return bytesField(1, bytesField(2, bytesField(2, Buffer.concat([text(1, 'bomb'), data]))));
}

/** `as_double` or `count`, and `time_unix_nano`. */
const head = Buffer.concat([doubleField(3, 1_790_000_000_000_000_000n), doubleField(4, 1n)]);

function attribute(kind: keyof typeof dataFields, key: string, value: string): Buffer {
  const entry = Buffer.concat([text(1, key), bytesField(2, text(1, value))]);
  return bytesField(attributesFields[kind], entry);
}

/** Empty messages at one level of a request. */
function manyEmpty(fields: readonly number[]): Buffer {
  const [last, ...outer] = fields.toReversed();
  let body = repeated(emptyMessage(last!), largeBytes);
  for (const field of outer) body = bytesField(field, body);
  return body;
}

const levels: readonly (readonly [what: string, fields: readonly number[]])[] = [
  ['resources', [1]],
  ['scopes', [1, 2]],
  ['metrics', [1, 2, 2]],
  ['data points', [1, 2, 2, 5, 1]],
];

const inJsonPoint = '{"resourceMetrics":[{"scopeMetrics":[{"metrics":[{"gauge":{"dataPoints":[';

export const otlpMetricBombs: readonly Bomb[] = [
  {
    name: 'OTLP metrics in a gzip of 16 MiB that becomes 16 GiB',
    expected: [413],
    make: () => inProtobuf(gzipBomb(16 * mebibyte - 1), 'gzip'),
  },
  ...levels.map(
    ([what, fields]): Bomb => ({
      name: `OTLP metrics of 32 million ${what}`,
      expected: [200, 413],
      make: () => inProtobuf(manyEmpty(fields)),
    }),
  ),
  ...(['attributes', 'exemplars'] as const).map(
    (what): Bomb => ({
      name: `data points of 120,000 ${what} each, 30 million in all`,
      expected: [200],
      make: () => {
        const field = { attributes: 7, exemplars: 5 }[what];
        const point = Buffer.concat([head, repeated(emptyMessage(field), 240_000)]);
        const points = repeated(bytesField(1, point), largeBytes - 1024);
        return inProtobuf(inMetric('sum', points));
      },
    }),
  ),
  {
    name: 'OTLP metrics in JSON of five million data points',
    expected: [413],
    make: () => inJson(jsonAround(inJsonPoint, '{},', '{}]}}]}]}]}', 16 * mebibyte - 200)),
  },
  {
    name: 'OTLP metrics in JSON nested a million deep',
    expected: [400],
    make: () => {
      const before = `${inJsonPoint}{"attributes":[{"value":`;
      return inJson(jsonAround(before, '{"arrayValue":{"values":[', '', 15 * mebibyte));
    },
  },
  {
    name: 'a data point with an attribute nested ten thousand deep',
    expected: [200, 400],
    make: () => {
      const deep = bytesField(7, Buffer.concat([text(1, 'a'), bytesField(2, nestedValue(10_000))]));
      return inProtobuf(inMetric('gauge', bytesField(1, Buffer.concat([head, deep]))));
    },
  },
  {
    name: 'a hundred thousand new series with long attributes in OTLP metrics',
    expected: [200],
    make: () => {
      const points = Array.from({ length: 100_000 }, (_, n) => {
        const own = attribute('gauge', 'n', String(n).padStart(200, 'x'));
        return bytesField(1, Buffer.concat([head, own]));
      });
      return inProtobuf(inMetric('gauge', Buffer.concat(points)));
    },
  },
  {
    // The limit of series is met before that of rows.
    name: 'histograms of a thousand buckets each, four million in all',
    isHeavy: true,
    expected: [200],
    make: () => {
      const bounds = Buffer.alloc(8 * 1000);
      for (let n = 0; n < 1000; n += 1) bounds.writeDoubleLE(n, 8 * n);
      const counts = Buffer.alloc(8 * 1001);
      const lists = Buffer.concat([bytesField(6, counts), bytesField(7, bounds)]);
      const points = Array.from({ length: 4000 }, (_, n) => {
        const own = attribute('histogram', 'n', String(n));
        return bytesField(1, Buffer.concat([head, lists, own]));
      });
      return inProtobuf(inMetric('histogram', Buffer.concat(points)));
    },
  },
  {
    name: 'exponential histograms of 250,000 buckets each, 60 million in all',
    isHeavy: true,
    expected: [200],
    make: () => {
      const buckets = 250_000;
      const counts = bytesField(2, Buffer.alloc(buckets, 1));
      const count = doubleField(4, BigInt(buckets));
      const points = Array.from({ length: 240 }, (_, n) => {
        const own = attribute('exponential', 'n', String(n));
        const time = doubleField(3, 1_790_000_000_000_000_000n);
        return bytesField(1, Buffer.concat([time, count, bytesField(8, counts), own]));
      });
      return inProtobuf(inMetric('exponential', Buffer.concat(points)));
    },
  },
  {
    name: 'exponential histograms with buckets at the ends of the range of an offset',
    expected: [200],
    make: () => {
      const points = [2n ** 31n - 1n, -(2n ** 31n)].map((offset) => {
        const at = Buffer.concat([Buffer.from([0x08]), varint((offset << 1n) ^ (offset >> 63n))]);
        const side = bytesField(8, Buffer.concat([at, bytesField(2, Buffer.from([1]))]));
        return bytesField(1, Buffer.concat([head, side]));
      });
      return inProtobuf(inMetric('exponential', Buffer.concat(points)));
    },
  },
];
