/**
 * Which steps of event time a range and its buckets hold as a whole, and which they cut, so that
 * counts by step answer for the former and rows for the latter. A tick is 1 ms, numbered from 1970
 * on. Pure.
 */
import { nanosPerTick } from '../sql/part-counts.ts';
import type { TimeWindow } from '../sql/time-windows.ts';

export interface Ticks {
  /** Whole steps are in [from, until), except those cut. */
  readonly from: number;
  readonly until: number;
  /** First ticks, ascending: steps with rows inside and outside of the range, or beside a cut. */
  readonly cut: readonly number[];
}

/**
 * Drops the ends and edges that all logs are on one side of, so that they cut no step.
 * @param span ticks of the first and the last log
 */
export function within(
  { fromNanos, untilNanos }: TimeWindow,
  edges: readonly number[],
  [first, last]: readonly [number, number],
): { readonly range: TimeWindow; readonly edges: readonly number[] } {
  const isBefore = (nanos: bigint) => Number((nanos + nanosPerTick - 1n) / nanosPerTick) <= first;
  const isAfter = (nanos: bigint) => Number(nanos / nanosPerTick) > last;
  const range = {
    fromNanos: fromNanos === undefined || isBefore(fromNanos) ? undefined : fromNanos,
    untilNanos: untilNanos === undefined || isAfter(untilNanos) ? undefined : untilNanos,
  };
  const outer = (edge: number) => (edge <= first ? -Infinity : edge > last ? Infinity : edge);
  return { range, edges: edges.map(outer) };
}

/**
 * @param edges ticks within the range, such as the edges of buckets
 * @param step in ticks; 1 = the ticks themselves
 */
export function ticksOf(
  { fromNanos, untilNanos }: TimeWindow,
  edges: readonly number[],
  step: number,
): Ticks {
  const stepNanos = BigInt(step) * nanosPerTick;
  const tickOf = (nanos: bigint) => Number(nanos / stepNanos) * step;
  const ends = [fromNanos, untilNanos].filter((end) => end !== undefined);
  const cut = new Set(ends.filter((end) => end % stepNanos !== 0n).map(tickOf));
  for (const edge of edges) {
    if (Number.isFinite(edge) && edge % step !== 0) cut.add(floorTo(edge, step));
  }
  const from = fromNanos === undefined ? 0 : tickOf(fromNanos + stepNanos - 1n);
  const until = untilNanos === undefined ? Infinity : tickOf(untilNanos);
  return { from, until, cut: [...cut].sort((a, b) => a - b) };
}

/** Faster than a remainder of numbers of more than 32 bits. */
export function floorTo(tick: number, step: number): number {
  return Math.floor(tick / step) * step;
}

/** Disjoint spans of ticks [from, until), ascending, each of one bucket. */
export interface Segments {
  readonly from: readonly number[];
  readonly until: readonly number[];
  readonly bucket: readonly number[];
}

/**
 * The whole steps of each bucket within the range.
 * @param edges of the buckets; empty = one bucket without ends
 */
export function wholeSegments(ticks: Ticks, edges: readonly number[], step: number): Segments {
  const spans = edges.length === 0 ? [-Infinity, Infinity] : edges;
  const found = { from: [] as number[], until: [] as number[], bucket: [] as number[] };
  for (let bucket = 0; bucket + 1 < spans.length; bucket++) {
    const from = Math.max(ticks.from, Math.ceil(spans[bucket]! / step) * step);
    const until = Math.min(ticks.until, floorTo(spans[bucket + 1]!, step));
    if (from < until) addSegment(found, from, until, bucket);
  }
  return found;
}

/** What of these lies within [from, until). */
export function clipped(segments: Segments, from: number, until: number): Segments {
  const found = { from: [] as number[], until: [] as number[], bucket: [] as number[] };
  let i = indexAfter(segments.until, from, 0, segments.until.length);
  for (; i < segments.from.length && segments.from[i]! < until; i++) {
    const start = Math.max(segments.from[i]!, from);
    addSegment(found, start, Math.min(segments.until[i]!, until), segments.bucket[i]!);
  }
  return found;
}

type Adding = { readonly [Key in keyof Segments]: number[] };

function addSegment(segments: Adding, from: number, until: number, bucket: number): void {
  segments.from.push(from);
  segments.until.push(until);
  segments.bucket.push(bucket);
}

/** Index in [low, high) of the first number above `limit` in an ascending list, or `high`. */
export function indexAfter(
  ascending: ArrayLike<number>,
  limit: number,
  low: number,
  high: number,
): number {
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (ascending[middle]! > limit) high = middle;
    else low = middle + 1;
  }
  return low;
}
