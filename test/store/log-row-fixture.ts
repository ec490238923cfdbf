/** Writes `logs/1` rows and stamped batches. */
import { randomBytes } from 'node:crypto';
import type { BatchId, BatchOwner, StampedBatch } from '../../src/model/batch.ts';
import { logRowFields } from '../../src/codec/log-rows.ts';
import { RowWriter } from '../fuzz/row-binary.ts';

type FieldType = (typeof logRowFields)[number][1];
type ValueOf<Type extends FieldType> = Type extends 'Int64'
  ? bigint
  : Type extends 'UInt8'
    ? number
    : Type extends 'String'
      ? string
      : Readonly<Record<string, string>>;

/** One log by the layout's fields. */
export type LogFixture = {
  readonly [Field in (typeof logRowFields)[number] as Field[0]]: ValueOf<Field[1]>;
};

/** A log with defaults: no time, no severity, empty text. */
export const emptyLog: LogFixture = {
  timestamp: -1n,
  observedTimestamp: -1n,
  severityText: '',
  severityNumber: 0,
  serviceName: '',
  serviceNamespace: '',
  host: '',
  body: '',
  traceId: '',
  spanId: '',
  traceFlags: 0,
  k8sCluster: '',
  k8sNamespace: '',
  k8sNode: '',
  k8sPod: '',
  k8sContainer: '',
  k8sDeployment: '',
  logAttributes: {},
  resourceAttributes: {},
  resourceSchemaUrl: '',
  scopeName: '',
  scopeVersion: '',
  scopeSchemaUrl: '',
  scopeAttributes: {},
  eventName: '',
};

/** Severities as decoders store them: words with their number, and words without one. */
export const severityFixtures: readonly Pick<LogFixture, 'severityText' | 'severityNumber'>[] = [
  { severityText: 'INFO', severityNumber: 9 },
  { severityText: 'NOTICE', severityNumber: 10 },
  { severityText: 'WARN', severityNumber: 13 },
  { severityText: 'WARNING', severityNumber: 13 },
  { severityText: 'ERROR', severityNumber: 17 },
  { severityText: 'CRIT', severityNumber: 18 },
  { severityText: 'AUDIT', severityNumber: 0 },
  { severityText: 'AUDIT', severityNumber: 19 },
  { severityText: '', severityNumber: 0 },
];

/** Rows back to back, like a decoder. */
export function encodeLogs(logs: readonly Partial<LogFixture>[]): Uint8Array {
  const writer = new RowWriter(256 * logs.length);
  for (const log of logs) {
    for (const [name, type] of logRowFields) {
      const value = log[name] ?? emptyLog[name];
      if (type === 'Int64') writer.int64(value as bigint);
      else if (type === 'UInt8') writer.byte(value as number);
      else if (type === 'String') writer.text(value as string);
      else writer.map(Object.entries(value));
    }
  }
  return writer.bytes;
}

/** @param batch its place in the queue; the rest gets defaults. */
export function stampedBatch(
  logs: readonly Partial<LogFixture>[],
  batch: {
    readonly owner: BatchOwner;
    readonly receivedAtNanos: bigint;
    readonly id?: BatchId;
  },
): StampedBatch {
  return {
    id: batch.id ?? { writer: randomBytes(8).readBigUInt64LE(), sequence: 1n },
    receivedAtNanos: batch.receivedAtNanos,
    owner: batch.owner,
    layout: 'logs/1',
    rows: logs.length,
    payload: encodeLogs(logs),
  };
}
