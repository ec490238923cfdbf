/**
 * One step of the list: the rows of one window of time in listing order, and how a row becomes a
 * record. Pure.
 */
import { encodeLogId } from '../../model/log-id.ts';
import type { ListPlan, LogRecord } from '../../model/plan.ts';
import type { TimeWindow } from './list-windows.ts';
import { limitsSql, Parameters, type ReadLimits, type Statement } from './statement.ts';
import { whereSql } from './where.ts';

/** A row of the answer (JSONCompactEachRow), in the order of `selected`. */
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
];

const selected = [
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
].join(', ');

/**
 * Rows of `window` in the plan's direction: newest first for `older`, oldest first for `newer`; at
 * most `limit`. The wide columns of rows that do not make the page are never read: the engine
 * fetches them after the limit.
 */
export function compileList(
  table: string,
  plan: ListPlan,
  step: { readonly window: TimeWindow; readonly limit: number; readonly limits: ReadLimits },
): Statement {
  const params = new Parameters();
  const filter = {
    ...plan.filter,
    fromNanos: step.window.fromNanos,
    untilNanos: step.window.untilNanos,
  };
  const conditions = [whereSql(filter, params), ...positionCondition(plan, params)];
  const order = plan.direction === 'older' ? 'DESC' : 'ASC';
  const sql = `SELECT ${selected}
FROM ${table}
WHERE ${conditions.join('\n  AND ')}
ORDER BY Timestamp ${order}, Tie ${order}
LIMIT ${step.limit}
${limitsSql(step.limits)}`;
  return { sql, params: params.values };
}

/** Written without tuples, which would not use the sort order. */
function positionCondition(plan: ListPlan, params: Parameters): string[] {
  if (plan.position === undefined) return [];
  const sign = plan.direction === 'older' ? '<' : '>';
  const time = params.time(plan.position.timeNanos);
  const tie = params.add('UInt64', plan.position.tie);
  return [`Timestamp ${sign}= ${time}`, `(Timestamp ${sign} ${time} OR Tie ${sign} ${tie})`];
}

export function toLogRecord(row: LogRow): LogRecord {
  const timeNanos = BigInt(row[0]);
  return {
    logId: encodeLogId({ timeNanos, tie: BigInt(row[1]) }),
    timestamp: isoMillis(timeNanos),
    timestampNanos: row[0],
    observedTimestamp: isoMillis(BigInt(row[2])),
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
  };
}

/** The log's own attribute wins. Entries, not assignment: a label may be called `__proto__`. */
function mergedLabels(
  resource: Readonly<Record<string, string>>,
  own: Readonly<Record<string, string>>,
): Record<string, string> {
  return Object.fromEntries([...Object.entries(resource), ...Object.entries(own)]);
}

function isoMillis(nanos: bigint): string {
  return new Date(Number(nanos / 1_000_000n)).toISOString();
}
