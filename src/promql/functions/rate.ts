/**
 * `rate`, `increase` and `delta`, extrapolated to the bounds of the range, and `irate` and
 * `idelta`. https://prometheus.io/docs/prometheus/latest/querying/functions/#rate
 */
import { detectsReset } from '../histogram/histogram-resets.ts';
import { add, MixedSchemasError, reduceResolution, subtract } from '../histogram/histogram-sum.ts';
import {
  divide,
  type Histogram,
  isCustom,
  multiply,
  noBuckets,
  withHint,
} from '../histogram/histogram.ts';
import {
  type RangeContext,
  type RangeFunction,
  type RateKind,
  warnMixed,
} from './range-context.ts';
import { extendedRate } from './extended-rate.ts';
import type { RangeWindow } from '../selection.ts';
import { noLabels } from '../labels.ts';
import { kind as cellKind, newSeries } from '../values.ts';
import { extrapolation, Windows } from '../windows.ts';
import { type Column, rates } from './columns.ts';
import { ExactSums } from './exact-sums.ts';

export const rateFunctions: Readonly<Record<string, RangeFunction>> = {
  rate: extrapolated({ isCounter: true, isRate: true }),
  increase: extrapolated({ isCounter: true, isRate: false }),
  delta: extrapolated({ isCounter: false, isRate: false }),
  irate: (window, _args, context) => betweenLastTwo(window, context, true),
  idelta: (window, _args, context) => betweenLastTwo(window, context, false),
};

function extrapolated(kind: RateKind): RangeFunction {
  const column = rates(kind);
  return (window, _args, context) => {
    const { labels } = window;
    if (context.extension === undefined && window.histogramCount() === 0) {
      return floatRate(window, context, column);
    }
    if (window.floats() > 0 && window.histogramCount() > 0) return warnMixed(labels, context);
    try {
      if (context.extension !== undefined) return extendedRate(window, context, kind);
      return histogramRate(window, context, kind);
    } catch (error) {
      if (!(error instanceof MixedSchemasError)) throw error;
      return context.warnSchemas(labels);
    }
  };
}

function floatRate(
  { times, values, from, to, startMs, endMs }: RangeWindow,
  { rangeSeconds }: RangeContext,
  column: Column,
): number | undefined {
  const looks = { first: endMs, last: endMs, stepMs: 0 };
  const ranges = { looks, steps: 1, beforeMs: endMs - startMs, afterMs: 0 };
  const cells = newSeries(noLabels, 1);
  const target = { cells, rangeSeconds, exact: new ExactSums() };
  column({ values }, new Windows({ times, values, from, to }, ranges), target);
  return cells.kinds[0] === cellKind.float ? cells.floats[0] : undefined;
}

/**
 * Extends the sampled interval towards the bounds of the range where samples come close.
 * @param zero first count as a part of the difference: a counter does not begin below zero
 */
function factorOf(
  { startMs, endMs, histogramTimes, histogramFrom, histogramTo }: RangeWindow,
  context: RangeContext,
  kind: RateKind,
  zero: number,
): number {
  const firstMs = histogramTimes[histogramFrom]!;
  const lastMs = histogramTimes[histogramTo - 1]!;
  const sampled = (lastMs - firstMs) / 1000;
  const average = sampled / (histogramTo - histogramFrom - 1);
  let toStart = extrapolation((firstMs - startMs) / 1000, average);
  if (kind.isCounter) toStart = Math.min(toStart, sampled * zero);
  const toEnd = extrapolation((endMs - lastMs) / 1000, average);
  const factor = sampled === 0 ? 1 : (sampled + toStart + toEnd) / sampled;
  return kind.isRate ? factor / context.rangeSeconds : factor;
}

function histogramRate(window: RangeWindow, context: RangeContext, kind: RateKind) {
  const { histogramFrom: from, histogramTo: to } = window;
  if (to - from < 2) return undefined;
  const histograms = window.histograms.slice(from, to);
  const difference = histogramDifference(window, histograms, context, kind);
  const first = histograms[0]!;
  const zero = difference.count > 0 && first.count >= 0 ? first.count / difference.count : Infinity;
  return multiply(difference, factorOf(window, context, kind, zero));
}

/** @throws MixedSchemasError */
function histogramDifference(
  { labels }: RangeWindow,
  histograms: readonly Histogram[],
  context: RangeContext,
  { isCounter }: RateKind,
): Histogram {
  const last = histograms.at(-1)!;
  let first = histograms[0]!;
  const ends = [first, last];
  if (isCounter && histograms.some(({ hint }) => hint === 'gauge')) context.warnNotCounter(labels);
  if (!isCounter && ends.some(({ hint }) => hint !== 'gauge')) context.warnNotGauge(labels);
  // After a reset the first sample adds nothing, not even its layout.
  if (isCounter && detectsReset(histograms[1]!, first)) first = emptyLike(histograms[1]!);
  const relevant = isCounter ? [first, ...histograms.slice(1)] : [first, last];
  if (relevant.some((histogram) => isCustom(histogram) !== isCustom(first))) {
    throw new MixedSchemasError();
  }
  const schema = Math.min(...relevant.map((histogram) => histogram.schema));
  const start = isCustom(last) ? last : reduceResolution(last, schema);
  const combined = subtract(start, first);
  let difference = combined.histogram;
  if (combined.reconciled) context.infoReconciled('subtraction');
  let previous = first;
  for (const histogram of isCounter ? histograms.slice(1) : []) {
    if (detectsReset(histogram, previous)) {
      const corrected = add(difference, previous);
      if (corrected.reconciled) context.infoReconciled('addition');
      difference = corrected.histogram;
    }
    previous = histogram;
  }
  return withHint(difference, 'gauge');
}

function emptyLike({ schema, bounds }: Histogram): Histogram {
  const zero = { zeroThreshold: 0, zeroCount: 0, count: 0, sum: 0 };
  return { hint: 'unknown', schema, bounds, ...zero, positive: noBuckets, negative: noBuckets };
}

interface Sample {
  readonly timeMs: number;
  readonly value: number | Histogram;
}

function betweenLastTwo(window: RangeWindow, context: RangeContext, isRate: boolean) {
  const [before, last] = lastTwo(window);
  if (before === undefined || last === undefined || last.timeMs === before.timeMs) return undefined;
  const seconds = (last.timeMs - before.timeMs) / 1000;
  if (typeof last.value === 'number' && typeof before.value === 'number') {
    const isReset = isRate && last.value < before.value;
    const difference = isReset ? last.value : last.value - before.value;
    return isRate ? difference / seconds : difference;
  }
  if (typeof last.value === 'number' || typeof before.value === 'number') {
    return warnMixed(window.labels, context);
  }
  const difference = histogramStep(window, context, {
    isRate,
    before: before.value,
    last: last.value,
  });
  return difference === undefined || !isRate ? difference : divide(difference, seconds);
}

function lastTwo(window: RangeWindow): readonly (Sample | undefined)[] {
  const samples: Sample[] = [];
  const { times, values, from, to, histogramTimes, histograms, histogramFrom, histogramTo } =
    window;
  for (let i = Math.max(from, to - 2); i < to; i++) {
    samples.push({ timeMs: times[i]!, value: values[i]! });
  }
  for (let i = Math.max(histogramFrom, histogramTo - 2); i < histogramTo; i++) {
    samples.push({ timeMs: histogramTimes[i]!, value: histograms[i]! });
  }
  samples.sort((left, right) => left.timeMs - right.timeMs);
  return [samples.at(-2), samples.at(-1)];
}

function histogramStep(
  { labels }: RangeWindow,
  context: RangeContext,
  {
    isRate,
    before,
    last,
  }: { readonly isRate: boolean; readonly before: Histogram; readonly last: Histogram },
): Histogram | undefined {
  const hints = [before.hint, last.hint];
  if (isRate && hints.includes('gauge')) context.warnNotCounter(labels);
  if (!isRate && hints.some((hint) => hint !== 'gauge')) context.warnNotGauge(labels);
  if (isRate && detectsReset(last, before)) return withHint(last, 'gauge');
  try {
    const { histogram, reconciled } = subtract(last, before);
    if (reconciled) context.infoReconciled('subtraction');
    return withHint(histogram, 'gauge');
  } catch (error) {
    if (!(error instanceof MixedSchemasError)) throw error;
    return context.warnSchemas(labels);
  }
}
