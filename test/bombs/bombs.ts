/**
 * Requests that are cheap to send and expensive to process, for each protocol, with the expected
 * answer.
 */
import { gzipSync } from 'node:zlib';
import { compressSync } from 'snappy';
import { bytesField, varint } from '../harness/proto-wire.ts';
import { journalBombs } from './journal-bombs.ts';
import { lineBombs } from './line-bombs.ts';
import { otlpMetricBombs } from './otlp-metric-bombs.ts';
import {
  type Bomb,
  emptyMessage,
  framed,
  gzipBomb,
  inRecord,
  jsonAround,
  label,
  largeBytes,
  largeResource,
  linesOf,
  manyEmpty,
  mebibyte,
  nestedValue,
  repeated,
  series,
} from './payloads.ts';
import type { Sent, Way } from './send.ts';

const types = {
  json: { 'content-type': 'application/json' },
  protobuf: { 'content-type': 'application/x-protobuf' },
  text: { 'content-type': 'text/plain' },
} as const;

const to = (way: Way, type: keyof typeof types, body: Buffer): Sent => ({
  way,
  headers: types[type],
  body,
});

const inGzip = (type: 'json' | 'protobuf', body: Buffer): Sent => ({
  way: 'otlp',
  headers: { ...types[type], 'content-encoding': 'gzip' },
  body,
});

/** @param body a snappy block, valid or not. */
const inSnappy = (body: Buffer): Sent => ({
  way: 'write',
  headers: { ...types.protobuf, 'content-encoding': 'snappy' },
  body,
});

const writeRequest = (message: Buffer): Sent => inSnappy(compressSync(message));

const inJsonRecord = '{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"body":';

const inflating: readonly Bomb[] = [
  {
    name: 'gzip of 16 MiB that becomes 16 GiB, as protobuf',
    isHeavy: true,
    expected: [413],
    make: () => inGzip('protobuf', gzipBomb(16 * mebibyte - 1)),
  },
  {
    name: 'gzip of 16 MiB that becomes 16 GiB, as JSON',
    expected: [413],
    make: () => inGzip('json', gzipBomb(16 * mebibyte - 1)),
  },
  {
    name: 'gzip of 1 KiB that becomes 1 MiB of spaces, in JSON',
    expected: [200],
    make: () => inGzip('json', gzipSync(jsonAround('{', ' ', '}', mebibyte))),
  },
  {
    name: 'gzip in gRPC that becomes 16 GiB',
    expected: [8],
    make: () => {
      const bomb = gzipBomb(16 * mebibyte - 1);
      const headers = { 'grpc-encoding': 'gzip' };
      return { way: 'grpc', headers, body: framed(1, bomb.length, bomb) };
    },
  },
  {
    name: 'gRPC frame that says 4 GiB',
    expected: [3, 8],
    make: () => ({ way: 'grpc', headers: {}, body: framed(0, 2 ** 32 - 1, Buffer.alloc(100)) }),
  },
  {
    name: 'snappy block that says 4 GiB',
    expected: [413],
    make: () => inSnappy(Buffer.concat([varint(2n ** 32n - 1n), Buffer.alloc(1000)])),
  },
  {
    name: 'snappy block that says 64 MiB and holds nothing',
    expected: [400],
    make: () => inSnappy(Buffer.concat([varint(64n * 2n ** 20n), Buffer.alloc(1000)])),
  },
  {
    name: 'snappy block that becomes 64 MiB of empty series',
    expected: [204],
    make: () => writeRequest(repeated(emptyMessage(1), 64 * mebibyte)),
  },
];

const nested: readonly Bomb[] = [
  {
    name: 'JSON logs nested 5 million deep',
    expected: [400],
    make: () => to('json', 'json', repeated('[', 10 * mebibyte)),
  },
  {
    name: 'OTLP JSON nested a million deep',
    expected: [400],
    make: () => {
      const open = '{"arrayValue":{"values":[';
      return to('otlp', 'json', jsonAround(inJsonRecord, open, '', 15 * mebibyte));
    },
  },
  {
    name: 'AnyValue nested ten thousand deep',
    expected: [200, 400],
    make: () => to('otlp', 'protobuf', inRecord(bytesField(5, nestedValue(10_000)))),
  },
  {
    name: 'groups nested 32 million deep',
    expected: [400],
    make: () => to('otlp', 'protobuf', repeated(Buffer.from([0x5b]), largeBytes)),
  },
];

const many: readonly Bomb[] = [
  {
    name: 'JSON logs of three million {}',
    expected: [413],
    make: () => to('json', 'json', jsonAround('[', '{},', '{}]', 10 * mebibyte - 10)),
  },
  {
    name: 'a label of three million {}',
    expected: [202],
    make: () => {
      const before = '{"message":"bomb","labels":{"a":[';
      return to('json', 'json', jsonAround(before, '{},', '{}]}}', 10 * mebibyte - 100));
    },
  },
  {
    name: 'OTLP JSON of five million resources',
    expected: [200],
    make: () => {
      const body = jsonAround('{"resourceLogs":[', '{},', '{}]}', 16 * mebibyte - 100);
      return to('otlp', 'json', body);
    },
  },
  {
    name: 'OTLP JSON of five million values in a list of keys',
    expected: [200, 413],
    make: () => {
      const before = `${inJsonRecord}{"kvlistValue":{"values":[`;
      const body = jsonAround(before, '{},', '{}]}}}]}]}]}', 16 * mebibyte - 200);
      return to('otlp', 'json', body);
    },
  },
  ...['resources', 'scopes', 'records', 'attributes', 'values'].map(
    (what, depth): Bomb => ({
      name: `OTLP protobuf of 32 million ${what}`,
      expected: [200, 413],
      make: () => to('otlp', 'protobuf', manyEmpty(depth)),
    }),
  ),
  {
    name: 'records that each repeat a resource of 300 KiB',
    isHeavy: true,
    expected: [413],
    make: () => to('otlp', 'protobuf', largeResource(300 * 1024, 200_000)),
  },
  {
    name: 'records of 32 KiB in all that would be 60 MiB of rows',
    expected: [413],
    make: () => to('otlp', 'protobuf', largeResource(5 * 1024, 12_000)),
  },
  {
    name: 'records of 20 KiB in all that become 30 MiB of rows',
    isHeavy: true,
    expected: [200],
    make: () => to('otlp', 'protobuf', largeResource(5 * 1024, 6000)),
  },
  {
    name: 'text of four million lines',
    expected: [413],
    make: () =>
      to(
        'push',
        'text',
        linesOf((line) => `bomb${line} 1\n`),
      ),
  },
  {
    name: 'text of a hundred thousand new series with long labels',
    expected: [202],
    make: () =>
      to(
        'push',
        'text',
        linesOf((line) => `bomb{a="${`${line}`.padStart(140, 'x')}"} 1\n`),
      ),
  },
  {
    name: 'text of a line of 16 MiB',
    expected: [400],
    make: () => to('push', 'text', jsonAround('bomb{a="', 'x', '"} 1\n', 16 * mebibyte - 100)),
  },
  {
    name: 'a series with a hundred thousand labels',
    expected: [400],
    make: () => {
      const labels = Array.from({ length: 100_000 }, (_, n) => label(`label${n}`, 'x'));
      return writeRequest(series(...labels));
    },
  },
  {
    name: 'a label of 60 MiB',
    expected: [400],
    make: () => writeRequest(series(label('a', 'x'.repeat(60 * mebibyte)))),
  },
  {
    name: 'two hundred thousand new series',
    expected: [204],
    make: () => {
      const all = Array.from({ length: 199_000 }, (_, n) => {
        return series(label('n', String(n)), label('a', 'x'.repeat(220)));
      });
      return writeRequest(Buffer.concat(all));
    },
  },
];

export const bombs: readonly Bomb[] = [
  ...inflating,
  ...nested,
  ...many,
  ...lineBombs,
  ...otlpMetricBombs,
  ...journalBombs,
];
