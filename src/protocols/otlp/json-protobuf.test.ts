/** Equality of rows from JSON and protobuf. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { writeLogsJson } from '../../../test/protocols/otlp-json.ts';
import {
  type AnyValue,
  encodeLogsRequest,
  type KeyValue,
  type LogsRequest,
} from '../../../test/protocols/otlp-proto.ts';
import { readLogRows } from '../../../test/protocols/read-log-rows.ts';
import type { Batch } from '../../model/batch.ts';
import { createLogsDecoder, readJsonLogs, type ReadLogs } from './otlp-logs.ts';
import { readProtobufLogs } from './protobuf-logs.ts';

const limits = { maxEvents: 1000, maxDepth: 64, maxRejections: 3 };
const decoder = createLogsDecoder();

function decodeNow(body: Buffer, open: ReadLogs): Batch {
  const batch = decoder(body, open, limits);
  assert.ok(!(batch instanceof Promise));
  return batch;
}

const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });
const text = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.string({ unit: 'binary-ascii' }),
  fc.constantFrom('', '\0', '"\\/\b\f\n\r\t', '\u2028', 'ΐ', '😀'),
);
const int64 = fc.oneof(
  fc.bigInt({ min: -(1n << 63n), max: (1n << 63n) - 1n }),
  fc.constantFrom(0n, -1n, 10n ** 18n, -(10n ** 15n), (1n << 63n) - 1n, -(1n << 63n)),
);
const uint32 = fc.oneof(fc.nat(3), fc.constantFrom(255, 256, 2 ** 31, 2 ** 32 - 1));
const double = fc.oneof(
  fc.double(),
  fc.integer().map((n) => n / 1000),
  fc.constantFrom(0, -0, 0.000001, 0.0000001, 1e21, 123456789012345, 0.1 + 0.2, 5e-324),
);

const { value, entry } = fc.letrec<{ value: AnyValue; entry: KeyValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, depthSize: 'small' },
    fc.oneof(
      fc.record({ stringValue: text }),
      fc.record({ boolValue: fc.boolean() }),
      fc.record({ intValue: int64.map(String) }),
      fc.record({ doubleValue: double }),
      fc.record({ bytesValue: fc.uint8Array() }),
      fc.constant({}),
    ),
    fc.record({ arrayValue: fc.record({ values: fc.array(tie('value'), { maxLength: 3 }) }) }),
    fc.record({ kvlistValue: fc.record({ values: fc.array(tie('entry'), { maxLength: 3 }) }) }),
  ),
  entry: fc.record(
    {
      key: fc.oneof(text, fc.constantFrom('service.name', 'host.name', 'k8s.pod.name', 'a', 'b')),
      value: tie('value'),
    },
    { requiredKeys: [] },
  ),
}));

const attributes = fc.array(entry, { maxLength: 5 });
const time = fc.oneof(
  fc.bigInt({ min: 1_700_000_000_000_000_000n, max: 1_800_000_000_000_000_000n }).map(String),
  fc.bigInt({ min: 0n, max: (1n << 64n) - 1n }).map(String),
  fc.constantFrom('0', '1544712660300000001', '1700000000000', '18446744073709551615'),
);
const optional = { requiredKeys: [] as [] };
const record = fc.record(
  {
    timeUnixNano: time,
    observedTimeUnixNano: time,
    severityNumber: fc.oneof(fc.nat(24), fc.constantFrom(-1, 25, 2 ** 31 - 1, -(2 ** 31))),
    severityText: fc.oneof(text, fc.constantFrom('info', 'Warning')),
    body: value,
    attributes,
    droppedAttributesCount: uint32,
    flags: uint32,
    traceId: fc.oneof(bytes(16), bytes(0), bytes(3), fc.constant(new Uint8Array(16))),
    spanId: fc.oneof(bytes(8), bytes(0), bytes(9)),
    eventName: text,
  },
  optional,
);
const owner = { attributes, droppedAttributesCount: uint32 };
const scope = fc.record({ ...owner, name: text, version: text }, optional);
const scopeLogs = fc.record(
  { scope, logRecords: fc.array(record, { maxLength: 4 }), schemaUrl: text },
  optional,
);
const resourceLogs = fc.record(
  {
    resource: fc.record(owner, optional),
    scopeLogs: fc.array(scopeLogs, { maxLength: 3 }),
    schemaUrl: text,
  },
  optional,
);
const request = fc.record({ resourceLogs: fc.array(resourceLogs, { maxLength: 3 }) }, optional);

test('accepts the maximum of elements in both encodings and rejects one more', async () => {
  const logsOf = (elements: number): LogsRequest => {
    const values = Array.from({ length: elements - 1 }, () => ({}));
    const body = { arrayValue: { values: [{ kvlistValue: { values } }] } };
    return { resourceLogs: [{ scopeLogs: [{ logRecords: [{ body }, {}] }] }] };
  };
  for (const [elements, rejected] of [
    [100_000, 0],
    [100_001, 1],
  ] as const) {
    const logs = logsOf(elements);
    const ofProtobuf = await decoder(encodeLogsRequest(logs), readProtobufLogs, limits);
    const ofJson = await decoder(Buffer.from(JSON.stringify(logs)), readJsonLogs, limits);
    assert.equal(ofJson.rejectedCount, rejected);
    assert.deepEqual(ofJson.rejected, ofProtobuf.rejected);
    assert.equal(Buffer.compare(ofJson.payload, ofProtobuf.payload), 0);
  }
});

test('decodes JSON and protobuf to the same rows', () => {
  fc.assert(
    fc.property(request as fc.Arbitrary<LogsRequest>, fc.integer(), (logs, seed) => {
      const ofProtobuf = decodeNow(encodeLogsRequest(logs), readProtobufLogs);
      const ofJson = decodeNow(Buffer.from(writeLogsJson(logs, seed)), readJsonLogs);
      assert.equal(ofJson.rows, ofProtobuf.rows);
      if (Buffer.compare(ofJson.payload, ofProtobuf.payload) === 0) return;
      assert.deepEqual(readLogRows(ofJson.payload), readLogRows(ofProtobuf.payload));
      assert.fail('the same rows in other bytes');
    }),
    { numRuns: 1000 },
  );
});
