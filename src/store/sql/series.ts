/**
 * Reads of series labels and of metric metadata. The table `series` has a row for each day with
 * samples of a series and each day of receipt. Pure.
 */
import { toDay } from '../../codec/metric-rows.ts';
import {
  type Label,
  type LabelMatcher,
  type MetadataPlan,
  type MetricMetadata,
  type SamplesPlan,
  type Selector,
  type SeriesPlan,
  metricNameLabel,
} from '../../model/metric-plan.ts';
import {
  limitsSql,
  type Parameters,
  type ReadLimits,
  type Statement,
  statement,
} from './statement.ts';
import { keptFromNanos, ownerConditions } from './streams.ts';
import { tableName } from './tables.ts';

const and = '\n  AND ';

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
  return statement(
    (params) => `SELECT toString(SeriesId), mapKeys(any(Labels) AS labels), mapValues(labels)
FROM ${tableName(database, 'series')}
WHERE ${seriesConditions(filter, params)}
GROUP BY SeriesId
ORDER BY labels
LIMIT ${limit}
${limitsSql(limits)}`,
  );
}

export function toLabels([, names, values]: SeriesRow): Label[] {
  return toLabelPairs(names, values);
}

export function toLabelPairs(names: readonly string[], values: readonly string[]): Label[] {
  return names.map((name, index) => [name, values[index] ?? '']);
}

/** One name in each row. */
export function compileLabelNames(
  database: string,
  plan: SeriesPlan,
  limits: ReadLimits,
): Statement {
  return statement(
    (params) => `SELECT DISTINCT toString(arrayJoin(mapKeys(Labels))) AS name
FROM ${tableName(database, 'series')}
WHERE ${seriesConditions(plan, params)}
ORDER BY name
LIMIT ${plan.limit}
${limitsSql(limits)}`,
  );
}

/** One value in each row. */
export function compileLabelValues(
  database: string,
  plan: SeriesPlan,
  label: string,
  limits: ReadLimits,
): Statement {
  return statement(
    (params) => `SELECT DISTINCT ${labelExpression(label, params)} AS value
FROM ${tableName(database, 'series')}
WHERE ${seriesConditions(plan, params)}
  AND value != ''
ORDER BY value
LIMIT ${plan.limit}
${limitsSql(limits)}`,
  );
}

export function seriesConditions(filter: SeriesFilter, params: Parameters): string {
  const { accountId, fromMs, untilMs } = filter;
  const streams = filter.streams.map((stream) => {
    return { ...stream, receivedFromNanos: keptFromNanos('series', stream) };
  });
  return [
    ...ownerConditions('series', { accountId, streams }, params),
    `Day >= ${dayParameter(fromMs, params)}`,
    `Day <= ${dayParameter(untilMs, params)}`,
    ...selectorsCondition(filter.selectors, params),
  ].join(and);
}

function dayParameter(unixMs: bigint, params: Parameters): string {
  return `toDate(${params.add('UInt16', toDay(Number(unixMs)))})`;
}

/**
 * @returns the condition that a series matches any selector; none where all series do.
 * https://prometheus.io/docs/prometheus/latest/querying/basics/#time-series-selectors
 */
export function selectorsCondition(selectors: readonly Selector[], params: Parameters): string[] {
  if (selectors.length === 0 || selectors.some((selector) => selector.length === 0)) return [];
  const all = selectors.map((selector) =>
    selector.map((matcher) => matcherCondition(matcher, params)).join(' AND '),
  );
  return all.length === 1 ? [all[0]!] : [`(${all.map((one) => `(${one})`).join(' OR ')})`];
}

/** The value of a label; "" where a series lacks it. */
function labelExpression(name: string, params: Parameters): string {
  return name === metricNameLabel ? 'MetricName' : `Labels[${params.add('String', name)}]`;
}

function matcherCondition({ name, type, value }: LabelMatcher, params: Parameters): string {
  const label = labelExpression(name, params);
  switch (type) {
    case 'equal':
      return `${label} = ${params.add('String', value)}`;
    case 'notEqual':
      return `${label} != ${params.add('String', value)}`;
    case 'matches':
      return patternCondition(label, value, params);
    case 'notMatches':
      return `NOT (${patternCondition(label, value, params)})`;
  }
}

/**
 * The bare pattern is compiled too, since `a)|(b` is invalid alone but valid within the brackets;
 * `match` itself does not always look at a whole pattern.
 */
function patternCondition(label: string, pattern: string, params: Parameters): string {
  const whole = params.add('String', `^(?s:${pattern})$`);
  const isPattern = `replaceRegexpOne('', ${params.add('String', pattern)}, '') = ''`;
  return `match(${label}, ${whole}) AND ${isPattern}`;
}

export type MetadataRow = readonly [name: string, type: string, unit: string, help: string];

/** Type, unit and help of metrics, as last received. */
export function compileMetadata(
  database: string,
  plan: MetadataPlan,
  limits: ReadLimits,
): Statement {
  const { metric } = plan;
  return statement((params) => {
    const conditions = [
      ...ownerConditions('metric_metadata', plan, params),
      ...(metric === undefined ? [] : [`MetricName = ${params.add('String', metric)}`]),
    ];
    return `SELECT MetricName, Type, Unit, Help
FROM ${tableName(database, 'metric_metadata')} FINAL
WHERE ${conditions.join(and)}
ORDER BY MetricName, ReceivedAt DESC
LIMIT 1 BY MetricName
LIMIT ${plan.limit}
${limitsSql(limits)}`;
  });
}

export function toMetadata([name, type, unit, help]: MetadataRow): MetricMetadata {
  return { name, type: type === '' ? 'unknown' : type, unit, help };
}
