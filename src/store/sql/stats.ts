/**
 * Statistics of fields by time and groups. Few groups are ranked and added up in one statement.
 * Many take two: the first ranks the groups, the second adds up each of the best ones, and all
 * others as one. Pure.
 */
import type { GroupField } from '../../model/log-fields.ts';
import type {
  HistogramPlan,
  HistogramResult,
  LogFilter,
  Stat,
  StatsGroup,
  StatsPlan,
  StatsPoint,
} from '../../model/plan.ts';
import { groupsSql, rowValueSql, withSql } from './field-sql.ts';
import { bucketSql } from './histogram.ts';
import { blockSql, type Scope, scopeConditions, scopeSettings } from './part-counts.ts';
import {
  limitsSql,
  type Parameters,
  type ReadLimits,
  type Statement,
  statement,
} from './statement.ts';
import { whereSql } from './where.ts';

/** Bucket, values of the fields, logs. */
export type ValueCountRow = readonly [bucket: number, values: readonly string[], count: string];

/** Logs by bucket and the values of fields, of which statistics can be computed. */
export function compileValueCounts(
  table: string,
  plan: StatsPlan,
  step: {
    readonly fields: readonly GroupField[];
    readonly limits: ReadLimits;
    readonly scope: Scope;
    readonly maxRows: number;
  },
): Statement {
  return statement((params) => {
    const { definitions, keys, values } = groupsSql(step.fields, params);
    const conditions = [whereSql(plan.filter, params), ...scopeConditions(step.scope, params)];
    return `${withSql(definitions)}SELECT toUInt16(${bucketSql(plan, params)}) AS bucket,
  CAST([${values.join(', ')}] AS Array(String)), toString(count())
FROM ${table}
WHERE ${conditions.join('\n  AND ')}
GROUP BY ${['bucket', ...keys].join(', ')}
LIMIT ${step.maxRows}
${limitsSql(step.limits)}${scopeSettings(step.scope)}`;
  });
}

/** How quantiles are computed: from all values, or from a sample of constant size. */
type Quantiles = 'exact' | 'sampled';

interface StatsStep {
  readonly limits: ReadLimits;
  readonly quantiles: Quantiles;
  /** Reads one block of rows in so many; absent = all. */
  readonly every?: number | undefined;
}

/** Bucket, place of the group from 1 or 0 for the rest, values of one such group, statistics. */
export type RankedStatsRow = readonly [
  bucket: number,
  place: number,
  groupValues: readonly string[],
  ...values: (number | null)[],
];

/**
 * Reads each row once, where two statements read it twice: a label takes most of the time to read.
 * Fails beyond `maxGroups` pairs of bucket and group, whose states are kept.
 */
export function compileRankedStats(
  table: string,
  plan: StatsPlan,
  { limits, quantiles, every, maxGroups }: StatsStep & { readonly maxGroups: number },
): Statement {
  return statement((params) => {
    const { keys, values, ...groups } = groupsSql(plan.by, params);
    const { definitions, aggregates } = statsSql(plan.stats, params, quantiles);
    const states = aggregates.map((one, i) => `${callSql(one, 'State')} AS state${i}`);
    const merged = aggregates.map((one, i) => ({ ...one, arguments: `state${i}` }));
    return `SELECT bucket, toUInt16(if(rank <= ${plan.limit}, rank, 0)) AS place, any(groupValues),
  ${merged.map((one) => numberSql(one, 'Merge')).join(',\n  ')}
FROM
(
  SELECT *, dense_rank() OVER (ORDER BY score DESC NULLS LAST, groupValues) AS rank
  FROM
  (
    SELECT *, ${callSql(merged[0]!, 'Merge')} OVER (PARTITION BY groupValues) AS score
    FROM
    (
      ${withSql([...groups.definitions, ...definitions])}SELECT
        toUInt16(${bucketSql(plan, params)}) AS bucket, [${values.join(', ')}] AS groupValues,
        ${states.join(', ')}
      FROM ${table}
      WHERE ${blocksWhere(plan, every, params).replaceAll('\n', '\n      ')}
      GROUP BY bucket, ${keys.join(', ')}
    )
  )
)
GROUP BY bucket, place
ORDER BY bucket
${limitsSql(limits)},
  max_rows_to_group_by = ${maxGroups}, group_by_overflow_mode = 'throw'`;
  });
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
WHERE ${blocksWhere(plan, step.every, params)}
GROUP BY ${keys.join(', ')}
ORDER BY ${numberSql(aggregates[0]!)} DESC NULLS LAST, groupValues
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
  ${aggregates.map((one) => numberSql(one)).join(',\n  ')}
FROM ${table}
WHERE ${blocksWhere(plan, step.every, params)}
GROUP BY bucket, place
ORDER BY bucket
${limitsSql(step.limits)}`;
  });
}

function blocksWhere({ filter }: StatsPlan, every: number | undefined, params: Parameters) {
  const where = whereSql(filter, params);
  return every === undefined ? where : `${where}\n  AND ${blockSql(every)}`;
}

/** Database, table, parts, and rows of the granules that a read of the filter cannot exclude. */
export type EstimateRow = readonly [string, string, parts: string, rows: string];

/** Of a column, since `count()` is answered from the primary index where it can. */
export function compileEstimate(table: string, filter: LogFilter): Statement {
  return statement(
    (params) => `EXPLAIN ESTIMATE SELECT Row FROM ${table}
WHERE ${whereSql(filter, params)}`,
  );
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

/** An aggregate function by its parts, for its combinators. */
interface AggregateSql {
  readonly name: string;
  /** In parentheses; empty if it has none. */
  readonly parameters: string;
  readonly arguments: string;
  /** Whether the result is a number of type Float64 already. */
  readonly isFloat: boolean;
}

type Combinator = '' | 'State' | 'Merge';

function callSql(one: AggregateSql, combinator: Combinator): string {
  return `${one.name}${combinator}${one.parameters}(${one.arguments})`;
}

function numberSql(one: AggregateSql, combinator: Combinator = ''): string {
  const call = callSql(one, combinator);
  return one.isFloat ? call : `toFloat64(${call})`;
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
  const aggregates = stats.map((stat): AggregateSql => {
    const { field } = stat;
    const counted = { parameters: '', isFloat: false };
    if (field === undefined) return { ...counted, name: 'count', arguments: '' };
    const text = define(field, 'text', () => rowValueSql(field, params));
    if (stat.op === 'count') return { ...counted, name: 'countIf', arguments: `${text} != ''` };
    if (stat.op === 'uniq') {
      return { ...counted, name: 'uniqIf', arguments: `${text}, ${text} != ''` };
    }
    const read = define(`read ${field}`, 'read', () => `toFloat64OrNull(${text})`);
    const number = define(
      `number ${field}`,
      'number',
      () => `if(isFinite(${read}), ${read}, NULL)`,
    );
    const of = { arguments: number, isFloat: true };
    if (stat.op !== 'quantile') return { ...of, name: stat.op, parameters: '' };
    const name = quantiles === 'exact' ? 'quantileExactInclusive' : 'quantile';
    return { ...of, name, parameters: `(${stat.quantile})` };
  });
  return { definitions, aggregates };
}

/** The best first, then the rest if there is one. */
export function toRankedGroups(rows: readonly RankedStatsRow[]): StatsGroup[] {
  const places = Map.groupBy(rows, ([, place]) => place);
  return [...places]
    .sort(([a], [b]) => (a || Infinity) - (b || Infinity))
    .map(([place, own]) => ({
      values: place === 0 ? undefined : own[0]![2],
      points: own.map(([bucket, , , ...values]) => ({ bucket, values })),
    }));
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
