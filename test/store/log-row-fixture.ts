/** Writes `logs/1` rows and stamped batches. */
import { randomBytes } from 'node:crypto';
import type { BatchId, BatchOwner, StampedBatch } from '../../src/model/batch.ts';
import { logRowFields } from '../../src/codec/log-rows.ts';

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
  const chunks = logs.flatMap((log) => {
    const whole = { ...emptyLog, ...log };
    return logRowFields.map(([name, type]) => encodeValue(type, whole[name]));
  });
  return Buffer.concat(chunks);
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

function encodeValue(type: FieldType, value: LogFixture[keyof LogFixture]): Buffer {
  switch (type) {
    case 'Int64': {
      const bytes = Buffer.alloc(8);
      bytes.writeBigInt64LE(value as bigint);
      return bytes;
    }
    case 'UInt8':
      return Buffer.from([value as number]);
    case 'String':
      return encodeText(value as string);
    case 'Map(String, String)': {
      const entries = Object.entries(value as Readonly<Record<string, string>>);
      const parts = entries.flatMap(([key, text]) => [encodeText(key), encodeText(text)]);
      return Buffer.concat([encodeVarint(entries.length), ...parts]);
    }
  }
}

function encodeText(text: string): Buffer {
  return Buffer.concat([encodeVarint(Buffer.byteLength(text)), Buffer.from(text)]);
}

function encodeVarint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 127; rest >>>= 7) bytes.push((rest & 127) | 128);
  return Buffer.from([...bytes, rest]);
}
