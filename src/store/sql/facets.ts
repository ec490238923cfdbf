/** The most common values of several fields in one scan, with exact counts. Pure. */
import type { GroupField } from '../../model/log-fields.ts';
import type { FacetsPlan, FacetsResult } from '../../model/plan.ts';
import { groupsSql, withSql } from './field-sql.ts';
import { byCount } from './histogram.ts';
import { limitsSql, type ReadLimits, type Statement, statement } from './statement.ts';
import { type Scope, scopeConditions, scopeSettings } from './part-counts.ts';
import { whereSql } from './where.ts';

/** Index of the field in the plan, value, its count, count of all values. */
export type FacetRow = readonly [number, string, string, string];

/** One grouping set for each field, whose groups are all counted before the limit. */
export function compileFacets(table: string, plan: FacetsPlan, limits: ReadLimits): Statement {
  return statement((params) => {
    const { definitions, keys, values } = groupsSql(plan.fields, params);
    return `SELECT field, value, toString(n), toString(total)
FROM
(
  ${withSql(definitions)}SELECT
    ${fieldSql(keys)} AS field,
    ${valueSql(values)} AS value,
    count() AS n,
    sum(n) OVER (PARTITION BY field) AS total
  FROM ${table}
  WHERE ${whereSql(plan.filter, params).replaceAll('\n', '\n  ')}
  GROUP BY ${setsSql(keys)}
)
ORDER BY field, n DESC, value
LIMIT ${plan.topK} BY field
${limitsSql(limits)}`;
  });
}

/** Index of the field in the plan, value, its count. */
export type FacetCountRow = readonly [number, string, string];

/** All values with their counts, at most `maxValues` in all; the counts of scopes add up. */
export function compileFacetCounts(
  table: string,
  plan: FacetsPlan,
  step: { readonly limits: ReadLimits; readonly scope: Scope; readonly maxValues: number },
): Statement {
  return statement((params) => {
    const { definitions, keys, values } = groupsSql(plan.fields, params);
    return `${withSql(definitions)}SELECT ${fieldSql(keys)}, ${valueSql(values)},
  toString(count())
FROM ${table}
WHERE ${[whereSql(plan.filter, params), ...scopeConditions(step.scope, params)].join('\n  AND ')}
GROUP BY ${setsSql(keys)}
LIMIT ${step.maxValues}
${limitsSql(step.limits)}${scopeSettings(step.scope)}`;
  });
}

/** One grouping set for each key. */
function setsSql(keys: readonly string[]): string {
  const sets = keys.map((key) => `(${key})`).join(', ');
  return keys.length === 1 ? sets : `GROUPING SETS (${sets})`;
}

/** `grouping(a, b, c)` is a mask of the keys outside the set, the first key highest. */
function fieldSql(keys: readonly string[]): string {
  if (keys.length === 1) return 'toUInt8(0)';
  const all = 2 ** keys.length - 1;
  const masks = keys.map((_, i) => all - 2 ** (keys.length - 1 - i)).join(',');
  const indexes = keys.map((_, i) => i).join(',');
  return `toUInt8(transform(grouping(${keys.join(', ')}), [${masks}], [${indexes}], 255))`;
}

/** A value outside the set is empty. */
function valueSql(texts: readonly string[]): string {
  return texts.length === 1 ? texts[0]! : `concat(${texts.join(', ')})`;
}

/** The results of counts that were added up. @param counts by field of the plan, then value */
export function topFacets(
  plan: FacetsPlan,
  counts: readonly ReadonlyMap<string, number>[],
): FacetsResult[] {
  return plan.fields.map((field, index) => {
    const all = [...counts[index]!].map(([value, count]) => ({ value, count }));
    const total = all.reduce((sum, { count }) => sum + count, 0);
    return toResult(field, all.sort(byCount).slice(0, plan.topK), total);
  });
}

export function toFacetsResults(plan: FacetsPlan, rows: readonly FacetRow[]): FacetsResult[] {
  const rowsByField = Map.groupBy(rows, ([field]) => field);
  return plan.fields.map((field, index) => toFacets(field, rowsByField.get(index) ?? []));
}

function toFacets(field: GroupField, rows: readonly FacetRow[]): FacetsResult {
  const values = rows.map(([, value, count]) => ({ value, count: Number(count) }));
  return toResult(field, values, Number(rows[0]?.[3] ?? 0));
}

function toResult(field: GroupField, values: FacetsResult['values'], total: number): FacetsResult {
  const listed = values.reduce((sum, { count }) => sum + count, 0);
  return { field, values, other: total - listed, total };
}
