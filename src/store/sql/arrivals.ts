/**
 * Logs in the order in which they arrived, and how many there are. Every log has its place in that
 * order for good, so a reader that goes on from the last one meets each exactly once. Pure.
 */
import type { ArrivalRange, ArrivalsPlan, ArrivedLog } from '../../model/arrival.ts';
import { type LogRow, logColumns, toLogRecord } from './log-record.ts';
import { limitsSql, Parameters, type ReadLimits, type Statement } from './statement.ts';
import { whereSql } from './where.ts';

/** A row of the answer (JSONCompactEachRow). */
export type ArrivalRow = readonly [batch: string, row: number, ...log: LogRow];

/**
 * At most `plan.limit` rows, the first to arrive first. An answer beyond `plan.maxBytes` fails,
 * unless it is a single row.
 */
export function compileArrivals(table: string, plan: ArrivalsPlan, limits: ReadLimits): Statement {
  const params = new Parameters();
  const conditions = arrivalConditions(plan, params);
  const bounded = plan.limit === 1 ? limits : { ...limits, maxBytesReturned: plan.maxBytes };
  const sql = `SELECT toString(Batch), Row, ${logColumns}
FROM ${table}
WHERE ${conditions}
ORDER BY ReceivedAt, Batch, Row
LIMIT ${plan.limit}
${limitsSql(bounded)}`;
  return { sql, params: params.values };
}

/** One row with the count of all logs in the range. */
export function compileCountArrivals(
  table: string,
  range: ArrivalRange,
  limits: ReadLimits,
): Statement {
  const params = new Parameters();
  const conditions = arrivalConditions(range, params);
  const sql = `SELECT toString(count())
FROM ${table}
WHERE ${conditions}
${limitsSql(limits)}`;
  return { sql, params: params.values };
}

export function toArrivedLog([batch, row, ...log]: ArrivalRow): ArrivedLog {
  const receivedAtNanos = BigInt(log[receivedNanosIndex]);
  return { position: { receivedAtNanos, batch: BigInt(batch), row }, log: toLogRecord(log) };
}

/** Of `ReceivedAt` among the columns of a log. */
const receivedNanosIndex = 21;

/** Written without tuples, so that days and index granules outside the range are skipped. */
function arrivalConditions({ filter, after, untilNanos }: ArrivalRange, params: Parameters) {
  const time = params.time(after.receivedAtNanos);
  const batch = params.add('UInt128', after.batch);
  const row = params.add('UInt64', after.row);
  return [
    whereSql(filter, params),
    `ReceivedAt >= ${time}`,
    `ReceivedAt <= ${params.time(untilNanos)}`,
    `(ReceivedAt > ${time} OR Batch > ${batch} OR Batch = ${batch} AND Row > ${row})`,
  ].join('\n  AND ');
}
