/**
 * Native histograms with exponential or custom buckets. Immutable; empty buckets are left out.
 * https://prometheus.io/docs/specs/native_histograms
 */

export type ResetHint = 'unknown' | 'reset' | 'not_reset' | 'gauge';

export interface Buckets {
  /** Ascending. */
  readonly indexes: readonly number[];
  /** Parallel to `indexes`, none 0. */
  readonly counts: readonly number[];
}

export interface Histogram {
  readonly hint: ResetHint;
  readonly schema: number;
  readonly zeroThreshold: number;
  readonly zeroCount: number;
  readonly count: number;
  readonly sum: number;
  readonly positive: Buckets;
  readonly negative: Buckets;
  /** Upper bounds of custom buckets; the last bucket has none. */
  readonly bounds: readonly number[];
}

export interface Bucket {
  readonly lower: number;
  readonly upper: number;
  readonly count: number;
  readonly lowerInclusive: boolean;
  readonly upperInclusive: boolean;
}

const customSchema = -53;
export const noBuckets: Buckets = { indexes: [], counts: [] };

export function isCustom({ schema }: Pick<Histogram, 'schema'>): boolean {
  return schema === customSchema;
}

/** Upper bound of a positive bucket. */
export function boundOf(
  { schema, bounds }: Pick<Histogram, 'schema' | 'bounds'>,
  index: number,
): number {
  if (schema === customSchema) {
    if (index < 0) return -Infinity;
    return index < bounds.length ? bounds[index]! : Infinity;
  }
  if (schema < 0) return atMost(2 ** (index * 2 ** -schema), index * 2 ** -schema);
  const perOctave = 2 ** schema;
  const octave = Math.floor(index / perOctave);
  const part = index - octave * perOctave;
  return atMost(2 ** octave * boundsOfOctave[schema]![part]!, index / perOctave);
}

/**
 * Bounds from 1 to before 2 by schema, computed as those of Prometheus, which differ from powers of
 * two in the last digit: clients compare them as texts.
 */
const boundsOfOctave: readonly (readonly number[])[] = boundsUpTo(8);

function boundsUpTo(lastSchema: number): number[][] {
  const all = [[1]];
  for (let schema = 1; schema <= lastSchema; schema++) {
    const factor = schema === 1 ? 1.414213562373095 : 2 ** (2 ** -schema);
    all.push(all[schema - 1]!.flatMap((bound) => [bound, bound * factor]));
  }
  return all;
}

/** 2^1024 stands for the largest number. */
function atMost(bound: number, exponent: number): number {
  return exponent === 1024 ? Number.MAX_VALUE : bound;
}

export function toBuckets(entries: Iterable<readonly [index: number, count: number]>): Buckets {
  const sorted = [...entries].filter(([, count]) => count !== 0).sort(([a], [b]) => a - b);
  if (sorted.length === 0) return noBuckets;
  return { indexes: sorted.map(([index]) => index), counts: sorted.map(([, count]) => count) };
}

export function positiveBuckets(histogram: Histogram): Bucket[] {
  const custom = isCustom(histogram);
  return histogram.positive.indexes.map((index, i) => {
    const lower = boundOf(histogram, index - 1);
    const upper = boundOf(histogram, index);
    return {
      lower,
      upper,
      count: histogram.positive.counts[i]!,
      lowerInclusive: custom ? index === 0 : lower < 0,
      upperInclusive: custom || upper > 0,
    };
  });
}

/** From the one next to zero. */
export function negativeBuckets(histogram: Histogram): Bucket[] {
  return histogram.negative.indexes.map((index, i) => ({
    lower: -boundOf(histogram, index),
    upper: -boundOf(histogram, index - 1),
    count: histogram.negative.counts[i]!,
    lowerInclusive: true,
    upperInclusive: false,
  }));
}

export function zeroBucket({ zeroThreshold, zeroCount }: Histogram): Bucket {
  const inclusive = { lowerInclusive: true, upperInclusive: true };
  return { lower: -zeroThreshold, upper: zeroThreshold, count: zeroCount, ...inclusive };
}

/** In ascending order; the zero bucket does not overlap its neighbours. */
export function allBuckets(histogram: Histogram): Bucket[] {
  const { zeroThreshold: zero, zeroCount } = histogram;
  const negative = negativeBuckets(histogram)
    .reverse()
    .map((bucket) => (bucket.upper > -zero ? { ...bucket, upper: -zero } : bucket));
  const positive = positiveBuckets(histogram).map((bucket) =>
    bucket.lower > 0 && bucket.lower < zero ? { ...bucket, lower: zero } : bucket,
  );
  return [...negative, ...(zeroCount > 0 ? [zeroBucket(histogram)] : []), ...positive];
}

export function multiply(histogram: Histogram, factor: number): Histogram {
  return {
    ...histogram,
    hint: factor < 0 ? 'gauge' : histogram.hint,
    zeroCount: histogram.zeroCount * factor,
    count: histogram.count * factor,
    sum: histogram.sum * factor,
    positive: mapCounts(histogram.positive, (count) => count * factor),
    negative: mapCounts(histogram.negative, (count) => count * factor),
  };
}

/** By 0 the buckets vanish. */
export function divide(histogram: Histogram, divisor: number): Histogram {
  const map = (buckets: Buckets) =>
    divisor === 0 ? noBuckets : mapCounts(buckets, (count) => count / divisor);
  return {
    ...histogram,
    hint: divisor < 0 ? 'gauge' : histogram.hint,
    zeroCount: histogram.zeroCount / divisor,
    count: histogram.count / divisor,
    sum: histogram.sum / divisor,
    positive: map(histogram.positive),
    negative: map(histogram.negative),
  };
}

function mapCounts({ indexes, counts }: Buckets, map: (count: number) => number): Buckets {
  return toBuckets(indexes.map((index, i) => [index, map(counts[i]!)] as const));
}

export function withHint(histogram: Histogram, hint: ResetHint): Histogram {
  return histogram.hint === hint ? histogram : { ...histogram, hint };
}

/** Bit by bit except for the hint, so NaN equals itself. */
export function equals(left: Histogram, right: Histogram): boolean {
  return (
    left.schema === right.schema &&
    Object.is(left.count, right.count) &&
    Object.is(left.sum, right.sum) &&
    left.zeroThreshold === right.zeroThreshold &&
    Object.is(left.zeroCount, right.zeroCount) &&
    sameNumbers(left.bounds, right.bounds) &&
    sameBuckets(left.positive, right.positive) &&
    sameBuckets(left.negative, right.negative)
  );
}

function sameBuckets(left: Buckets, right: Buckets): boolean {
  return sameNumbers(left.indexes, right.indexes) && sameNumbers(left.counts, right.counts);
}

export function sameNumbers(left: readonly number[], right: readonly number[]): boolean {
  return left.length === right.length && left.every((value, i) => Object.is(value, right[i]));
}

/** `perBucket` buckets form one of the lower resolution. @returns its index */
export function reducedIndex(index: number, perBucket: number): number {
  return Math.floor((index - 1) / perBucket) + 1;
}

/** Of one sample against the limit of samples: 16 bytes each. */
export function sampleWeight({ positive, negative, bounds }: Histogram): number {
  const numbers = positive.counts.length + negative.counts.length + bounds.length;
  return Math.floor((168 + 16 * numbers + 8) / 16);
}
