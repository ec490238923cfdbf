/**
 * Which steps of event time a range holds as a whole, and which it cuts, so that counts by step
 * answer for the former and rows for the latter. A tick is 100 ms, numbered from 1970 on. Pure.
 */
import { byStep, type CountStep, nanosPerTick } from '../sql/part-counts.ts';

/** Half-open, Unix ns; undefined = unbounded. */
export interface NanosRange {
  readonly fromNanos: bigint | undefined;
  readonly untilNanos: bigint | undefined;
}

export interface Ticks {
  readonly step: CountStep;
  /** Whole steps are in [from, until), except those cut. */
  readonly from: number;
  readonly until: number;
  /** First ticks, ascending: steps with rows inside and outside of the range, or beside a cut. */
  readonly cut: readonly number[];
}

export type TicksByStep = Readonly<Record<CountStep, Ticks>>;

/** @param cuts Unix ns within the range, for instance the edges of buckets */
export function ticksByStep(range: NanosRange, cuts: readonly bigint[] = []): TicksByStep {
  return byStep((step) => ticksOf(range, cuts, step));
}

function ticksOf(
  { fromNanos, untilNanos }: NanosRange,
  cuts: readonly bigint[],
  step: CountStep,
): Ticks {
  const stepNanos = BigInt(step) * nanosPerTick;
  const tickOf = (nanos: bigint) => Number(nanos / stepNanos) * step;
  const edges = [fromNanos, untilNanos, ...cuts].filter((edge) => edge !== undefined);
  const cut = new Set(edges.filter((edge) => edge % stepNanos !== 0n).map(tickOf));
  const from = fromNanos === undefined ? 0 : tickOf(fromNanos + stepNanos - 1n);
  const until = untilNanos === undefined ? Infinity : tickOf(untilNanos);
  return { step, from, until, cut: [...cut].sort((a, b) => a - b) };
}
