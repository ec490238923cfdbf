/** The trim operators `</` and `>/`: removes observations above or below a value. */
import {
  type Bucket,
  type Buckets,
  type Histogram,
  isCustom,
  negativeBuckets,
  positiveBuckets,
  toBuckets,
  zeroBucket,
} from './histogram.ts';

/** `upper` keeps what is below the value, `lower` what is above it. */
export function trimHistogram(
  histogram: Histogram,
  at: number,
  side: 'upper' | 'lower',
): Histogram {
  const trimmer = new Trimmer(histogram, at, side);
  const positive = trimmer.trim(histogram.positive, positiveBuckets(histogram), 1);
  const negative = trimmer.trim(histogram.negative, negativeBuckets(histogram), -1);
  const zeroCount = trimmer.trimZero();
  if (!trimmer.changed) return histogram;
  return { ...histogram, positive, negative, zeroCount, count: trimmer.count, sum: trimmer.sum };
}

/** Observations that stay in a bucket, and their estimated mean. */
interface Kept {
  readonly count: number;
  readonly mean: number;
}

class Trimmer {
  count = 0;
  sum = 0;
  changed = false;
  readonly #histogram: Histogram;
  readonly #at: number;
  readonly #side: 'upper' | 'lower';

  constructor(histogram: Histogram, at: number, side: 'upper' | 'lower') {
    this.#histogram = histogram;
    this.#at = at;
    this.#side = side;
  }

  trim(buckets: Buckets, shown: readonly Bucket[], sign: 1 | -1): Buckets {
    return toBuckets(
      buckets.indexes.map((index, i) => {
        const bucket = shown[i]!;
        const kept = this.#keptOf(bucket, sign);
        this.#take(kept, bucket.count);
        return [index, kept.count] as const;
      }),
    );
  }

  trimZero(): number {
    const { zeroCount, positive, negative } = this.#histogram;
    if (zeroCount <= 0) return zeroCount;
    const hasPositive = positive.counts.length > 0;
    const hasNegative = negative.counts.length > 0;
    const zero = zeroBucket(this.#histogram);
    const lower = hasPositive && !hasNegative ? 0 : zero.lower;
    const upper = hasNegative && !hasPositive ? 0 : zero.upper;
    const kept = keptLinear({ ...zero, lower, upper }, this.#at, this.#side);
    this.#take(kept, zeroCount);
    return kept.count;
  }

  #take({ count, mean }: Kept, before: number): void {
    this.count += count;
    this.sum += mean * count;
    this.changed ||= count !== before;
  }

  #keptOf(bucket: Bucket, sign: 1 | -1): Kept {
    const { lower, upper, count } = bucket;
    const isKept = this.#side === 'upper' ? upper <= this.#at : lower >= this.#at;
    if (isKept) return { count, mean: this.#mean(lower, upper, sign) };
    const isGone = this.#side === 'upper' ? lower >= this.#at : upper <= this.#at;
    if (isGone) return { count: 0, mean: 0 };
    if (lower === -Infinity || upper === Infinity) {
      return keptUnbounded(bucket, this.#at, this.#side);
    }
    const below = count * fractionBelow(bucket, this.#at, isCustom(this.#histogram));
    return this.#side === 'upper'
      ? { count: below, mean: this.#mean(lower, this.#at, sign) }
      : { count: count - below, mean: this.#mean(this.#at, upper, sign) };
  }

  #mean(lower: number, upper: number, sign: 1 | -1): number {
    if (!Number.isFinite(lower)) {
      if (!Number.isFinite(upper)) return 0;
      return upper > 0 ? upper / 2 : upper;
    }
    if (!Number.isFinite(upper)) return lower;
    if (isCustom(this.#histogram)) return (lower + upper) / 2;
    return sign * Math.sqrt(Math.abs(lower * upper));
  }
}

/** The part of a bucket's observations below a value, on a linear or logarithmic scale. */
export function fractionBelow(
  { lower, upper }: Pick<Bucket, 'lower' | 'upper'>,
  value: number,
  isLinear: boolean,
): number {
  if (isLinear) return (value - lower) / (upper - lower);
  const [logLower, logUpper, log] = [lower, upper, value].map((bound) =>
    Math.log2(Math.abs(bound)),
  );
  if (value > 0) return (log! - logLower!) / (logUpper! - logLower!);
  return 1 - (log! - logUpper!) / (logLower! - logUpper!);
}

function keptLinear({ lower, upper, count }: Bucket, at: number, side: 'upper' | 'lower'): Kept {
  const bounded = Math.min(Math.max(at, lower), upper);
  const isUpper = side === 'upper';
  if (isUpper ? at <= lower : at >= upper) return { count: 0, mean: 0 };
  if (isUpper ? at >= upper : at <= lower) return { count, mean: (lower + upper) / 2 };
  const part = isUpper ? bounded - lower : upper - bounded;
  const mean = isUpper ? (lower + bounded) / 2 : (bounded + upper) / 2;
  return { count: (count * part) / (upper - lower), mean };
}

/** A bucket without a lower or an upper bound that contains the value. */
function keptUnbounded({ lower, upper, count }: Bucket, at: number, side: 'upper' | 'lower'): Kept {
  if (lower !== -Infinity) {
    // Nothing is known of how far up the observations are.
    return side === 'upper' ? { count: 0, mean: 0 } : { count, mean: at };
  }
  const isSplit = upper > 0 && Number.isFinite(upper);
  if (side === 'upper') {
    if (isSplit && at > 0) return { count: (count * at) / upper, mean: at / 2 };
    return upper <= 0 ? { count, mean: at } : { count: 0, mean: 0 };
  }
  if (isSplit && at >= 0) return { count: count * (1 - at / upper), mean: (at + upper) / 2 };
  return { count: 0, mean: 0 };
}
