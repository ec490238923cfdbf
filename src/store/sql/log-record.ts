/**
 * The columns of a log as they are read back, and how a row of them becomes a record. Pure; it
 * knows nothing of which rows are wanted.
 */
import { encodeLogId, type LogPosition } from '../../model/log-id.ts';
import type { LogRecord } from '../../model/plan.ts';

/** A row of the answer (JSONCompactEachRow), in the order of `logColumns`. */
export type LogRow = readonly [
  timeNanos: string,
  tie: string,
  observedNanos: string,
  streamId: string,
  receiverId: string,
  severity: string,
  severityNumber: number,
  body: string,
  serviceName: string,
  serviceNamespace: string,
  host: string,
  logAttributes: Readonly<Record<string, string>>,
  resourceAttributes: Readonly<Record<string, string>>,
  k8sCluster: string,
  k8sNamespace: string,
  k8sNode: string,
  k8sPod: string,
  k8sContainer: string,
  k8sDeployment: string,
  traceId: string,
  spanId: string,
  receivedNanos: string,
  traceFlags: number,
  eventName: string,
  scopeName: string,
  scopeVersion: string,
];

export const logColumns = [
  'toString(toUnixTimestamp64Nano(Timestamp))',
  'toString(Tie)',
  'toString(toUnixTimestamp64Nano(ObservedTimestamp))',
  'StreamId',
  'ReceiverId',
  'SeverityText',
  'SeverityNumber',
  'Body',
  'ServiceName',
  'ServiceNamespace',
  'Host',
  'LogAttributes',
  'ResourceAttributes',
  'K8sCluster',
  'K8sNamespace',
  'K8sNode',
  'K8sPod',
  'K8sContainer',
  'K8sDeployment',
  'TraceId',
  'SpanId',
  'toString(toUnixTimestamp64Nano(ReceivedAt))',
  'TraceFlags',
  'EventName',
  'ScopeName',
  'ScopeVersion',
].join(', ');

export function positionOf(row: LogRow): LogPosition {
  return { timeNanos: BigInt(row[0]), tie: BigInt(row[1]) };
}

/** Estimated bytes of the answer that it took. */
export function sizeOf(row: LogRow): number {
  let size = bytesBesideText + row[7].length;
  for (const attributes of [row[11], row[12]]) {
    for (const key in attributes) size += key.length + attributes[key]!.length;
  }
  return size;
}

const bytesBesideText = 400;

export function toLogRecord(row: LogRow): LogRecord {
  return {
    logId: encodeLogId(positionOf(row)),
    timestamp: isoMillis(row[0]),
    timestampNanos: row[0],
    observedTimestamp: isoMillis(row[2]),
    receivedAt: isoMillis(row[21]),
    streamId: row[3],
    receiverId: row[4],
    severity: row[5],
    severityNumber: row[6],
    message: row[7],
    serviceName: row[8],
    serviceNamespace: row[9],
    host: row[10],
    labels: mergedLabels(row[12], row[11]),
    kubernetes: {
      cluster: row[13],
      namespace: row[14],
      node: row[15],
      pod: row[16],
      container: row[17],
      deployment: row[18],
    },
    traceId: row[19],
    spanId: row[20],
    traceFlags: row[22],
    eventName: row[23],
    scope: { name: row[24], version: row[25] },
  };
}

/** The log's own attribute wins. Entries, not assignment: a label may be called `__proto__`. */
function mergedLabels(
  resource: Readonly<Record<string, string>>,
  own: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  if (Object.keys(resource).length === 0) return own;
  return Object.fromEntries([...Object.entries(resource), ...Object.entries(own)]);
}

/** @param nanos decimal digits, not negative */
function isoMillis(nanos: string): string {
  return new Date(Number(nanos.slice(0, -6))).toISOString();
}
