/**
 * Sums of histograms, compensated for rounding (Kahan, Neumaier). Histograms of different
 * resolution, zero bucket or custom bounds are reduced to what they have in common.
 */
import {
  boundOf,
  type Buckets,
  type Histogram,
  isCustom,
  reducedIndex,
  type ResetHint,
  sameNumbers,
  toBuckets,
} from './histogram.ts';
import { KahanSum } from './kahan.ts';
import { ZeroBucket } from './zero-bucket.ts';

/** Histograms with exponential and with custom buckets cannot be added. */
export class MixedSchemasError extends Error {
  override readonly name = 'MixedSchemasError';
}

interface Combined {
  readonly histogram: Histogram;
  /** Whether custom bounds differed. */
  readonly reconciled: boolean;
  /** Whether one was a counter reset and the other was known not to be. */
  readonly collision: boolean;
}

/** @throws MixedSchemasError */
export function add(left: Histogram, right: Histogram): Combined {
  return combine(left, right, 1);
}

/** @throws MixedSchemasError */
export function subtract(left: Histogram, right: Histogram): Combined {
  return combine(left, right, -1);
}

function combine(left: Histogram, right: Histogram, sign: 1 | -1): Combined {
  const sum = new HistogramSum(left);
  const { reconciled, collision } = sum.add(right, sign);
  return { histogram: sum.result(), reconciled, collision };
}

/** The same histogram in a lower resolution. */
export function reduceResolution(histogram: Histogram, schema: number): Histogram {
  if (schema >= histogram.schema) return { ...histogram, hint: 'unknown' };
  const sum = new HistogramSum(histogram);
  sum.reduceTo(schema);
  return { ...sum.result(), hint: 'unknown' };
}

export class HistogramSum {
  #hint: ResetHint;
  #schema: number;
  #bounds: readonly number[];
  #zeroThreshold: number;
  readonly #zero: KahanSum;
  readonly #count: KahanSum;
  readonly #sum: KahanSum;
  #positive: Map<number, KahanSum>;
  #negative: Map<number, KahanSum>;

  constructor(first: Histogram) {
    this.#hint = first.hint;
    this.#schema = first.schema;
    this.#bounds = first.bounds;
    this.#zeroThreshold = first.zeroThreshold;
    this.#zero = new KahanSum(first.zeroCount);
    this.#count = new KahanSum(first.count);
    this.#sum = new KahanSum(first.sum);
    this.#positive = toSums(first.positive);
    this.#negative = toSums(first.negative);
  }

  /** @throws MixedSchemasError */
  add(
    histogram: Histogram,
    sign: 1 | -1 = 1,
  ): { readonly reconciled: boolean; readonly collision: boolean } {
    if (isCustom(histogram) !== this.#isCustom()) throw new MixedSchemasError();
    const collision = this.#joinHint(histogram.hint);
    this.#count.add(sign * histogram.count);
    this.#sum.add(sign * histogram.sum);
    if (this.#isCustom() && !sameNumbers(histogram.bounds, this.#bounds)) {
      this.#addOfOtherBounds(histogram, sign);
      return { reconciled: true, collision };
    }
    const zero = new ZeroBucket(histogram);
    while (this.#zeroThreshold !== zero.threshold && !this.#isCustom()) {
      zero.widen(this.#zeroThreshold);
      this.widenZero(zero.threshold);
    }
    this.reduceTo(histogram.schema);
    this.#zero.merge(zero.count, sign);
    const perBucket = 2 ** (histogram.schema - this.#schema);
    addCounts(this.#positive, zero.rest('positive'), { sign, perBucket });
    addCounts(this.#negative, zero.rest('negative'), { sign, perBucket });
    return { reconciled: false, collision };
  }

  #addOfOtherBounds(histogram: Histogram, sign: 1 | -1): void {
    const other = new HistogramSum(histogram);
    const bounds = this.#bounds.filter((bound) => histogram.bounds.includes(bound));
    this.#useBounds(bounds);
    other.#useBounds(bounds);
    this.#zero.merge(other.#zero, sign);
    mergeSums(this.#positive, other.#positive, sign);
    mergeSums(this.#negative, other.#negative, sign);
  }

  scale(factor: number): void {
    for (const sum of this.#sums()) sum.scale(factor);
  }

  divide(divisor: number): void {
    for (const sum of this.#sums()) sum.divide(divisor);
  }

  /** A mean; the sum stays. */
  quotient(divisor: number): Histogram {
    const copy = this.copy();
    copy.divide(divisor);
    return copy.result();
  }

  overflows(): boolean {
    return this.#sums().some((sum) => sum.overflows());
  }

  copy(): HistogramSum {
    const copy = new HistogramSum(this.result());
    copy.#zero.set(this.#zero);
    copy.#count.set(this.#count);
    copy.#sum.set(this.#sum);
    copy.#positive = copySums(this.#positive);
    copy.#negative = copySums(this.#negative);
    return copy;
  }

  result(): Histogram {
    return {
      hint: this.#hint,
      schema: this.#schema,
      bounds: this.#bounds,
      zeroThreshold: this.#zeroThreshold,
      zeroCount: this.#zero.value(),
      count: this.#count.value(),
      sum: this.#sum.value(),
      positive: toCounts(this.#positive),
      negative: toCounts(this.#negative),
    };
  }

  reduceTo(schema: number): void {
    if (schema >= this.#schema) return;
    const perBucket = 2 ** (this.#schema - schema);
    const reduce = (index: number) => reducedIndex(index, perBucket);
    this.#positive = regroup(this.#positive, reduce);
    this.#negative = regroup(this.#negative, reduce);
    this.#schema = schema;
  }

  /** Widens the zero bucket to a bound of buckets at or beyond the threshold. */
  widenZero(threshold: number): void {
    if (threshold <= this.#zeroThreshold) return;
    this.#zeroThreshold = this.#thresholdBeyond(threshold);
    for (const side of [this.#positive, this.#negative]) {
      for (const [index, sum] of side) {
        if (this.#bound(index - 1) >= this.#zeroThreshold) continue;
        this.#zero.merge(sum, 1);
        side.delete(index);
      }
    }
  }

  /** No bucket with observations may lie across the threshold. */
  #thresholdBeyond(threshold: number): number {
    for (const side of [this.#positive, this.#negative]) {
      for (const [index, sum] of side) {
        const upper = this.#bound(index);
        if (this.#bound(index - 1) < threshold && upper > threshold && sum.value() !== 0) {
          return this.#thresholdBeyond(upper);
        }
      }
    }
    return threshold;
  }

  #isCustom(): boolean {
    return isCustom({ schema: this.#schema });
  }

  #bound(index: number): number {
    return boundOf({ schema: this.#schema, bounds: this.#bounds }, index);
  }

  #sums(): KahanSum[] {
    const own = [this.#zero, this.#count, this.#sum];
    return [...own, ...this.#positive.values(), ...this.#negative.values()];
  }

  #joinHint(other: ResetHint): boolean {
    if (other === this.#hint || this.#hint === 'gauge') return false;
    if (other === 'gauge') {
      this.#hint = 'gauge';
      return false;
    }
    const collision = this.#hint !== 'unknown' && other !== 'unknown';
    this.#hint = 'unknown';
    return collision;
  }

  #useBounds(bounds: readonly number[]): void {
    this.#positive = regroup(this.#positive, (index) => {
      const upper = this.#bound(index);
      const found = bounds.findIndex((bound) => bound >= upper);
      return found === -1 ? bounds.length : found;
    });
    this.#bounds = bounds;
  }
}

function toSums({ indexes, counts }: Buckets): Map<number, KahanSum> {
  return new Map(indexes.map((index, i) => [index, new KahanSum(counts[i]!)]));
}

function copySums(sums: ReadonlyMap<number, KahanSum>): Map<number, KahanSum> {
  return new Map([...sums].map(([index, sum]) => [index, sum.copy()]));
}

function toCounts(sums: ReadonlyMap<number, KahanSum>): Buckets {
  return toBuckets([...sums].map(([index, sum]) => [index, sum.value()] as const));
}

/** @param perBucket of the added buckets form one of the sum */
function addCounts(
  into: Map<number, KahanSum>,
  { indexes, counts }: Buckets,
  { sign, perBucket }: { readonly sign: 1 | -1; readonly perBucket: number },
): void {
  for (let i = 0; i < indexes.length; i++) {
    const index = reducedIndex(indexes[i]!, perBucket);
    const known = into.get(index);
    if (known === undefined) into.set(index, new KahanSum(sign * counts[i]!));
    else known.add(sign * counts[i]!);
  }
}

function mergeSums(
  into: Map<number, KahanSum>,
  from: ReadonlyMap<number, KahanSum>,
  sign: 1 | -1,
): void {
  for (const [index, sum] of from) {
    const known = into.get(index) ?? new KahanSum(0);
    known.merge(sum, sign);
    into.set(index, known);
  }
}

function regroup(
  sums: ReadonlyMap<number, KahanSum>,
  toIndex: (index: number) => number,
): Map<number, KahanSum> {
  const regrouped = new Map<number, KahanSum>();
  for (const [index, sum] of sums) {
    const target = toIndex(index);
    const known = regrouped.get(target) ?? new KahanSum(0);
    known.merge(sum, 1);
    regrouped.set(target, known);
  }
  return regrouped;
}
