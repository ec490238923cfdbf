/** Functions of single samples: arithmetic, dates and parts of histograms. */
import { allBuckets, type Histogram, isCustom } from '../histogram/histogram.ts';
import { KahanSum } from '../histogram/kahan.ts';

/** @param args scalar arguments at this step. */
type FloatFunction = (value: number, args: readonly number[]) => number | undefined;

export const floatFunctions: Readonly<Record<string, FloatFunction>> = {
  abs: Math.abs,
  acos: Math.acos,
  acosh: Math.acosh,
  asin: Math.asin,
  asinh: Math.asinh,
  atan: Math.atan,
  atanh: Math.atanh,
  ceil: Math.ceil,
  cos: Math.cos,
  cosh: Math.cosh,
  deg: (value) => (value * 180) / Math.PI,
  exp: Math.exp,
  floor: Math.floor,
  ln: Math.log,
  log10: Math.log10,
  log2: Math.log2,
  rad: (value) => (value * Math.PI) / 180,
  sgn: (value) => (value < 0 ? -1 : value > 0 ? 1 : value),
  sin: Math.sin,
  sinh: Math.sinh,
  sqrt: Math.sqrt,
  tan: Math.tan,
  tanh: Math.tanh,
  clamp: (value, [least, most]) => (most! < least! ? undefined : clamp(value, least!, most!)),
  clamp_max: (value, [most]) => clamp(value, -Infinity, most!),
  clamp_min: (value, [least]) => clamp(value, least!, Infinity),
  round: (value, [nearest = 1]) => {
    const inverse = 1 / nearest;
    return Math.floor(value * inverse + 0.5) / inverse;
  },
  minute: ofDate((date) => date.getUTCMinutes()),
  hour: ofDate((date) => date.getUTCHours()),
  day_of_week: ofDate((date) => date.getUTCDay()),
  day_of_month: ofDate((date) => date.getUTCDate()),
  day_of_year: ofDate((date) => {
    const first = Date.UTC(date.getUTCFullYear(), 0, 1);
    return Math.floor((date.getTime() - first) / msPerDay) + 1;
  }),
  days_in_month: ofDate((date) =>
    new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate(),
  ),
  month: ofDate((date) => date.getUTCMonth() + 1),
  year: ofDate((date) => date.getUTCFullYear()),
};

const msPerDay = 86_400_000;

function ofDate(part: (date: Date) => number): FloatFunction {
  return (seconds) => part(new Date(Math.trunc(seconds) * 1000));
}

function clamp(value: number, least: number, most: number): number {
  return Math.max(least, Math.min(most, value));
}

export const histogramFunctions: Readonly<Record<string, (histogram: Histogram) => number>> = {
  histogram_avg: ({ sum, count }) => sum / count,
  histogram_count: ({ count }) => count,
  histogram_sum: ({ sum }) => sum,
  histogram_stddev: (histogram) => Math.sqrt(variance(histogram)),
  histogram_stdvar: variance,
};

/** Takes each observation as the middle of its bucket: geometric unless bounds are custom. */
function variance(histogram: Histogram): number {
  const mean = histogram.sum / histogram.count;
  const squares = new KahanSum(0);
  for (const { lower, upper, count } of allBuckets(histogram)) {
    let middle = (upper + lower) / 2;
    if (!isCustom(histogram)) {
      const isZero = lower <= 0 && upper >= 0;
      middle = isZero ? 0 : Math.sqrt(upper * lower) * Math.sign(upper);
    }
    squares.add(count * (middle - mean) ** 2);
  }
  return squares.value() / histogram.count;
}
