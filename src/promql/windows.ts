/**
 * Which floats of a series are in the range of each step. Series that are scraped together have the
 * same times, and share their windows.
 */
import type { SampleRange } from '../model/metric-plan.ts';

/** The times at which a selector or subquery looks, for the steps of a grid. */
export interface Looks {
  readonly first: number;
  readonly last: number;
  /** From one step to the next; 0 where `@` fixes the time. */
  readonly stepMs: number;
}

export interface WindowRanges {
  /** Where the range of each step ends. */
  readonly looks: Looks;
  readonly steps: number;
  /** How far the floats of a step reach before its look, which is excluded, and behind it. */
  readonly beforeMs: number;
  readonly afterMs: number;
}

export class Windows {
  /** Of each step: floats from `from` to before `to`. */
  readonly from: Int32Array;
  readonly to: Int32Array;
  /** Total over all windows; one float may be in many. */
  readonly floats: number;
  /** The series: floats from `first` to before `end`. */
  readonly first: number;
  readonly end: number;
  readonly #times: Float64Array;
  readonly #ranges: WindowRanges;
  #extents: Extents | undefined;

  constructor({ times, from: first, to: end }: SampleRange, ranges: WindowRanges) {
    const { looks, steps, beforeMs, afterMs } = ranges;
    this.first = first;
    this.end = end;
    this.#times = times;
    this.#ranges = ranges;
    const froms = new Int32Array(steps);
    const tos = new Int32Array(steps);
    let floats = 0;
    let [from, to] = [first, first];
    for (let step = 0; step < steps; step++) {
      const atMs = looks.first + step * looks.stepMs;
      if (to < end && times[end - 1]! <= atMs + afterMs) to = end;
      while (to < end && times[to]! <= atMs + afterMs) to += 1;
      while (from < to && times[from]! <= atMs - beforeMs) from += 1;
      froms[step] = from;
      tos[step] = to;
      floats += to - from;
    }
    this.from = froms;
    this.to = tos;
    this.floats = floats;
  }

  /** @param divisor of the factors; the same in each call */
  extents(divisor: number): Extents {
    this.#extents ??= extentsOf(this, this.#times, this.#ranges, divisor);
    return this.#extents;
  }
}

/** Of each window with two floats or more, in seconds. */
export interface Extents {
  /** From the first float to the last one. */
  readonly sampled: Float64Array;
  /** How far a rate is extrapolated towards the bounds of the range. */
  readonly toStart: Float64Array;
  readonly toEnd: Float64Array;
  /** What the difference between the first float and the last one is multiplied by. */
  readonly factors: Float64Array;
}

function extentsOf(
  { from, to }: Windows,
  times: Float64Array,
  { looks, steps, beforeMs }: WindowRanges,
  divisor: number,
): Extents {
  const sampled = new Float64Array(steps);
  const toStart = new Float64Array(steps);
  const toEnd = new Float64Array(steps);
  const factors = new Float64Array(steps);
  for (let step = 0; step < steps; step++) {
    const count = to[step]! - from[step]!;
    if (count < 2) continue;
    const firstMs = times[from[step]!]!;
    const lastMs = times[to[step]! - 1]!;
    const endMs = looks.first + step * looks.stepMs;
    const seconds = (lastMs - firstMs) / 1000;
    const average = seconds / (count - 1);
    sampled[step] = seconds;
    toStart[step] = extrapolation((firstMs - (endMs - beforeMs)) / 1000, average);
    toEnd[step] = extrapolation((endMs - lastMs) / 1000, average);
    factors[step] = factorOf(seconds + toStart[step]! + toEnd[step]!, seconds, divisor);
  }
  return { sampled, toStart, toEnd, factors };
}

/** @param extrapolated seconds, with those `sampled` */
export function factorOf(extrapolated: number, sampled: number, divisor: number): number {
  return (sampled === 0 ? 1 : extrapolated / sampled) / divisor;
}

/**
 * As far as the bound of the range if that is near.
 * @param average seconds between samples
 */
export function extrapolation(seconds: number, average: number): number {
  return seconds >= average * 1.1 ? average / 2 : seconds;
}

/** Total steps of cached windows, 32 bytes each. */
const mostSteps = 250_000;

export class SharedWindows {
  readonly #ranges: WindowRanges;
  readonly #known = new Map<Float64Array, Windows>();

  constructor(ranges: WindowRanges) {
    this.#ranges = ranges;
  }

  of(series: SampleRange): Windows {
    const known = this.#known.get(series.times);
    if (known?.first === series.from && known.end === series.to) return known;
    const windows = new Windows(series, this.#ranges);
    if (this.#known.size * this.#ranges.steps > mostSteps) this.#known.clear();
    this.#known.set(series.times, windows);
    return windows;
  }
}
