/**
 * Rates whose range is completed by the samples around it: `anchored` takes the last one before
 * the start, `smoothed` interpolates at both ends.
 */
import { detectsReset } from '../histogram/histogram-resets.ts';
import { add, MixedSchemasError, subtract } from '../histogram/histogram-sum.ts';
import { divide, type Histogram, isCustom, multiply, withHint } from '../histogram/histogram.ts';
import type { RangeContext, RateKind } from './range-context.ts';
import type { RangeWindow } from '../selection.ts';

/** @throws MixedSchemasError */
export function extendedRate(window: RangeWindow, context: RangeContext, kind: RateKind) {
  return window.floats() > 0
    ? extendedFloats(window, context, kind)
    : extendedHistograms(window, context, kind);
}

export interface Extent {
  readonly first: number;
  readonly last: number;
}

/**
 * The samples from the last one at or before the start, for `smoothed` until the first one at or
 * after the end. @returns undefined where all are outside
 */
export function extentOf(
  times: Float64Array,
  [from, to]: readonly [number, number],
  window: Pick<RangeWindow, 'startMs' | 'endMs'>,
  isSmoothed: boolean,
): Extent | undefined {
  const { startMs, endMs } = window;
  let last = to - 1;
  let first = from;
  while (first < last && times[first + 1]! <= startMs) first += 1;
  if (isSmoothed) {
    let end = from;
    while (end < last && times[end]! < endMs) end += 1;
    last = end;
  }
  if (times[last]! <= startMs || (isSmoothed && times[first]! > endMs)) return undefined;
  return { first, last };
}

function extendedFloats(window: RangeWindow, context: RangeContext, kind: RateKind) {
  const { times, values, from, to, startMs, endMs } = window;
  const isSmoothed = context.extension === 'smoothed';
  const extent = extentOf(times, [from, to], window, isSmoothed);
  if (extent === undefined) return undefined;
  const { left, right } = edgesOf(window, extent, { isSmoothed, isCounter: kind.isCounter });
  let difference = right - left;
  if (kind.isCounter) {
    const first = extent.first + (times[extent.first]! <= startMs ? 1 : 0);
    const last = extent.last - (times[extent.last]! >= endMs ? 1 : 0);
    let before = left;
    for (let i = first; i <= last; i++) {
      if (values[i]! < before) difference += before;
      before = values[i]!;
    }
    if (right < before) difference += before;
  }
  return kind.isRate ? difference / context.rangeSeconds : difference;
}

/** Values at the start and at the end of the range. */
export function edgesOf(
  { times, values, startMs, endMs, from }: RangeWindow,
  { first, last }: Extent,
  { isSmoothed, isCounter }: { readonly isSmoothed: boolean; readonly isCounter: boolean },
): { left: number; right: number } {
  const between = (index: number, timeMs: number) =>
    interpolate(
      { timeMs: times[index]!, value: values[index]! },
      { timeMs: times[index + 1]!, value: values[index + 1]! },
      { timeMs, isCounter },
    );
  const left = isSmoothed && times[first]! < startMs ? between(first, startMs) : values[first]!;
  const isBeyond = isSmoothed && last > from && times[last]! > endMs;
  return { left, right: isBeyond ? between(last - 1, endMs) : values[last]! };
}

interface FloatSample {
  readonly timeMs: number;
  readonly value: number;
}

export function interpolate(
  before: FloatSample,
  after: FloatSample,
  { timeMs, isCounter }: { readonly timeMs: number; readonly isCounter: boolean },
): number {
  const start = isCounter && after.value < before.value ? 0 : before.value;
  const length = after.timeMs - before.timeMs;
  return start + ((after.value - start) * (timeMs - before.timeMs)) / length;
}

interface HistogramSample {
  readonly timeMs: number;
  readonly histogram: Histogram;
}

/** @throws MixedSchemasError */
export function interpolateHistograms(
  before: HistogramSample,
  after: HistogramSample,
  {
    timeMs,
    isCounter,
    context,
  }: {
    readonly timeMs: number;
    readonly isCounter: boolean;
    readonly context: Pick<RangeContext, 'infoReconciled'>;
  },
): Histogram {
  if (timeMs === before.timeMs) return before.histogram;
  if (timeMs === after.timeMs) return after.histogram;
  const part = (timeMs - before.timeMs) / (after.timeMs - before.timeMs);
  if (isCounter && detectsReset(after.histogram, before.histogram)) {
    return multiply(after.histogram, part);
  }
  const difference = subtract(after.histogram, before.histogram);
  if (difference.reconciled) context.infoReconciled('subtraction');
  const sum = add(multiply(difference.histogram, part), before.histogram);
  if (sum.reconciled) context.infoReconciled('addition');
  return sum.histogram;
}

function extendedHistograms(window: RangeWindow, context: RangeContext, kind: RateKind) {
  const { histogramTimes: times, histogramFrom, histogramTo, labels } = window;
  const isSmoothed = context.extension === 'smoothed';
  const extent = extentOf(times, [histogramFrom, histogramTo], window, isSmoothed);
  if (extent === undefined) return undefined;
  const used = window.histograms.slice(extent.first, extent.last + 1);
  if (used.some((histogram) => isCustom(histogram) !== isCustom(used[0]!))) {
    throw new MixedSchemasError();
  }
  if (kind.isCounter && used.some(({ hint }) => hint === 'gauge')) context.warnNotCounter(labels);
  const { left, right } = histogramEdges(window, extent, { isSmoothed, context, kind });
  if (!kind.isCounter && [left, right].some(({ hint }) => hint !== 'gauge')) {
    context.warnNotGauge(labels);
  }
  const difference = subtract(right, left);
  if (difference.reconciled) context.infoReconciled('subtraction');
  let result = difference.histogram;
  for (const lost of kind.isCounter ? lostInResets(window, extent, { left, right }) : []) {
    const corrected = add(result, lost);
    if (corrected.reconciled) context.infoReconciled('addition');
    result = corrected.histogram;
  }
  if (kind.isRate) result = divide(result, context.rangeSeconds);
  return withHint(result, 'gauge');
}

function histogramEdges(
  { histogramTimes: times, histograms, startMs, endMs, histogramFrom }: RangeWindow,
  { first, last }: Extent,
  {
    isSmoothed,
    context,
    kind: { isCounter },
  }: { readonly isSmoothed: boolean; readonly context: RangeContext; readonly kind: RateKind },
): { left: Histogram; right: Histogram } {
  const sample = (i: number) => ({ timeMs: times[i]!, histogram: histograms[i]! });
  const between = (i: number, timeMs: number) =>
    interpolateHistograms(sample(i), sample(i + 1), { timeMs, isCounter, context });
  const isEarly = isSmoothed && times[first]! < startMs;
  const isLate = isSmoothed && last > histogramFrom && times[last]! > endMs;
  return {
    left: isEarly ? between(first, startMs) : histograms[first]!,
    right: isLate ? between(last - 1, endMs) : histograms[last]!,
  };
}

/** What the counter had reached before each reset inside of the range. */
function lostInResets(
  { histogramTimes: times, histograms, startMs }: RangeWindow,
  { first, last }: Extent,
  { left, right }: { readonly left: Histogram; readonly right: Histogram },
): Histogram[] {
  let next = first + 1;
  let before = left;
  const wasInterpolated = times[first]! < startMs && next <= last;
  if (
    wasInterpolated &&
    detectsReset(histograms[next]!, histograms[first]!) &&
    left !== histograms[first]
  ) {
    before = histograms[next]!;
    next += 1;
  }
  const lost: Histogram[] = [];
  if (next > last) return lost;
  for (let i = next; i < last; i++) {
    if (detectsReset(histograms[i]!, before)) lost.push(before);
    before = histograms[i]!;
  }
  if (detectsReset(right, before)) lost.push(before);
  return lost;
}
