/** What the evaluator needs of a store of samples. */
import type { LabelMatcher, SampleRange } from '../model/metric-plan.ts';
import { type Histogram, noBuckets } from './histogram/histogram.ts';
import type { Labels } from './labels.ts';

/** No two samples have the same time. */
export interface SampleSeries extends SampleRange {
  readonly labels: Labels;
  readonly histogramTimes: Float64Array;
  readonly histograms: readonly Histogram[];
}

export interface SampleSource {
  /**
   * All series that match, sorted by labels, with their samples from `fromMs` to `untilMs`, both
   * included; those in memory at once.
   */
  select(
    matchers: readonly LabelMatcher[],
    range: { readonly fromMs: number; readonly untilMs: number },
  ): readonly SampleSeries[] | Promise<readonly SampleSeries[]>;
}

export const noTimes = new Float64Array();

/** The series that have samples from `fromMs` to `untilMs`, both included; arrays are shared. */
export function seriesWithin(
  all: readonly SampleSeries[],
  fromMs: number,
  untilMs: number,
): SampleSeries[] {
  const within: SampleSeries[] = [];
  for (const series of all) {
    const { histogramTimes, histograms } = series;
    const { from, to } = floatsWithin(series, fromMs - 1, untilMs);
    const ofHistograms = { from: 0, to: histograms.length };
    const first = firstAfter(histogramTimes, fromMs - 1, ofHistograms);
    const end = firstAfter(histogramTimes, untilMs, ofHistograms);
    if (from === to && first === end) continue;
    within.push({
      ...series,
      from,
      to,
      histogramTimes: histogramTimes.subarray(first, end),
      histograms: histograms.slice(first, end),
    });
  }
  return within;
}

/** The floats after `startMs` until `endMs`; arrays are shared. */
export function floatsWithin(series: SampleRange, startMs: number, endMs: number): SampleRange {
  const from = firstAfter(series.times, startMs, series);
  return { ...series, from, to: firstAfter(series.times, endMs, series) };
}

/** Index of the first time after `timeMs`, by bisection; `to` = none. */
function firstAfter(
  times: Float64Array,
  timeMs: number,
  { from, to }: Pick<SampleRange, 'from' | 'to'>,
): number {
  let [low, high] = [from, to];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (times[middle]! <= timeMs) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Whether the bits at an index are Prometheus' stale marker. */
export function isStale(values: Float64Array, index: number): boolean {
  const value = values[index]!;
  if (value === value) return false;
  const { buffer, byteOffset } = values;
  const bits = new DataView(buffer, byteOffset + index * 8, 8);
  return bits.getUint32(0, true) === 2 && bits.getUint32(4, true) === 0x7ff00000;
}

/** Stands for a native histogram with a stale marker as its sum. */
export const staleHistogram: Histogram = {
  hint: 'unknown',
  schema: 0,
  zeroThreshold: 0,
  zeroCount: 0,
  count: 0,
  sum: Number.NaN,
  positive: noBuckets,
  negative: noBuckets,
  bounds: [],
};
