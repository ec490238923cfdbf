/** The semantics of statistics in plain JavaScript over an array. */
import type { Stat, StatsPlan } from '../../src/model/plan.ts';
import { facetValue, type Stored } from './read-oracle.ts';

interface ExpectedGroup {
  readonly values: readonly string[] | undefined;
  /** By bucket, ascending. */
  readonly points: ReadonlyMap<number, (number | null)[]>;
}

/** @param logs that match the filter */
export function expectedStats(plan: StatsPlan, logs: readonly Stored[]): ExpectedGroup[] {
  if (plan.by.length === 0) return [{ values: [], points: pointsOf(plan, logs) }];
  const separator = '\u0001';
  const keyOf = (log: Stored) => plan.by.map((field) => facetValue(field, log)).join(separator);
  const ranked = [...Map.groupBy(logs, keyOf)]
    .map(([key, own]) => {
      return { values: key.split(separator), own, rank: statOf(plan.stats[0]!, own) };
    })
    .sort((a, b) => compareRanks(a.rank, b.rank) || compareValues(a.values, b.values));
  const rest = ranked.slice(plan.limit).flatMap(({ own }) => own);
  return [
    ...ranked
      .slice(0, plan.limit)
      .map(({ values, own }) => ({ values, points: pointsOf(plan, own) })),
    ...(rest.length === 0 ? [] : [{ values: undefined, points: pointsOf(plan, rest) }]),
  ];
}

/** The highest first, null last; sums that differ by rounding are equal. */
function compareRanks(a: number | null, b: number | null): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  return b - a;
}

function compareValues(a: readonly string[], b: readonly string[]): number {
  for (const [i, value] of a.entries()) {
    const order = Buffer.compare(Buffer.from(value), Buffer.from(b[i]!));
    if (order !== 0) return order;
  }
  return 0;
}

function pointsOf(
  { startMs, endMs, buckets, stats }: StatsPlan,
  logs: readonly Stored[],
): ReadonlyMap<number, (number | null)[]> {
  const edge = (i: number) =>
    BigInt(startMs + Math.floor((i * (endMs - startMs)) / buckets)) * 1_000_000n;
  const points = new Map<number, (number | null)[]>();
  for (let i = 0; i < buckets; i++) {
    const own = logs.filter((log) => log.timeNanos >= edge(i) && log.timeNanos < edge(i + 1));
    const values = stats.map((stat) => statOf(stat, own));
    if (own.length > 0) points.set(i, values);
  }
  return points;
}

function statOf(stat: Stat, logs: readonly Stored[]): number | null {
  const { field } = stat;
  if (field === undefined) return logs.length;
  const texts = logs.map((log) => facetValue(field, log)).filter((text) => text !== '');
  if (stat.op === 'count') return texts.length;
  if (stat.op === 'uniq') return new Set(texts).size;
  const numbers = texts
    .map(Number)
    .filter((number) => Number.isFinite(number))
    .sort((a, b) => a - b);
  if (numbers.length === 0) return null;
  const sum = numbers.reduce((total, number) => total + number, 0);
  switch (stat.op) {
    case 'sum':
      return sum;
    case 'avg':
      return sum / numbers.length;
    case 'min':
      return numbers[0]!;
    case 'max':
      return numbers.at(-1)!;
    case 'quantile': {
      const place = stat.quantile * (numbers.length - 1);
      const low = numbers[Math.floor(place)]!;
      const high = numbers[Math.ceil(place)]!;
      return low + (high - low) * (place - Math.floor(place));
    }
  }
}
