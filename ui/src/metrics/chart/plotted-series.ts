/** Answers of range queries as series on one grid of times, with names. Pure. */
import type { TimedValues } from '../../charts/aligned-series.ts';
import { parseValue } from '../../charts/value-format.ts';
import { roundSteps } from '../../../../src/model/round-steps.ts';
import type { Bounds } from '../metric-query.ts';

export type Labels = Readonly<Record<string, string>>;

/** Unix ms. */
export interface Grid {
  readonly startMs: number;
  readonly endMs: number;
  readonly stepMs: number;
}

export interface Bucket {
  readonly lower: number;
  readonly upper: number;
  readonly count: number;
}

export interface PlottedSeries extends TimedValues {
  /** Unique among all queries of the page. */
  readonly key: string;
  /** Place of its query. */
  readonly query: number;
  readonly labels: Labels;
  /** Native histograms by Unix ms; undefined = numbers. */
  readonly histograms: ReadonlyMap<number, readonly Bucket[]> | undefined;
}

/** A series as Prometheus' API writes it. */
export interface AnsweredSeries {
  readonly metric: Labels;
  readonly values?: readonly (readonly [seconds: number, value: string])[];
  readonly histograms?: readonly (readonly [seconds: number, histogram: AnsweredHistogram])[];
}

interface AnsweredHistogram {
  readonly buckets?: readonly (readonly [rule: number, low: string, high: string, n: string])[];
}

/** Points of a chart; more would be narrower than two pixels. */
const maxPoints = 300;

/** Steps at multiples of a round length, so that a refresh keeps the points. */
export function gridOf({ fromMs, untilMs }: Bounds): Grid {
  const lengthMs = untilMs - fromMs;
  const stepMs =
    roundSteps.find((step) => step >= 1000 && lengthMs / step <= maxPoints) ?? roundSteps.at(-1)!;
  const startMs = Math.ceil(fromMs / stepMs) * stepMs;
  return { startMs, endMs: Math.max(startMs, Math.floor(untilMs / stepMs) * stepMs), stepMs };
}

/** @param query place of the query */
export function toPlotted(
  answer: readonly AnsweredSeries[],
  grid: Grid,
  query: number,
): PlottedSeries[] {
  const steps = Math.floor((grid.endMs - grid.startMs) / grid.stepMs) + 1;
  const times = Array.from({ length: steps }, (_, step) => grid.startMs + step * grid.stepMs);
  return answer.map(({ metric, values = [], histograms }) => {
    const column = times.map(() => Number.NaN);
    for (const [seconds, value] of values) {
      column[Math.round((seconds * 1000 - grid.startMs) / grid.stepMs)] = parseValue(value);
    }
    return {
      key: `${query} ${seriesKey(metric)}`,
      query,
      labels: metric,
      times,
      values: column,
      histograms:
        histograms &&
        new Map(histograms.map(([seconds, one]) => [Math.round(seconds * 1000), bucketsOf(one)])),
    };
  });
}

function bucketsOf({ buckets = [] }: AnsweredHistogram): Bucket[] {
  return buckets.map(([, lower, upper, count]) => ({
    lower: parseValue(lower),
    upper: parseValue(upper),
    count: parseValue(count),
  }));
}

/** Independent of the order of labels. */
function seriesKey(labels: Labels): string {
  return JSON.stringify(Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Names of labels whose values differ; of a single series all but its metric. */
export function varyingLabels(series: readonly Labels[]): ReadonlySet<string> {
  const first = series[0] ?? {};
  const names = new Set(series.flatMap((labels) => Object.keys(labels)));
  if (series.length < 2) {
    names.delete('__name__');
    return names;
  }
  return new Set(
    [...names].filter((name) => series.some((labels) => labels[name] !== first[name])),
  );
}

/**
 * What tells the series of a chart apart, by key: the labels that differ within their query, and
 * the letter of the query where there are several.
 */
export function namesOf(
  series: readonly PlottedSeries[],
  queries: readonly string[],
): ReadonlyMap<string, string> {
  const byQuery = Map.groupBy(series, ({ query }) => query);
  const named = [...byQuery].flatMap(([query, own]) => {
    const varying = varyingLabels(own.map(({ labels }) => labels));
    return own.map(({ key, labels }) => {
      const words = Object.entries(labels)
        .filter(([name]) => varying.has(name))
        .map(([name, value]) => (name === '__name__' ? value : `${name}=${value}`))
        .join(' ');
      const text = words || queries[query]?.trim() || 'value';
      return [key, queries.length > 1 ? `${letterOf(query)}: ${text}` : text] as const;
    });
  });
  return new Map(named);
}

export function letterOf(query: number): string {
  return String.fromCodePoint(65 + query);
}

export type Ranking = 'last' | 'mean' | 'min' | 'max';

export type Summary = Readonly<Record<Ranking, number>>;

/** Of the values that are numbers, infinite ones included; NaN where there are none. */
export function summaryOf({ values }: TimedValues): Summary {
  const numbers = values.filter((value) => !Number.isNaN(value));
  if (numbers.length === 0) return { last: NaN, mean: NaN, min: NaN, max: NaN };
  const sum = numbers.reduce((total, value) => total + value, 0);
  return {
    last: numbers.at(-1)!,
    mean: sum / numbers.length,
    min: numbers.reduce((least, value) => Math.min(least, value), Infinity),
    max: numbers.reduce((most, value) => Math.max(most, value), -Infinity),
  };
}
