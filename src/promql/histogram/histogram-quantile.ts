/** Quantiles and fractions of native histograms, interpolated within a bucket. */
import { allBuckets, type Bucket, type Histogram, isCustom } from './histogram.ts';
import { fractionBelow } from './histogram-trim.ts';

/** NaN observations are counted and lie in no bucket. */
export type NanEffect = 'result' | 'skew' | 'excluded';

export interface Estimate {
  readonly value: number;
  readonly nan?: NanEffect;
}

export function histogramQuantile(q: number, histogram: Histogram): Estimate {
  if (q < 0) return { value: -Infinity };
  if (q > 1) return { value: Infinity };
  if (histogram.count === 0 || Number.isNaN(q)) return { value: Number.NaN };
  const buckets = allBuckets(histogram);
  const hasNan = Number.isNaN(histogram.sum);
  // From the nearer end, unless NaN would count as the highest values.
  const isForward = hasNan || q < 0.5;
  const order = isForward ? buckets : buckets.toReversed();
  let rank = (isForward ? q : 1 - q) * histogram.count;
  let count = 0;
  let found: Bucket = { lower: 0, upper: 0, count: 0, lowerInclusive: true, upperInclusive: true };
  for (const bucket of order) {
    if (bucket.count === 0) continue;
    found = bucket;
    count += bucket.count;
    if (count >= rank) break;
  }
  const bucket = withNaturalZero(histogram, found);
  if (isCustom(histogram)) {
    if (found.lower === -Infinity && found.upper <= 0) return { value: found.upper };
    if (found.lower !== -Infinity && found.upper === Infinity) return { value: found.lower };
  }
  count = Math.min(count, histogram.count);
  if (count < rank) {
    return hasNan ? { value: Number.NaN, nan: 'result' } : { value: bucket.upper };
  }
  rank = isForward ? rank - (count - bucket.count) : count - rank;
  const inBuckets = buckets.reduce((sum, one) => sum + one.count, 0);
  const value = interpolate(histogram, bucket, rank / bucket.count);
  return hasNan && inBuckets < histogram.count ? { value, nan: 'skew' } : { value };
}

/** The bucket around zero begins or ends at zero if one side is empty. */
function withNaturalZero(histogram: Histogram, bucket: Bucket): Bucket {
  if (isCustom(histogram)) return bucket.lower === -Infinity ? { ...bucket, lower: 0 } : bucket;
  if (bucket.lower >= 0 || bucket.upper <= 0) return bucket;
  const hasPositive = histogram.positive.counts.length > 0;
  const hasNegative = histogram.negative.counts.length > 0;
  if (hasPositive && !hasNegative) return { ...bucket, lower: 0 };
  return hasNegative && !hasPositive ? { ...bucket, upper: 0 } : bucket;
}

function interpolate(histogram: Histogram, { lower, upper }: Bucket, part: number): number {
  if (isCustom(histogram) || (lower <= 0 && upper >= 0)) return lower + (upper - lower) * part;
  const logLower = Math.log2(Math.abs(lower));
  const logUpper = Math.log2(Math.abs(upper));
  if (lower > 0) return 2 ** (logLower + (logUpper - logLower) * part);
  return -(2 ** (logUpper + (logLower - logUpper) * (1 - part)));
}

/** The part of the observations between two values. */
export function histogramFraction(lower: number, upper: number, histogram: Histogram): Estimate {
  if (histogram.count === 0 || Number.isNaN(lower) || Number.isNaN(upper)) {
    return { value: Number.NaN };
  }
  if (lower >= upper) return { value: 0 };
  const buckets = allBuckets(histogram);
  const inBuckets = buckets.reduce((sum, { count }) => sum + count, 0);
  const hasNan = Number.isNaN(histogram.sum) && inBuckets < histogram.count;
  const most = Number.isNaN(histogram.sum) ? inBuckets : histogram.count;
  const below = (value: number) => Math.min(most, countBelow(histogram, buckets, value) ?? most);
  const value = (below(upper) - below(lower)) / histogram.count;
  return hasNan ? { value, nan: 'excluded' } : { value };
}

/** @returns undefined above all buckets. */
function countBelow(
  histogram: Histogram,
  buckets: readonly Bucket[],
  value: number,
): number | undefined {
  let rank = 0;
  for (const found of buckets) {
    const isZero = found.lower <= 0 && found.upper >= 0;
    const bucket = isZero ? withNaturalZero(histogram, found) : found;
    if (bucket.lower >= value) return rank;
    if (bucket.upper > value) {
      if (bucket.lower === -Infinity) return bucket.count;
      const part = fractionBelow(bucket, value, isCustom(histogram) || isZero);
      return rank + bucket.count * part;
    }
    rank += bucket.count;
  }
  return undefined;
}
