/** The columns that a read of logs selects, and a row of them as a record. Pure. */
import { encodeLogId, type LogPosition } from '../../model/log-id.ts';
import type { LogRecord } from '../../model/plan.ts';

type Attributes = Readonly<Record<string, string>>;

/** A row of the result (JSONCompact), in the order of `logColumns`. */
export type LogRow = readonly [
  timeNanos: string,
  tie: string,
  observedNanos: string,
  receivedNanos: string,
  streamId: string,
  receiverId: string,
  severity: string,
  severityNumber: number,
  message: string,
  serviceName: string,
  serviceNamespace: string,
  host: string,
  logAttributes: Attributes,
  resourceAttributes: Attributes,
  cluster: string,
  namespace: string,
  node: string,
  pod: string,
  container: string,
  deployment: string,
  traceId: string,
  spanId: string,
  traceFlags: number,
  eventName: string,
  scopeName: string,
  scopeVersion: string,
];

export const logColumns = `toString(toUnixTimestamp64Nano(Timestamp)), toString(Tie),
  toString(toUnixTimestamp64Nano(ObservedTimestamp)), toString(toUnixTimestamp64Nano(ReceivedAt)),
  StreamId, ReceiverId, SeverityText, SeverityNumber, Body, ServiceName, ServiceNamespace, Host,
  LogAttributes, ResourceAttributes,
  K8sCluster, K8sNamespace, K8sNode, K8sPod, K8sContainer, K8sDeployment,
  TraceId, SpanId, TraceFlags, EventName, ScopeName, ScopeVersion`;

export const receivedNanosIndex = 3;
const messageIndex = 8;
const attributeIndexes = [12, 13] as const;

export function positionOf([timeNanos, tie]: LogRow): LogPosition {
  return { timeNanos: BigInt(timeNanos), tie: BigInt(tie) };
}

/** Estimated size in the result, bytes. */
export function sizeOf(row: LogRow): number {
  let size = bytesBesideText + row[messageIndex].length;
  for (const index of attributeIndexes) {
    const attributes = row[index];
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
    receivedAt: isoMillis(row[receivedNanosIndex]),
    streamId: row[4],
    receiverId: row[5],
    severity: row[6],
    severityNumber: row[7],
    message: row[messageIndex],
    serviceName: row[9],
    serviceNamespace: row[10],
    host: row[11],
    labels: mergedLabels(row[13], row[12]),
    kubernetes: {
      cluster: row[14],
      namespace: row[15],
      node: row[16],
      pod: row[17],
      container: row[18],
      deployment: row[19],
    },
    traceId: row[20],
    spanId: row[21],
    traceFlags: row[22],
    eventName: row[23],
    scope: { name: row[24], version: row[25] },
  };
}

/** The log's own attribute wins. From entries, since a label may be called `__proto__`. */
function mergedLabels(resource: Attributes, own: Attributes): Attributes {
  if (Object.keys(resource).length === 0) return own;
  return Object.fromEntries([...Object.entries(resource), ...Object.entries(own)]);
}

/** @param nanos decimal digits, not negative. */
function isoMillis(nanos: string): string {
  return new Date(Number(nanos.slice(0, -6))).toISOString();
}
