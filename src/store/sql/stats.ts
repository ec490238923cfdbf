/**
 * Statistics of fields by time and groups, in two statements: the first ranks the groups, the
 * second adds up each of the best ones, and all others as one. Pure.
 */
import type {
  HistogramPlan,
  HistogramResult,
  Stat,
  StatsGroup,
  StatsPlan,
  StatsPoint,
} from '../../model/plan.ts';
import { groupsSql, rowValueSql, withSql } from './field-sql.ts';
import { bucketSql } from './histogram.ts';
import {
  limitsSql,
  type Parameters,
  type ReadLimits,
  type Statement,
  statement,
} from './statement.ts';
import { whereSql } from './where.ts';

/** How quantiles are computed: from all values, or from a sample of constant size. */
type Quantiles = 'exact' | 'sampled';

interface StatsStep {
  readonly limits: ReadLimits;
  readonly quantiles: Quantiles;
}

/** Values in the order of `by`, hash of the group's keys. */
export type TopGroupRow = readonly [values: readonly string[], hash: string];

/** The best groups by the first statistic, the best first; equal ones in the order of values. */
export function compileTopGroups(table: string, plan: StatsPlan, step: StatsStep): Statement {
  return statement((params) => {
    const { keys, values, ...groups } = groupsSql(plan.by, params);
    const { definitions, aggregates } = statsSql(plan.stats.slice(0, 1), params, step.quantiles);
    return `${withSql([...groups.definitions, ...definitions])}SELECT
  [${values.join(', ')}] AS groupValues, toString(${hashSql(keys)})
FROM ${table}
WHERE ${whereSql(plan.filter, params)}
GROUP BY ${keys.join(', ')}
ORDER BY ${aggregates[0]!} DESC NULLS LAST, groupValues
LIMIT ${plan.limit}
${limitsSql(step.limits)}`;
  });
}

/** Bucket, number of the group from 1 or 0 for the rest, statistics. */
export type StatsRow = readonly [bucket: number, group: number, ...values: (number | null)[]];

/** @param top empty without groups */
export function compileStats(
  table: string,
  plan: StatsPlan,
  step: StatsStep & { readonly top: readonly TopGroupRow[] },
): Statement {
  return statement((params) => {
    const { keys, ...groups } = groupsSql(plan.by, params);
    const { definitions, aggregates } = statsSql(plan.stats, params, step.quantiles);
    const place = placeSql(keys, step.top, params);
    return `${withSql([...groups.definitions, ...definitions])}SELECT
  toUInt16(${bucketSql(plan, params)}) AS bucket, toUInt16(${place}) AS place,
  ${aggregates.join(',\n  ')}
FROM ${table}
WHERE ${whereSql(plan.filter, params)}
GROUP BY bucket, place
ORDER BY bucket
${limitsSql(step.limits)}`;
  });
}

function placeSql(
  keys: readonly string[],
  top: readonly TopGroupRow[],
  params: Parameters,
): string {
  if (top.length === 0) return '0';
  const hashes = params.add('Array(UInt64)', `[${top.map(([, hash]) => hash).join(',')}]`);
  return `transform(${hashSql(keys)}, ${hashes}, range(1, ${top.length + 1}), 0)`;
}

function hashSql(keys: readonly string[]): string {
  return `sipHash64(${keys.join(', ')})`;
}

/** Each field is defined once, as text and, where a statistic needs it, as a number. */
function statsSql(stats: readonly Stat[], params: Parameters, quantiles: Quantiles) {
  const definitions: string[] = [];
  const defined = new Map<string, string>();
  const define = (key: string, prefix: string, expression: () => string) => {
    const existing = defined.get(key);
    if (existing !== undefined) return existing;
    const name = `${prefix}${defined.size}`;
    definitions.push(`${expression()} AS ${name}`);
    defined.set(key, name);
    return name;
  };
  const aggregates = stats.map((stat) => {
    const { field } = stat;
    if (field === undefined) return 'toFloat64(count())';
    const text = define(field, 'text', () => rowValueSql(field, params));
    if (stat.op === 'count') return `toFloat64(countIf(${text} != ''))`;
    if (stat.op === 'uniq') return `toFloat64(uniqIf(${text}, ${text} != ''))`;
    const read = define(`read ${field}`, 'read', () => `toFloat64OrNull(${text})`);
    const number = define(
      `number ${field}`,
      'number',
      () => `if(isFinite(${read}), ${read}, NULL)`,
    );
    if (stat.op !== 'quantile') return `${stat.op}(${number})`;
    const aggregate = quantiles === 'exact' ? 'quantileExactInclusive' : 'quantile';
    return `${aggregate}(${stat.quantile})(${number})`;
  });
  return { definitions, aggregates };
}

/** @param top as the statement had them; undefined = not grouped */
export function toStatsGroups(
  top: readonly TopGroupRow[] | undefined,
  rows: readonly StatsRow[],
): StatsGroup[] {
  const points = Map.groupBy(rows, ([, group]) => group);
  const pointsOf = (group: number) => (points.get(group) ?? []).map(toPoint);
  if (top === undefined) return [{ values: [], points: pointsOf(0) }];
  const groups: StatsGroup[] = top.map(([values], i) => ({ values, points: pointsOf(i + 1) }));
  return points.has(0) ? [...groups, { values: undefined, points: pointsOf(0) }] : groups;
}

/** @param groups of the count of logs by one field */
export function toGroupedHistogram(
  { buckets }: HistogramPlan,
  groups: readonly StatsGroup[],
): HistogramResult {
  const counts = Array.from({ length: buckets }, () => 0);
  const countsByValue = new Map<string, number[]>();
  for (const { values, points } of groups) {
    const own = counts.map(() => 0);
    for (const { bucket, values: of } of points) {
      counts[bucket]! += of[0]!;
      own[bucket]! += of[0]!;
    }
    if (values !== undefined) countsByValue.set(values[0]!, own);
  }
  return { counts, groups: countsByValue };
}

function toPoint([bucket, , ...values]: StatsRow): StatsPoint {
  return { bucket, values };
}
