/** The columns that a read of logs selects, and a row of them as a record. Pure. */
import { encodeLogId, type LogPosition } from '../../model/log-id.ts';
import type { logRowFields } from '../../codec/log-rows.ts';
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

export type LogRowField = (typeof logRowFields)[number];
export type ColumnNames = ReadonlySet<string>;

/** The column of a field of the layout `logs/1`. */
export function columnOf([name]: LogRowField): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}

/** Types of columns that may have no value. */
export type OptionalType = Exclude<LogRowField[1], 'Int64'>;

/** What stands for a column without a value. */
export const noValue: Readonly<Record<OptionalType, string>> = {
  String: "''",
  'Map(String, String)': 'CAST(map() AS Map(String, String))',
  UInt8: '0',
};
const noMap = noValue['Map(String, String)'];

/** Expression, path in the record, and what stands for it where it is not wanted. */
const columns: readonly (readonly [sql: string, path: string, none: string])[] = [
  ['toString(toUnixTimestamp64Nano(ObservedTimestamp))', 'observedTimestamp', "'0'"],
  ['toString(toUnixTimestamp64Nano(ReceivedAt))', 'receivedAt', "'0'"],
  ['StreamId', 'streamId', "''"],
  ['ReceiverId', 'receiverId', "''"],
  ['SeverityText', 'severity', "''"],
  ['SeverityNumber', 'severityNumber', '0'],
  ['Body', 'message', "''"],
  ['ServiceName', 'serviceName', "''"],
  ['ServiceNamespace', 'serviceNamespace', "''"],
  ['Host', 'host', "''"],
  ['LogAttributes', 'labels', noMap],
  ['ResourceAttributes', 'labels', noMap],
  ['K8sCluster', 'kubernetes.cluster', "''"],
  ['K8sNamespace', 'kubernetes.namespace', "''"],
  ['K8sNode', 'kubernetes.node', "''"],
  ['K8sPod', 'kubernetes.pod', "''"],
  ['K8sContainer', 'kubernetes.container', "''"],
  ['K8sDeployment', 'kubernetes.deployment', "''"],
  ['TraceId', 'traceId', "''"],
  ['SpanId', 'spanId', "''"],
  ['TraceFlags', 'traceFlags', '0'],
  ['EventName', 'eventName', "''"],
  ['ScopeName', 'scope.name', "''"],
  ['ScopeVersion', 'scope.version', "''"],
];

/**
 * Columns of paths that are not wanted are not read.
 * @param paths undefined = all
 * @param unused columns without a value in any row
 */
export function selectColumns(paths: readonly string[] | undefined, unused: ColumnNames): string {
  const isWanted = (path: string) =>
    paths === undefined || paths.some((wanted) => isWithin(path, wanted) || isWithin(wanted, path));
  const chosen = columns.map(([sql, path, none]) =>
    isWanted(path) && !unused.has(sql) ? sql : none,
  );
  return ['toString(toUnixTimestamp64Nano(Timestamp))', 'toString(Tie)', ...chosen].join(', ');
}

function isWithin(path: string, outer: string): boolean {
  return path === outer || path.startsWith(`${outer}.`);
}

/** The index in a row of a column that is selected as it is. */
export function columnIndex(column: string): number {
  return 2 + columns.findIndex(([sql]) => sql === column);
}

export const receivedNanosIndex = 3;
export const severityNumberIndex = columnIndex('SeverityNumber');
export const messageIndex = 8;
export const attributeIndexes = [12, 13] as const;

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
