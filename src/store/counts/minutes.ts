/**
 * Which minutes of event time a range holds as a whole, and which it cuts, so that counts by minute
 * answer for the former and rows for the latter; the same for hours. Minutes since 1970. Pure.
 */
import type { CountStep } from '../sql/part-counts.ts';

/** Half-open, Unix ns; undefined = unbounded. */
export interface NanosRange {
  readonly fromNanos: bigint | undefined;
  readonly untilNanos: bigint | undefined;
}

export interface Minutes {
  readonly step: CountStep;
  /** Whole steps are in [from, until), except those cut. */
  readonly from: number;
  readonly until: number;
  /** Ascending: steps with rows inside and outside of the range, or on both sides of a cut. */
  readonly cut: readonly number[];
}

const nanosPerMinute = 60_000_000_000n;

/** @param cuts Unix ns within the range, for instance the edges of buckets */
export function minutesOf(
  { fromNanos, untilNanos }: NanosRange,
  cuts: readonly bigint[] = [],
  step: CountStep = 1,
): Minutes {
  const stepNanos = BigInt(step) * nanosPerMinute;
  const minuteOf = (nanos: bigint) => Number(nanos / stepNanos) * step;
  const edges = [fromNanos, untilNanos, ...cuts].filter((edge) => edge !== undefined);
  const cut = new Set(edges.filter((edge) => edge % stepNanos !== 0n).map(minuteOf));
  const from = fromNanos === undefined ? 0 : minuteOf(fromNanos + stepNanos - 1n);
  const until = untilNanos === undefined ? Infinity : minuteOf(untilNanos);
  return { step, from, until, cut: [...cut].sort((a, b) => a - b) };
}
