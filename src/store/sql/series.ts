/**
 * Reads of the table of series: label sets, their names and values. A series stands there once for
 * each day that has samples of it, and once more for each day of receipt. Pure.
 */
import type { SamplesPlan, SeriesPlan } from '../../model/metric-plan.ts';
import { toDay } from '../../codec/metric-rows.ts';
import type { ReadableStream } from '../../model/plan.ts';
import type { Label } from '../../model/metric-plan.ts';
import { tableName } from './columns.ts';
import { labelExpression, selectorsCondition } from './matchers.ts';
import { limitsSql, Parameters, type ReadLimits, type Statement } from './statement.ts';
import { keptLongerMs } from './stored-tables.ts';
import { ownerConditions } from './streams.ts';

/** Series id in decimal digits, names and values of its labels. */
export type SeriesRow = readonly [string, readonly string[], readonly string[]];

type SeriesFilter = Pick<
  SeriesPlan & SamplesPlan,
  'accountId' | 'streams' | 'selectors' | 'fromMs' | 'untilMs'
>;

/** Sorted by labels. */
export function compileSeries(
  database: string,
  filter: SeriesFilter,
  limit: number,
  limits: ReadLimits,
): Statement {
  const params = new Parameters();
  const sql = `SELECT toString(SeriesId), mapKeys(any(Labels) AS labels), mapValues(labels)
FROM ${tableName(database, 'series')}
WHERE ${seriesConditions(filter, params)}
GROUP BY SeriesId
ORDER BY labels
LIMIT ${limit}
${limitsSql(limits)}`;
  return { sql, params: params.values };
}

export function toLabels([, names, values]: SeriesRow): Label[] {
  return toLabelPairs(names, values);
}

export function toLabelPairs(names: readonly string[], values: readonly string[]): Label[] {
  return names.map((name, index) => [name, values[index] ?? '']);
}

/** One name a row. */
export function compileLabelNames(
  database: string,
  plan: SeriesPlan,
  limits: ReadLimits,
): Statement {
  const params = new Parameters();
  const sql = `SELECT DISTINCT toString(arrayJoin(mapKeys(Labels))) AS name
FROM ${tableName(database, 'series')}
WHERE ${seriesConditions(plan, params)}
ORDER BY name
LIMIT ${plan.limit}
${limitsSql(limits)}`;
  return { sql, params: params.values };
}

/** One value a row. */
export function compileLabelValues(
  database: string,
  plan: SeriesPlan,
  label: string,
  limits: ReadLimits,
): Statement {
  const params = new Parameters();
  const sql = `SELECT DISTINCT ${labelExpression(label, params)} AS value
FROM ${tableName(database, 'series')}
WHERE ${seriesConditions(plan, params)}
  AND value != ''
ORDER BY value
LIMIT ${plan.limit}
${limitsSql(limits)}`;
  return { sql, params: params.values };
}

function seriesConditions(filter: SeriesFilter, params: Parameters): string {
  const { accountId, fromMs, untilMs } = filter;
  const streams = filter.streams.map(keptLonger);
  return [
    ...ownerConditions('series', { accountId, streams }, params),
    `Day >= ${dayParameter(fromMs, params)}`,
    `Day <= ${dayParameter(untilMs, params)}`,
    ...selectorsCondition(filter.selectors, params),
  ].join('\n  AND ');
}

function dayParameter(unixMs: bigint, params: Parameters): string {
  return `toDate(${params.add('UInt16', toDay(Number(unixMs)))})`;
}

/** Labels outlive retention, but not a deletion. */
function keptLonger({ streamId, receivedFromNanos, deletedUntilNanos }: ReadableStream) {
  const from = receivedFromNanos - BigInt(keptLongerMs('series')) * 1_000_000n;
  const afterDeletion = deletedUntilNanos === undefined ? 0n : deletedUntilNanos + 1n;
  return { streamId, receivedFromNanos: from > afterDeletion ? from : afterDeletion };
}
