/**
 * The protobuf decoder on generated requests, compared with a simple model, and on damaged bytes.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import {
  type AnyValue,
  encodeLogsRequest,
  type KeyValue,
  type LogRecord,
  type LogsRequest,
  type ResourceLogs,
  type ScopeLogs,
} from '../../../test/protocols/otlp-proto.ts';
import { decodeNow } from '../../../test/protocols/otlp-rows.ts';
import { type LogRow, readLogRows } from '../../../test/protocols/read-log-rows.ts';
import { AppError } from '../../model/errors.ts';

const text = fc.string({ unit: 'binary', maxLength: 40 }).map((value) => value.toWellFormed());
const key = fc.oneof(text, fc.constantFrom('service.name', 'host.name', 'k8s.pod.name', 'a', 'b'));

const { value } = fc.letrec<{ value: AnyValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.record({ stringValue: text }),
    fc.record({ intValue: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String) }),
    fc.record({ doubleValue: fc.double() }),
    fc.record({ boolValue: fc.boolean() }),
    fc.record({ bytesValue: fc.uint8Array({ maxLength: 20 }) }),
    fc.constant({}),
    fc.record({ arrayValue: fc.record({ values: fc.array(tie('value'), { maxLength: 4 }) }) }),
    fc.record({
      kvlistValue: fc.record({
        values: fc.array(fc.record({ key, value: tie('value') }), { maxLength: 4 }),
      }),
    }),
  ),
}));
/** Enough attributes to exceed the linear search and use the hash table. */
const attributes = fc.oneof(
  { arbitrary: fc.array(fc.record({ key, value }), { maxLength: 6 }), weight: 9 },
  { arbitrary: fc.array(fc.record({ key: text, value }), { maxLength: 80 }), weight: 1 },
);
const nanos = fc
  .bigInt({ min: 100_000_000_000_000_000n, max: 5_648_745_599_999_999_999n })
  .map(String);

const record: fc.Arbitrary<LogRecord> = fc.record({
  timeUnixNano: nanos,
  observedTimeUnixNano: nanos,
  severityNumber: fc.integer({ min: 1, max: 24 }),
  severityText: fc.string({ maxLength: 40, minLength: 1 }),
  body: value,
  attributes,
  flags: fc.nat(0xffff_ffff),
  traceId: fc.uint8Array({ minLength: 16, maxLength: 16 }).map(notZero),
  spanId: fc.uint8Array({ minLength: 8, maxLength: 8 }).map(notZero),
  eventName: text,
});
const scopeLogs: fc.Arbitrary<ScopeLogs> = fc.record({
  scope: fc.record({ name: text, version: text, attributes }),
  schemaUrl: text,
  logRecords: fc.array(record, { maxLength: 3 }),
});
const request: fc.Arbitrary<LogsRequest> = fc.record({
  resourceLogs: fc.array(
    fc.record({
      resource: fc.record({ attributes }),
      schemaUrl: text,
      scopeLogs: fc.array(scopeLogs, { maxLength: 3 }),
    }),
    { maxLength: 3 },
  ),
});

function notZero(bytes: Uint8Array): Uint8Array {
  bytes[0] = (bytes[0] ?? 0) | 1;
  return bytes;
}

describe('generated requests', () => {
  test('decode to the rows of the model', () => {
    fc.assert(
      fc.property(request, (logs) => {
        const batch = decodeNow(encodeLogsRequest(logs));
        assert.equal(batch.rejectedCount, 0);
        const rows = readLogRows(batch.payload);
        assert.equal(rows.length, batch.rows);
        assert.deepEqual(rows, toRows(logs));
      }),
      { numRuns: 300 },
    );
  });
});

describe('bytes that are no request', () => {
  const change = fc.record({
    at: fc.nat(),
    byte: fc.oneof(fc.nat(255), fc.constantFrom(0, 0x7f, 0x80, 0xff, 0x0a, 0x12)),
    kind: fc.constantFrom('replace', 'insert', 'remove', 'cut'),
  });

  test('mutated requests fail with AppError or yield rows', () => {
    fc.assert(
      fc.property(request, fc.array(change, { minLength: 1, maxLength: 4 }), (logs, changes) => {
        const bytes = [...encodeLogsRequest(logs)];
        for (const { at, byte, kind } of changes) {
          const place = at % (bytes.length + 1);
          if (kind === 'cut') bytes.length = place;
          else bytes.splice(place, kind === 'insert' ? 0 : 1, ...(kind === 'remove' ? [] : [byte]));
        }
        assertRowsOrRefusal(Buffer.from(bytes));
      }),
      { numRuns: 1500 },
    );
  });

  test('random bytes fail with AppError or yield rows', () => {
    const fields = fc.constantFrom(0x0a, 0x12, 0x1a, 0x2a, 0x32, 0x09, 0x10, 0, 1, 2, 3, 8);
    const bytes = fc.array(fc.oneof(fields, fc.nat(255)), { maxLength: 80 });
    fc.assert(
      fc.property(bytes, (body) => assertRowsOrRefusal(Buffer.from(body))),
      { numRuns: 3000 },
    );
  });

  function assertRowsOrRefusal(body: Buffer): void {
    const before = Buffer.from(body);
    try {
      const batch = decodeNow(body);
      assert.equal(readLogRows(batch.payload).length, batch.rows);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      assert.match(error.code, /^(malformed|too_large)$/);
    }
    assert.deepEqual(body, before);
  }
});

const columnKeys = {
  serviceName: 'service.name',
  serviceNamespace: 'service.namespace',
  host: 'host.name',
  k8sCluster: 'k8s.cluster.name',
  k8sNamespace: 'k8s.namespace.name',
  k8sNode: 'k8s.node.name',
  k8sPod: 'k8s.pod.name',
  k8sContainer: 'k8s.container.name',
  k8sDeployment: 'k8s.deployment.name',
};

function toRows({ resourceLogs = [] }: LogsRequest): LogRow[] {
  return resourceLogs.flatMap((resource) =>
    (resource.scopeLogs ?? []).flatMap((scope) =>
      (scope.logRecords ?? []).map((logRecord) => toRow(resource, scope, logRecord)),
    ),
  );
}

function toRow(resourceOf: ResourceLogs, scopeOf: ScopeLogs, logRecord: LogRecord): LogRow {
  const resource = toMap(resourceOf.resource?.attributes);
  const log = toMap(logRecord.attributes);
  const columns = Object.entries(columnKeys).map(([column, name]) => [
    column,
    resource.get(name) || log.get(name) || '',
  ]);
  return {
    timestamp: BigInt(logRecord.timeUnixNano ?? 0),
    observedTimestamp: BigInt(logRecord.observedTimeUnixNano ?? 0),
    severityText: logRecord.severityText?.toUpperCase(),
    severityNumber: logRecord.severityNumber,
    body: toText(logRecord.body ?? {}),
    traceId: Buffer.from(logRecord.traceId ?? []).toString('hex'),
    spanId: Buffer.from(logRecord.spanId ?? []).toString('hex'),
    traceFlags: (logRecord.flags ?? 0) & 0xff,
    logAttributes: log,
    resourceAttributes: resource,
    resourceSchemaUrl: resourceOf.schemaUrl,
    scopeName: scopeOf.scope?.name,
    scopeVersion: scopeOf.scope?.version,
    scopeSchemaUrl: scopeOf.schemaUrl,
    scopeAttributes: toMap(scopeOf.scope?.attributes),
    eventName: logRecord.eventName,
    ...Object.fromEntries(columns),
  } as LogRow;
}

function toMap(list: readonly KeyValue[] = []): Map<string, string> {
  return new Map(list.map(({ key: name = '', value: held = {} }) => [name, toText(held)]));
}

function toText(held: AnyValue): string {
  if (held.stringValue !== undefined) return held.stringValue;
  if (held.bytesValue !== undefined) return Buffer.from(held.bytesValue).toString('base64');
  if (held.doubleValue !== undefined) return String(held.doubleValue);
  return Object.keys(held).length === 0 ? '' : toJson(held);
}

function toJson(held: AnyValue): string {
  if (held.intValue !== undefined) return held.intValue;
  if (held.boolValue !== undefined) return String(held.boolValue);
  if (Number.isFinite(held.doubleValue)) return String(held.doubleValue);
  if (held.arrayValue !== undefined) return `[${held.arrayValue.values.map(toJson).join()}]`;
  if (held.kvlistValue !== undefined) {
    const entries = held.kvlistValue.values.map(
      ({ key: name = '', value: inner = {} }) => `${JSON.stringify(name)}:${toJson(inner)}`,
    );
    return `{${entries.join()}}`;
  }
  return Object.keys(held).length === 0 ? 'null' : JSON.stringify(toText(held));
}
