/** Counts of logs in buckets of equal width, exact at every edge. Pure. */
import type { Buckets, FacetsResult, HistogramPlan, HistogramResult } from '../../model/plan.ts';
import {
  limitsSql,
  type Parameters,
  type ReadLimits,
  type Statement,
  statement,
} from './statement.ts';
import { groupsSql, withSql } from './field-sql.ts';
import { type Scope, scopeConditions, scopeSettings } from './part-counts.ts';
import { whereSql } from './where.ts';

/** Bucket, group ("" without grouping), count as text; an empty bucket has no row. */
export type HistogramRow = readonly [number, string, string];

interface HistogramStep {
  readonly limits: ReadLimits;
  /** Limits the logs; the counts of disjoint scopes add up. */
  readonly scope?: Scope;
  /** Rows of the result; others are left out. */
  readonly maxRows?: number;
  /** The statement fails beyond so many pairs of bucket and value. */
  readonly maxGroups?: number;
}

/** The range of the plan's filter lies within [startMs, endMs). */
export function compileHistogram(
  table: string,
  plan: HistogramPlan,
  { limits, scope, maxRows, maxGroups }: HistogramStep,
): Statement {
  const { groupBy } = plan;
  return statement((params) => {
    const bucket = bucketSql(plan, params);
    const { definitions, keys, values } = groupsSql(groupBy ? [groupBy] : [], params);
    const [value = "''"] = values;
    const limit = maxRows === undefined ? '' : `LIMIT ${maxRows}\n`;
    const overflow =
      maxGroups === undefined
        ? ''
        : `,\n  max_rows_to_group_by = ${maxGroups}, group_by_overflow_mode = 'throw'`;
    return `${withSql(definitions)}SELECT toUInt16(${bucket}) AS bucket, ${value} AS value,
  toString(count())
FROM ${table}
WHERE ${[whereSql(plan.filter, params), ...scopeConditions(scope, params)].join('\n  AND ')}
GROUP BY ${['bucket', ...keys].join(', ')}
${limit}${limitsSql(limits)}${scopeSettings(scope)}${overflow}`;
  });
}

/**
 * Bucket i holds the ms x after start for which floor(i * D / N) <= x < floor((i + 1) * D / N),
 * with D the range and N the buckets: the greatest such i is ceil((x + 1) * N / D) - 1 = floor(((x
 * + 1) * N - 1) / D). Where N divides D, that is x divided by the width.
 */
export function bucketSql(plan: Buckets, params: Parameters): string {
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

/** Start of each bucket and the end of the last, Unix ms. */
export function bucketEdgesMs({ startMs, endMs, buckets }: Buckets): number[] {
  const rangeMs = BigInt(endMs - startMs);
  return Array.from({ length: buckets + 1 }, (_, i) => {
    return startMs + Number((BigInt(i) * rangeMs) / BigInt(buckets));
  });
}

export function toHistogramResult(
  plan: HistogramPlan,
  rows: readonly HistogramRow[],
): HistogramResult {
  const zeros = () => Array.from({ length: plan.buckets }, () => 0);
  const counts = zeros();
  const groups = new Map<string, number[]>();
  for (const [bucket, value, text] of rows) {
    const count = Number(text);
    counts[bucket]! += count;
    if (plan.groupBy === undefined) continue;
    const groupCounts = groups.get(value) ?? zeros();
    groupCounts[bucket]! += count;
    groups.set(value, groupCounts);
  }
  return { counts, groups: plan.groupBy === undefined ? undefined : topGroups(plan, groups) };
}

function topGroups(
  { topK }: HistogramPlan,
  groups: ReadonlyMap<string, readonly number[]>,
): NonNullable<HistogramResult['groups']> {
  const ranked = [...groups].map(([value, counts]) => {
    return { value, counts, count: counts.reduce((sum, count) => sum + count, 0) };
  });
  const top = ranked.sort(byCount).slice(0, topK);
  return new Map(top.map(({ value, counts }) => [value, counts]));
}

/** Values of equal counts in the order of their bytes, as in SQL. */
export function byCount(a: ValueCount, b: ValueCount): number {
  return b.count - a.count || Buffer.compare(Buffer.from(a.value), Buffer.from(b.value));
}

type ValueCount = FacetsResult['values'][number];
