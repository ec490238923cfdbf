/**
 * The most used range functions over series of floats. All steps of a series are computed in one
 * loop, since a call for each step costs more than its result.
 */
import type { SampleRange } from '../../model/metric-plan.ts';
import { roundingLoss } from '../histogram/kahan.ts';
import { type GridSeries, kind } from '../values.ts';
import { factorOf, type Windows } from '../windows.ts';
import type { ExactSums } from './exact-sums.ts';
import type { RateKind } from './range-context.ts';
import { averageFloats, sumFloats } from './sums.ts';

export interface ColumnTarget {
  readonly cells: GridSeries;
  readonly rangeSeconds: number;
  /** Overwritten. */
  readonly exact: ExactSums;
}

/** @returns false if it would block for too long; then nothing has changed */
export type Column = (
  series: Pick<SampleRange, 'values' | 'falls'>,
  windows: Windows,
  into: ColumnTarget,
) => boolean;

export const columns: ReadonlyMap<string, Column> = new Map<string, Column>([
  ['rate', rates({ isCounter: true, isRate: true })],
  ['increase', rates({ isCounter: true, isRate: false })],
  ['delta', rates({ isCounter: false, isRate: false })],
  ['sum_over_time', sums({ isMean: false })],
  ['avg_over_time', sums({ isMean: true })],
  ['max_over_time', extremes(1)],
  ['min_over_time', extremes(-1)],
  ['last_over_time', eachWindow((values, _from, to) => values[to - 1]!)],
  ['count_over_time', eachWindow((_values, from, to) => to - from)],
]);

/** Added or compared at once, which takes milliseconds. */
const mostFloats = 1_000_000;

/** Extrapolated to the bounds of the range, of counters at most to where they would be zero. */
export function rates({ isCounter, isRate }: RateKind): Column {
  return ({ values, falls }, windows, { cells: { kinds, floats }, rangeSeconds }) => {
    const { from, to } = windows;
    const divisor = isRate ? rangeSeconds : 1;
    const { sampled, toStart, toEnd, factors } = windows.extents(divisor);
    const resets = isCounter ? (falls ?? fallsOf(values, windows.first, windows.end)) : noFalls;
    for (let step = 0; step < from.length; step++) {
      const low = from[step]!;
      const high = to[step]!;
      if (high - low < 2) continue;
      const first = values[low]!;
      let difference = values[high - 1]! - first;
      for (let i = firstAfter(resets, low); i < resets.length && resets[i]! < high; i++) {
        difference += values[resets[i]! - 1]!;
      }
      let factor = factors[step]!;
      // A counter does not begin below zero. `toStart` is less than 1.1 times `sampled`.
      if (isCounter && difference > 0 && first >= 0 && first < 2 * difference) {
        const seconds = sampled[step]!;
        const before = Math.min(toStart[step]!, seconds * (first / difference));
        factor = factorOf(seconds + before + toEnd[step]!, seconds, divisor);
      }
      kinds[step] = kind.float;
      floats[step] = difference * factor;
    }
    return true;
  };
}

const noFalls: readonly number[] = [];

/** Indexes of values lower than the one before, ascending. */
function fallsOf(values: Float64Array, from: number, to: number): readonly number[] {
  let found: number[] | undefined;
  for (let i = from + 1; i < to; i++) {
    if (values[i]! < values[i - 1]!) (found ??= []).push(i);
  }
  return found ?? noFalls;
}

/** Index of the first element greater than `value`. */
function firstAfter(ascending: readonly number[], value: number): number {
  let low = 0;
  let high = ascending.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (ascending[middle]! > value) high = middle;
    else low = middle + 1;
  }
  return low;
}

function sums({ isMean }: { readonly isMean: boolean }): Column {
  const compute = isMean ? averageFloats : sumFloats;
  return ({ values }, windows, { cells: { kinds, floats }, exact }) => {
    const { from, to, first, end } = windows;
    const isExact = from.length > 1 && exact.add(values, first, end);
    if (!isExact && windows.floats > mostFloats) return false;
    for (let step = 0; step < from.length; step++) {
      const low = from[step]!;
      const high = to[step]!;
      if (low === high) continue;
      kinds[step] = kind.float;
      if (!isExact) {
        floats[step] = compute(values, low, high);
        continue;
      }
      if (exact.areWhole) {
        const whole = exact.sums[high - first]! - exact.sums[low - first]!;
        floats[step] = isMean ? whole / (high - low) : whole;
        continue;
      }
      const before = exact.sums[low - first]!;
      const until = exact.sums[high - first]!;
      const sum = until - before;
      const rest =
        exact.rests[high - first]! - exact.rests[low - first]! + roundingLoss(until, -before);
      const divisor = isMean ? high - low : 1;
      floats[step] = sum / divisor + rest / divisor;
    }
    return true;
  };
}

/** The greatest of the values times `sign`; NaN only where all are. */
function extremes(sign: 1 | -1): Column {
  return ({ values }, windows, { cells: { kinds, floats } }) => {
    if (windows.floats > mostFloats) return false;
    const { from, to } = windows;
    let best = -1;
    let next = 0;
    for (let step = 0; step < from.length; step++) {
      const high = to[step]!;
      if (from[step] === high) continue;
      // Search again once the best value has left the window.
      if (best < from[step]!) next = best = from[step]!;
      for (; next < high; next++) {
        const known = values[best]!;
        if (sign * values[next]! > sign * known || Number.isNaN(known)) best = next;
      }
      kinds[step] = kind.float;
      floats[step] = values[best]!;
    }
    return true;
  };
}

function eachWindow(
  valueOf: (values: SampleRange['values'], from: number, to: number) => number,
): Column {
  return ({ values }, { from, to }, { cells: { kinds, floats } }) => {
    for (let step = 0; step < from.length; step++) {
      if (from[step] === to[step]) continue;
      kinds[step] = kind.float;
      floats[step] = valueOf(values, from[step]!, to[step]!);
    }
    return true;
  };
}
