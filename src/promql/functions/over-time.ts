/** Functions of the samples in a range: `*_over_time`, `changes`, `resets`, `deriv` and such. */
import { forMetric } from '../annotations.ts';
import { type RangeContext, type RangeFunction, warnMixed } from './range-context.ts';
import { MixedSchemasError } from '../histogram/histogram-sum.ts';
import type { Histogram } from '../histogram/histogram.ts';
import { KahanSum } from '../histogram/kahan.ts';
import { metricName } from '../labels.ts';
import { averageFloats, startTotal, sumFloats } from './sums.ts';
import { quantile } from './quantile.ts';
import type { RangeWindow } from '../selection.ts';
import { executionError } from '../errors.ts';
import { formatShort } from '../parser/numbers.ts';

type FloatFunction = (
  window: RangeWindow,
  args: readonly number[],
  context: RangeContext,
) => number | undefined;

/** Ignores histograms, with an info where there are both. */
function ofFloats(compute: FloatFunction, { least = 1 } = {}): RangeFunction {
  return (window, args, context) => {
    if (window.floats() === 0) return undefined;
    if (window.histogramCount() > 0) infoIgnored(window, context);
    return window.floats() < least ? undefined : compute(window, args, context);
  };
}

function infoIgnored({ labels }: RangeWindow, { notes, at }: RangeContext): void {
  const text = 'ignored histograms in a range containing both floats and histograms';
  notes.info(at, `${text}${forMetric(metricName(labels)) || ' for metric name ""'}`);
}

export const overTimeFunctions: Readonly<Record<string, RangeFunction>> = {
  count_over_time: (window) => window.floats() + window.histogramCount(),
  present_over_time: () => 1,
  absent_over_time: () => 1,
  first_over_time: firstSample,
  last_over_time: lastSample,
  ts_of_first_over_time: ({ times, from, to, histogramTimes, histogramFrom, histogramTo }) =>
    Math.min(
      from < to ? times[from]! : Infinity,
      histogramFrom < histogramTo ? histogramTimes[histogramFrom]! : Infinity,
    ) / 1000,
  ts_of_last_over_time: (window) => lastTimes(window).latest / 1000,
  max_over_time: ofFloats((window) => window.values[extremeIndex(window, isGreater)]!),
  min_over_time: ofFloats((window) => window.values[extremeIndex(window, isLess)]!),
  ts_of_max_over_time: ofFloats(
    (window) => window.times[extremeIndex(window, (a, b) => a >= b)]! / 1000,
  ),
  ts_of_min_over_time: ofFloats(
    (window) => window.times[extremeIndex(window, (a, b) => a <= b)]! / 1000,
  ),
  sum_over_time: ofOneKind(sumFloats, 'sum'),
  avg_over_time: ofOneKind(averageFloats, 'avg'),
  stddev_over_time: ofFloats((window) => Math.sqrt(variance(window))),
  stdvar_over_time: ofFloats(variance),
  mad_over_time: ofFloats(medianDeviation),
  quantile_over_time: (window, args, context) => {
    const q = args[0]!;
    if (window.floats() === 0) return undefined;
    if (!(q >= 0 && q <= 1)) {
      const text = `quantile value should be between 0 and 1, got ${formatShort(q)}`;
      context.notes.warn(context.first, text);
    }
    return quantiles(window, args, context);
  },
  deriv: ofFloats((window) => regression(window, window.times[window.from]!).slope, { least: 2 }),
  predict_linear: ofFloats(
    (window, [seconds]) => {
      const { slope, intercept } = regression(window, window.stepMs);
      return slope * seconds! + intercept;
    },
    { least: 2 },
  ),
  double_exponential_smoothing: ofFloats(smooth, { least: 2 }),
};

const quantiles = ofFloats((window, [q], context) => {
  const numbers = context.copyOf(window);
  return quantile(q!, numbers, window.floats());
});

function firstSample(window: RangeWindow): number | Histogram | undefined {
  const { times, values, from, histogramTimes, histograms, histogramFrom } = window;
  const isFloat =
    window.histogramCount() === 0 ||
    (window.floats() > 0 && times[from]! < histogramTimes[histogramFrom]!);
  return isFloat ? values[from] : histograms[histogramFrom];
}

function lastSample(window: RangeWindow): number | Histogram | undefined {
  const { values, to, histograms, histogramTo } = window;
  const { float, histogram } = lastTimes(window);
  return float > histogram ? values[to - 1] : histograms[histogramTo - 1];
}

function lastTimes({ times, from, to, histogramTimes, histogramFrom, histogramTo }: RangeWindow) {
  const float = from < to ? times[to - 1]! : -Infinity;
  const histogram = histogramFrom < histogramTo ? histogramTimes[histogramTo - 1]! : -Infinity;
  return { float, histogram, latest: Math.max(float, histogram) };
}

const isGreater = (value: number, best: number) => value > best;
const isLess = (value: number, best: number) => value < best;

function extremeIndex(
  { values, from, to }: RangeWindow,
  isBetter: (value: number, best: number) => boolean,
): number {
  let best = from;
  for (let i = from; i < to; i++) {
    if (isBetter(values[i]!, values[best]!) || Number.isNaN(values[best]!)) best = i;
  }
  return best;
}

function ofOneKind(
  compute: (values: Float64Array, from: number, to: number) => number,
  op: 'sum' | 'avg',
): RangeFunction {
  return (window, _args, context) => {
    if (window.histogramCount() === 0) return compute(window.values, window.from, window.to);
    if (window.floats() > 0) return warnMixed(window.labels, context);
    return totalOf(window, context, op);
  };
}

async function totalOf(
  { labels, histograms: all, histogramFrom, histogramTo }: RangeWindow,
  context: RangeContext,
  op: 'sum' | 'avg',
): Promise<Histogram | undefined> {
  const histograms = all.slice(histogramFrom, histogramTo);
  const total = startTotal(op, histograms[0]!);
  let reconciled = false;
  try {
    for (const histogram of histograms.slice(1)) {
      // A range may have a day of them.
      if (context.ev.isTurnOver()) await context.ev.breathe();
      reconciled = total.add(histogram) || reconciled;
    }
  } catch (error) {
    if (!(error instanceof MixedSchemasError)) throw error;
    return context.warnSchemas(labels);
  }
  context.noteAggregated(histograms, reconciled);
  return total.result();
}

/** Welford's algorithm. */
function variance({ values, from, to }: RangeWindow): number {
  const mean = new KahanSum(0);
  const squares = new KahanSum(0);
  for (let i = from; i < to; i++) {
    const value = values[i]!;
    const delta = value - mean.value();
    mean.add(delta / (i - from + 1));
    squares.add(delta * (value - mean.value()));
  }
  return squares.value() / (to - from);
}

function medianDeviation({ values, from, to }: RangeWindow): number {
  const all = values.slice(from, to);
  if (all.some(Number.isNaN)) return Number.NaN;
  const median = quantile(0.5, all);
  return quantile(
    0.5,
    all.map((value) => Math.abs(value - median)),
  );
}

function regression({ times, values, from, to }: RangeWindow, originMs: number) {
  const [x, y] = [new KahanSum(0), new KahanSum(0)];
  const [xy, xx] = [new KahanSum(0), new KahanSum(0)];
  const first = values[from]!;
  let isConstant = true;
  for (let i = from; i < to; i++) {
    const value = values[i]!;
    const seconds = (times[i]! - originMs) / 1000;
    isConstant &&= value === first || i === from;
    x.add(seconds);
    y.add(value);
    xy.add(seconds * value);
    xx.add(seconds * seconds);
  }
  if (isConstant) {
    const isInfinite = first === Infinity || first === -Infinity;
    return { slope: isInfinite ? Number.NaN : 0, intercept: isInfinite ? Number.NaN : first };
  }
  const n = to - from;
  const covariance = xy.value() - (x.value() * y.value()) / n;
  const spread = xx.value() - (x.value() * x.value()) / n;
  const slope = covariance / spread;
  return { slope, intercept: y.value() / n - (slope * x.value()) / n };
}

function smooth({ values, from, to }: RangeWindow, [smoothing, trending]: readonly number[]) {
  const sf = smoothing!;
  const tf = trending!;
  if (!(sf > 0 && sf < 1)) {
    throw executionError(`invalid smoothing factor. Expected: 0 < sf < 1, got: ${sf.toFixed(6)}`);
  }
  if (!(tf > 0 && tf < 1)) {
    throw executionError(`invalid trend factor. Expected: 0 < tf < 1, got: ${tf.toFixed(6)}`);
  }
  let before = 0;
  let current = values[from]!;
  let trend = values[from + 1]! - values[from]!;
  for (let i = from + 1; i < to; i++) {
    if (i > from + 1) trend = tf * (current - before) + (1 - tf) * trend;
    before = current;
    current = sf * values[i]! + (1 - sf) * (before + trend);
  }
  return current;
}
