/**
 * Statistics from the values of fields and how often each occurs, as `sql/stats.ts` computes them
 * from rows. Pure.
 */
import type { Stat, StatsGroup, StatsPlan, StatsPoint } from '../../model/plan.ts';

/** Logs of each bucket that have a value. */
export type BucketCounts = Float64Array;

/** For one group: for each field of `statFields`, its values. */
export interface ValueGroup {
  readonly values: readonly string[];
  readonly fields: readonly Map<string, BucketCounts>[];
}

/** The fields whose values must be counted, at least one; undefined = logs. */
export function statFields({ stats }: StatsPlan): readonly Stat['field'][] {
  return [...new Set(stats.map(({ field }) => field))];
}

/** @returns undefined where a value may be a number that only the store can read */
export function toStatsGroups(
  plan: StatsPlan,
  groups: readonly ValueGroup[],
): StatsGroup[] | undefined {
  const fields = statFields(plan);
  const isNumeric = (field: Stat['field']) =>
    plan.stats.some(({ op, field: own }) => own === field && op !== 'count' && op !== 'uniq');
  const texts = fields.flatMap((field, i) =>
    isNumeric(field) ? groups.flatMap((group) => [...group.fields[i]!.keys()]) : [],
  );
  if (!texts.every((text) => numberOf(text) !== undefined)) return undefined;

  const toColumns = (own: readonly ValueGroup[]) =>
    fields.map((field, i) =>
      toColumn(
        own.map((group) => group.fields[i]!),
        isNumeric(field),
      ),
    );
  const toGroup = (values: StatsGroup['values'], columns: readonly Column[]): StatsGroup => {
    const points = Array.from({ length: plan.buckets }, (_, bucket): StatsPoint[] => {
      if (totalOf(columns[0]!, bucket) === 0) return [];
      const valueOf = (stat: Stat) => statOf(stat, columns[fields.indexOf(stat.field)]!, bucket);
      return [{ bucket, values: plan.stats.map(valueOf) }];
    });
    return { values, points: points.flat() };
  };
  if (plan.by.length === 0) return [toGroup([], toColumns(groups))];

  const [first] = plan.stats;
  const ranked = groups
    .map((group) => {
      const columns = toColumns([group]);
      const whole = columns[fields.indexOf(first!.field)]!;
      return { group, columns, score: statOf(first!, whole, undefined) };
    })
    .filter(({ columns }) => totalOf(columns[0]!, undefined) > 0)
    .sort((a, b) => compareScores(a.score, b.score) || compareValues(a.group, b.group));
  const top = ranked.slice(0, plan.limit).map(({ group, columns }) => {
    return toGroup(group.values, columns);
  });
  const rest = ranked.slice(plan.limit).map(({ group }) => group);
  return rest.length === 0 ? top : [...top, toGroup(undefined, toColumns(rest))];
}

/** The values of a field in ascending order of their numbers, those without one last. */
interface Column {
  readonly isEmpty: readonly boolean[];
  readonly numbers: readonly (number | null)[];
  readonly counts: readonly BucketCounts[];
}

function toColumn(maps: readonly Map<string, BucketCounts>[], isNumeric: boolean): Column {
  const sums = new Map<string, BucketCounts>();
  for (const [text, counts] of maps.flatMap((map) => [...map])) {
    const sum = sums.get(text);
    if (sum === undefined) sums.set(text, counts.slice());
    else for (const [bucket, count] of counts.entries()) sum[bucket]! += count;
  }
  const entries = [...sums].map(([text, counts]) => {
    return { text, counts, number: isNumeric ? (numberOf(text) ?? null) : null };
  });
  const sorted = entries.sort((a, b) => (a.number ?? Infinity) - (b.number ?? Infinity));
  return {
    isEmpty: sorted.map(({ text }) => text === ''),
    numbers: sorted.map(({ number }) => number),
    counts: sorted.map(({ counts }) => counts),
  };
}

/** @param bucket undefined = all */
function countOf(counts: BucketCounts, bucket: number | undefined): number {
  return bucket === undefined ? counts.reduce((sum, count) => sum + count, 0) : counts[bucket]!;
}

function totalOf({ counts }: Column, bucket: number | undefined): number {
  return counts.reduce((sum, one) => sum + countOf(one, bucket), 0);
}

function statOf({ op, ...stat }: Stat, column: Column, bucket: number | undefined): number | null {
  if (stat.field === undefined) return totalOf(column, bucket);
  const counts = column.counts.map((one) => countOf(one, bucket));
  const present = counts.filter((_, i) => !column.isEmpty[i]!);
  if (op === 'count') return present.reduce((sum, count) => sum + count, 0);
  if (op === 'uniq') return present.filter((count) => count > 0).length;
  const numbers = column.numbers.flatMap((number, i): [number, number][] =>
    number === null || counts[i]! === 0 ? [] : [[number, counts[i]!]],
  );
  if (numbers.length === 0) return null;
  const total = numbers.reduce((sum, [, count]) => sum + count, 0);
  const sum = () => numbers.reduce((all, [number, count]) => all + number * count, 0);
  switch (op) {
    case 'sum':
      return sum();
    case 'avg':
      return sum() / total;
    case 'min':
      return numbers[0]![0];
    case 'max':
      return numbers.at(-1)![0];
    case 'quantile': {
      const place = (stat as { quantile: number }).quantile * (total - 1);
      const low = numberAt(numbers, Math.floor(place));
      const high = numberAt(numbers, Math.ceil(place));
      return low + (high - low) * (place - Math.floor(place));
    }
  }
}

/** @param place from 0, among the numbers as often as they occur */
function numberAt(numbers: readonly (readonly [number, number])[], place: number): number {
  let before = 0;
  for (const [number, count] of numbers) {
    before += count;
    if (place < before) return number;
  }
  return numbers.at(-1)![0];
}

/** null = none, as any word; undefined = the store may read another number. */
function numberOf(text: string): number | null | undefined {
  if (text === '' || /^[A-Za-z]/.test(text)) return null;
  return /^-?\d{1,15}(?:\.\d{1,6})?$/.test(text) ? Number(text) : undefined;
}

function compareScores(a: number | null, b: number | null): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  return b - a;
}

/** In the order of their bytes, as in SQL. */
function compareValues(a: ValueGroup, b: ValueGroup): number {
  const orders = a.values.map((value, i) =>
    Buffer.compare(Buffer.from(value), Buffer.from(b.values[i]!)),
  );
  return orders.find((order) => order !== 0) ?? 0;
}
