/** Counts of logs over equal buckets of time, exact at every edge. Pure. */
import type { HistogramPlan, HistogramResult } from '../../model/plan.ts';
import { limitsSql, Parameters, type ReadLimits, type Statement } from './statement.ts';
import { whereSql } from './where.ts';

/** [bucket, group ("" without grouping), count as text]; empty buckets have no row. */
export type HistogramRow = readonly [number, string, string];

/** The plan's filter bounds the time; its range lies within [startMs, endMs). */
export function compileHistogram(
  table: string,
  plan: HistogramPlan,
  limits: ReadLimits,
): Statement {
  const params = new Parameters();
  const bucket = bucketSql(plan, params);
  const group = plan.groupBy === 'severity' ? 'SeverityText' : "''";
  const sql = `SELECT toUInt16(${bucket}) AS bucket, ${group} AS value, toString(count())
FROM ${table}
WHERE ${whereSql(plan.filter, params)}
GROUP BY ${plan.groupBy === undefined ? 'bucket' : 'bucket, value'}
${limitsSql(limits)}`;
  return { sql, params: params.values };
}

/**
 * Bucket i holds the ms x after start for which floor(i * D / N) <= x < floor((i + 1) * D / N),
 * with D the range and N the buckets: the greatest such i is ceil((x + 1) * N / D) - 1 = floor(((x
 * + 1) * N - 1) / D). Where N divides D that is x divided by the width.
 */
function bucketSql(plan: HistogramPlan, params: Parameters): string {
  const rangeMs = plan.endMs - plan.startMs;
  if (rangeMs % plan.buckets === 0) {
    const startNanos = params.add('Int64', BigInt(plan.startMs) * 1_000_000n);
    const widthNanos = params.add('Int64', BigInt(rangeMs / plan.buckets) * 1_000_000n);
    return `intDiv(toUnixTimestamp64Nano(Timestamp) - ${startNanos}, ${widthNanos})`;
  }
  const start = params.add('Int64', BigInt(plan.startMs));
  const buckets = params.add('Int64', BigInt(plan.buckets));
  const range = params.add('Int64', BigInt(rangeMs));
  const offset = `intDiv(toUnixTimestamp64Nano(Timestamp), 1000000) - ${start}`;
  return `intDiv((${offset} + 1) * ${buckets} - 1, ${range})`;
}

export function toHistogramResult(
  plan: HistogramPlan,
  rows: readonly HistogramRow[],
): HistogramResult {
  const counts = zeros(plan.buckets);
  const groups = new Map<string, number[]>();
  for (const [bucket, value, text] of rows) {
    const count = Number(text);
    counts[bucket]! += count;
    if (plan.groupBy === undefined) continue;
    const ofGroup = groups.get(value) ?? zeros(plan.buckets);
    ofGroup[bucket]! += count;
    groups.set(value, ofGroup);
  }
  return { counts, groups: plan.groupBy === undefined ? undefined : groups };
}

function zeros(length: number): number[] {
  return Array.from({ length }, () => 0);
}
