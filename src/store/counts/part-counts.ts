/** Counts of the logs of an account in one part of the table, by time and fields. Pure. */
import type { CountStep, PartCountRow } from '../sql/part-counts.ts';
import { floorTo } from './ticks.ts';

/** Columns, since there may be as many groups as combinations of service, host and severity. */
export interface GroupedTicks {
  /** Streams and values of the groups, which refer to them by index. */
  readonly texts: readonly string[];
  /** The stream of each group. */
  readonly streams: Uint32Array;
  /** For each field that is counted, in order, its value in each group. */
  readonly values: readonly Uint32Array[];
  /** Index of the first tick of each group, and the number of all. */
  readonly starts: Uint32Array;
  /** First ticks of steps, ascending in each group. */
  readonly ticks: Float64Array;
  /** Logs before each tick, over all groups, and of all. */
  readonly sums: Uint32Array;
  /** Ticks of the first and the last log; first > last = none. */
  readonly span: readonly [first: number, last: number];
  /** Memory in units of 8 bytes; a text takes as much as 10 of them. */
  readonly size: number;
}

export interface PartCounts extends GroupedTicks {
  readonly step: CountStep;
}

export function toPartCounts(step: CountStep, rows: readonly PartCountRow[]): PartCounts {
  return { step, ...toGroupedTicks(rows) };
}

/** Stream, values and ticks of its logs in ascending order, at least one. */
export type KeptGroup = readonly [
  streamId: string,
  values: readonly string[],
  ticks: Float64Array,
  counts?: undefined,
  first?: undefined,
  last?: undefined,
];

/** Of rows without counts each tick is one log. */
export function toGroupedTicks(rows: readonly (PartCountRow | KeptGroup)[]): GroupedTicks {
  const indexes = new Map<string, number>();
  const indexOf = (text: string) => numberOf(indexes, text);
  const total = rows.reduce((sum, [, , ticks]) => sum + ticks.length, 0);
  const fields = rows[0]?.[1].length ?? 0;
  const streams = new Uint32Array(rows.length);
  const values = Array.from({ length: fields }, () => new Uint32Array(rows.length));
  const starts = new Uint32Array(rows.length + 1);
  const all = { ticks: new Float64Array(total), sums: new Uint32Array(total + 1) };
  let at = 0;
  for (const [i, [streamId, texts, ticks, counts]] of rows.entries()) {
    streams[i] = indexOf(streamId);
    for (const [k, text] of texts.entries()) values[k]![i] = indexOf(text);
    all.ticks.set(ticks, at);
    for (let k = 0; k < ticks.length; k++, at++) {
      all.sums[at + 1] = all.sums[at]! + (counts === undefined ? 1 : counts[k]!);
    }
    starts[i + 1] = at;
  }
  const texts = [...indexes.keys()];
  const spans = rows.map(([, , ticks, , first = ticks[0]!, last = ticks[ticks.length - 1]!]) => {
    return [first, last] as const;
  });
  const grouped = { texts, streams, values, starts, ...all };
  return { ...grouped, span: joined(spans), size: sizeOf(grouped) };
}

function joined(spans: readonly GroupedTicks['span'][]): GroupedTicks['span'] {
  return spans.reduce(
    ([first, last], span) => [Math.min(first, span[0]), Math.max(last, span[1])],
    [Infinity, -Infinity],
  );
}

function sizeOf({
  texts,
  streams,
  values,
  ticks,
}: Pick<GroupedTicks, 'texts' | 'streams' | 'values' | 'ticks'>): number {
  return 1.5 * ticks.length + (streams.length * (2 + values.length)) / 2 + texts.length * 10;
}

/** By the longest of their steps. @param all counts by the same fields, at least one */
export function addPartCounts(all: readonly PartCounts[]): PartCounts {
  if (all.length === 1) return all[0]!;
  const { step } = all.reduce((a, b) => (b.step > a.step ? b : a));
  const { texts, columns, places } = sharedGroups(all);
  const [streams, ...values] = columns.map((column) => Uint32Array.from(column));
  const starts = new Uint32Array(streams!.length + 1);
  const most = all.reduce((sum, each) => sum + each.ticks.length, 0);
  const ticks = new Float64Array(most);
  const sums = new Uint32Array(most + 1);
  let total = 0;
  for (let group = 0; group < streams!.length; group++) {
    // Of each part with this group, what is not added yet.
    const rest = all.flatMap((part, p) => {
      const i = places[p]![group];
      return i === undefined ? [] : [{ part, at: part.starts[i]!, end: part.starts[i + 1]! }];
    });
    const next = ({ part, at, end }: (typeof rest)[number]) =>
      at < end ? floorTo(part.ticks[at]!, step) : Infinity;
    for (;;) {
      const tick = rest.reduce((least, one) => Math.min(least, next(one)), Infinity);
      if (tick === Infinity) break;
      let count = 0;
      for (const one of rest) {
        for (; next(one) === tick; one.at++) count += countAt(one.part, one.at);
      }
      ticks[total] = tick;
      sums[total + 1] = sums[total]! + count;
      total += 1;
    }
    starts[group + 1] = total;
  }
  const kept = { ticks: ticks.slice(0, total), sums: sums.slice(0, total + 1) };
  const grouped = { texts, streams: streams!, values, starts, ...kept };
  return { step, ...grouped, span: joined(all.map(({ span }) => span)), size: sizeOf(grouped) };
}

function countAt({ sums }: GroupedTicks, at: number): number {
  return sums[at + 1]! - sums[at]!;
}

/**
 * The groups of several parts without an object for each: there may be a hundred thousand.
 * @returns streams and values of the groups, and for each part the place of a group in it
 */
function sharedGroups(all: readonly PartCounts[]) {
  const texts = new Map<string, number>();
  // A part without groups has no columns.
  const width = 1 + Math.max(...all.map(({ values }) => values.length));
  const columns = Array.from({ length: width }, (): number[] => []);
  // Each numbers the combinations of what is before it and its own text.
  const levels = columns.map(() => new Map<number, number>());
  const places = all.map((part) => {
    const own = part.texts.map((text) => numberOf(texts, text));
    const place: (number | undefined)[] = [];
    for (let i = 0; i < part.streams.length; i++) {
      let group = 0;
      for (let k = 0; k < width; k++) {
        const column = k === 0 ? part.streams : part.values[k - 1]!;
        group = numberOf(levels[k]!, group * maxTexts + own[column[i]!]!);
      }
      place[group] = i;
      if (group < columns[0]!.length) continue;
      columns[0]!.push(own[part.streams[i]!]!);
      for (const [k, column] of part.values.entries()) columns[k + 1]!.push(own[column[i]!]!);
    }
    return place;
  });
  return { texts: [...texts.keys()], columns, places };
}

/** Far more than fit in memory; products with the number of a group are exact. */
const maxTexts = 2 ** 26;

function numberOf<T>(numbers: Map<T, number>, value: T): number {
  const number = numbers.get(value) ?? numbers.size;
  numbers.set(value, number);
  return number;
}
