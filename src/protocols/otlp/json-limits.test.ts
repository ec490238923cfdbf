/** OTLP JSON of one record is bounded before the reader of protobuf refuses it. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { openOtlpMetrics } from '../../../test/protocols/otlp-metric-rows.ts';
import type { MetricsRequest } from '../../../test/protocols/otlp-metrics.ts';
import {
  type AnyValue,
  encodeLogsRequest,
  type LogRecord,
} from '../../../test/protocols/otlp-proto.ts';
import { jsonRequestOf } from '../../../test/protocols/otlp-rows.ts';
import { createLogsDecoder, readJsonLogs } from './otlp-logs.ts';
import { type RewriteLimits, toProtobuf } from './json-to-protobuf.ts';
import { WarningCounts } from './log-record.ts';
import { logsRequest, type Message, metricsRequest } from './messages.ts';
import { readProtobufLogs } from './protobuf-logs.ts';

const limits = { maxEvents: 1000, maxDepth: 64, maxRejections: 3 };
const mebibyte = 1024 * 1024;
const decoder = createLogsDecoder();

const logLimits = { maxDepth: 64, maxMessageBytes: 16 * mebibyte, maxElements: 100_000 };
const metricLimits = { maxDepth: 64, maxMessageBytes: mebibyte / 4, maxElements: Infinity };

function rewrittenBytes(json: string, request: Message, options: RewriteLimits): number {
  const slices = toProtobuf(Buffer.from(json), request, new WarningCounts(), options);
  for (;;) {
    const { done, value } = slices.next();
    if (done === true) return value.length;
  }
}

const repeat = (text: string, times: number) => Array(times).fill(text).join();
const arrayOf = (length: number, value: AnyValue = {}): AnyValue => ({
  arrayValue: { values: Array<AnyValue>(length).fill(value) },
});
const mapOf = (length: number): AnyValue => ({
  kvlistValue: { values: Array(length).fill({}) },
});
const textOf = (stringValue: string): AnyValue => ({ stringValue });

describe('a record between good ones gets the answer of protobuf', () => {
  const large = arrayOf(100_001);
  const small = { key: 'small', value: textOf('x') };
  const thousand = Array.from({ length: 1000 }, (_, i) => ({ key: `${i}` }));
  const cases: [name: string, record: LogRecord, rejected: number][] = [
    ['elements up to the limit', { body: mapOf(100_000) }, 0],
    ['elements of one array', { body: arrayOf(300_000) }, 1],
    ['elements of one map', { body: mapOf(300_000) }, 1],
    ['elements of nested arrays', { body: arrayOf(200_000, arrayOf(2)) }, 1],
    [
      'elements of several attributes',
      { attributes: Array.from('abcdef', (key) => ({ key, value: arrayOf(40_000) })) },
      1,
    ],
    ['elements before attributes', { attributes: [{ key: 'a', value: large }, small] }, 1],
    [
      'elements of attributes that are left out',
      { attributes: [...thousand, { key: 'a', value: large }], body: arrayOf(3) },
      0,
    ],
    ['a text of too many bytes', { body: textOf('x'.repeat(17 * mebibyte)), eventName: 'x' }, 1],
  ];
  for (const [name, record, rejected] of cases) {
    test(name, async () => {
      const logRecords = [{ eventName: 'first' }, record, { attributes: [small] }];
      const logs = { resourceLogs: [{ scopeLogs: [{ logRecords }] }] };
      const ofProtobuf = await decoder(encodeLogsRequest(logs), readProtobufLogs, limits);
      const ofJson = await decoder(Buffer.from(JSON.stringify(logs)), readJsonLogs, limits);
      assert.equal(ofJson.rejectedCount, rejected);
      assert.deepEqual(ofJson.rejected, ofProtobuf.rejected);
      assert.deepEqual(ofJson.warnings, ofProtobuf.warnings);
      assert.equal(ofJson.rows, ofProtobuf.rows);
      assert.equal(Buffer.compare(ofJson.payload, ofProtobuf.payload), 0);
    });
  }
});

describe('elements that the reader does not count', () => {
  const large = `"arrayValue":{"values":[${repeat('0', 200_000)}]}`;
  const cases: [name: string, record: string, equal: string][] = [
    [
      'of a value before the last one of an AnyValue',
      `{"body":{${large},"stringValue":"x"}}`,
      '{"body":{"stringValue":"x"}}',
    ],
    [
      'of such a value of an element',
      `{"body":{"arrayValue":{"values":[{${large},"intValue":1},{"intValue":2}]}}}`,
      '{"body":{"arrayValue":{"values":[{"intValue":1},{"intValue":2}]}}}',
    ],
    [
      'of a repeated value of an attribute',
      `{"attributes":[{"key":"a","value":{${large}},"value":{"intValue":1}},{"key":"b"}]}`,
      '{"attributes":[{"key":"a","value":{"intValue":1}},{"key":"b"}]}',
    ],
    [
      'of an attribute after a time that became one',
      `{"timeUnixNano":"x","attributes":[${repeat('{"key":"a"}', 999)},{"value":{${large}}}],` +
        '"body":{"arrayValue":{"values":[{},{}]}}}',
      `{"timeUnixNano":"x","attributes":[${repeat('{"key":"a"}', 999)},{}],` +
        '"body":{"arrayValue":{"values":[{},{}]}}}',
    ],
  ];
  for (const [name, record, equal] of cases) {
    test(name, async () => {
      const [batch, expected] = await Promise.all(
        [record, equal].map(async (json) =>
          decoder(Buffer.from(jsonRequestOf(json)), readJsonLogs, limits),
        ),
      );
      assert.deepEqual([batch!.rows, batch!.rejectedCount], [1, 0]);
      assert.equal(Buffer.compare(batch!.payload, expected!.payload), 0);
    });
  }

  test('a refused or absent value does not undo the elements before it', async () => {
    for (const last of ['"stringValue":5', '"stringValue":null', '"stringValueStrindex":1']) {
      const json = jsonRequestOf(`{"body":{${large},${last}}},{}`);
      const batch = await decoder(Buffer.from(json), readJsonLogs, limits);
      assert.deepEqual([batch.rows, batch.rejectedCount], [1, 1]);
      assert.match(batch.rejected[0]!.reason, /more than 100000 elements/);
    }
  });
});

describe('bounds the bytes of protobuf', () => {
  const values = (list: string) => `{"body":{"arrayValue":{"values":[${list}]}}}`;
  const written = (json: string) => rewrittenBytes(json, logsRequest, logLimits);
  const kibibyte = 1024;

  test('of a log record with too many elements', () => {
    for (const element of ['0', '{}', 'null', '""', '{"intValue":1}', '[0]']) {
      const json = jsonRequestOf(values(repeat(element, 1_000_000)));
      assert.ok(written(json) < 10 * 100_001 + kibibyte, element);
    }
  });

  test('of a log record with too many elements in all its attributes', () => {
    const attribute = `{"key":"a","value":${values(repeat('0', 50_000)).slice(8, -1)}}`;
    const json = jsonRequestOf(`{"attributes":[${repeat(attribute, 40)}]}`);
    assert.ok(written(json) < 2 * 100_001 + 4 * kibibyte);
  });

  test('of many small log records to those of the JSON', () => {
    for (const record of [values(repeat('0', 1000)), '{}', '{"body":{"arrayValue":{}}}']) {
      const json = jsonRequestOf(repeat(record, 900));
      assert.ok(written(json) <= json.length, record.slice(0, 50));
    }
  });

  test('of attributes that are left out', () => {
    const attributes = repeat(`{"value":${values(repeat('0', 50_000)).slice(8, -1)}}`, 20);
    const full = `${repeat('{"key":"a"}', 1000)},${attributes}`;
    const times = repeat('"observedTimeUnixNano":"x"', 10_000);
    const json = jsonRequestOf(`{"attributes":[${full}]},{${times}}`);
    assert.ok(written(json) < 2 * 100_001 + 1000 * 5 + 1000 * 40 + 2 * 10_000);
  });

  test('of a data point', () => {
    const zeros = repeat('0', 1_000_000);
    const points = [
      `{"attributes":[{"key":"a","value":${values(zeros).slice(8, -1)}}]}`,
      `{"attributes":[${repeat('{"key":"a"}', 300_000)}]}`,
      `{"explicitBounds":[${zeros}]}`,
      `{"bucketCounts":[${zeros}]}`,
      `{"exemplars":[${repeat('{}', 300_000)}]}`,
    ];
    for (const point of points) {
      const histogram = `{"name":"a","histogram":{"dataPoints":[${point}]}}`;
      const json = `{"resourceMetrics":[{"scopeMetrics":[{"metrics":[${histogram}]}]}]}`;
      const bytes = rewrittenBytes(json, metricsRequest, metricLimits);
      assert.ok(bytes < 257 * kibibyte, point.slice(0, 50));
    }
  });
});

describe('a data point between good ones gets the answer of protobuf', () => {
  const point = { timeUnixNano: '1700000000000000000', asDouble: 1 };
  const labels = (value: AnyValue) => [{ key: 'a', value }];
  const bodies = {
    'with elements beyond the limit': { ...point, attributes: labels(arrayOf(110_000)) },
    'of too many bytes': { ...point, attributes: labels(arrayOf(300_000)) },
    'with many attributes': { ...point, attributes: Array(20_000).fill({ key: 'a' }) },
    'of too many bytes of attributes that are left out': {
      ...point,
      attributes: Array(50_000).fill({ key: 'abcdef' }),
    },
  };
  for (const [name, large] of Object.entries(bodies)) {
    test(name, async () => {
      const dataPoints = [{ ...point, attributes: labels(textOf('x')) }, large, point];
      const request = {
        resourceMetrics: [{ scopeMetrics: [{ metrics: [{ name: 'm', gauge: { dataPoints } }] }] }],
      } as MetricsRequest;
      const [ofJson, ofProtobuf] = await Promise.all([
        openOtlpMetrics().decode(request, 'json'),
        openOtlpMetrics().decode(request, 'protobuf'),
      ]);
      assert.deepEqual(ofJson, ofProtobuf);
    });
  }
});
