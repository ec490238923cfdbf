/** Sums and means of floats and of native histograms, compensated for rounding. */
import { HistogramSum } from '../histogram/histogram-sum.ts';
import type { Histogram } from '../histogram/histogram.ts';
import { KahanSum, roundingLoss } from '../histogram/kahan.ts';

export function sumFloats(values: Float64Array, from: number, to: number): number {
  const { sum, rest } = sumOf(values, from, to);
  return sum + rest;
}

export function averageFloats(values: Float64Array, from: number, to: number): number {
  const { sum, rest } = sumOf(values, from, to);
  if (Number.isFinite(sum)) return sum / (to - from) + rest / (to - from);
  const mean = new MeanOfFloats();
  for (const value of values.subarray(from, to)) mean.add(value);
  return mean.value();
}

/** As a double: sums that begin as integers would be allocated in each round. */
const zero = new Float64Array(1);

/** As `KahanSum`, whose fields would cost more than the additions. */
function sumOf(values: Float64Array, from: number, to: number): { sum: number; rest: number } {
  let [sum, rest] = [zero[0]!, zero[0]!];
  for (let i = from; i < to; i++) {
    const value = values[i]!;
    rest += roundingLoss(sum, value);
    sum += value;
  }
  return { sum, rest: Number.isFinite(sum) ? rest : 0 };
}

/** A mean that goes on without the sum once that overflows. */
class MeanOfFloats {
  #sum = new KahanSum(0);
  #count = 0;
  #isMean = false;

  add(value: number): void {
    this.#count += 1;
    if (!this.#isMean) {
      const next = this.#sum.copy();
      next.add(value);
      if (!next.overflows() || this.#count === 1) {
        this.#sum = next;
        return;
      }
      this.#isMean = true;
      this.#sum.divide(this.#count - 1);
    }
    this.#sum.scale((this.#count - 1) / this.#count);
    this.#sum.add(value / this.#count);
  }

  value(): number {
    return this.#isMean ? this.#sum.value() : this.#sum.quotient(this.#count);
  }
}

export interface HistogramTotal {
  /** @returns whether custom bounds differed. @throws MixedSchemasError */
  add(histogram: Histogram): boolean;
  result(): Histogram;
}

export function startTotal(op: 'sum' | 'avg', first: Histogram): HistogramTotal {
  if (op === 'avg') return new MeanOfHistograms(first);
  const sum = new HistogramSum(first);
  return { add: (histogram) => sum.add(histogram).reconciled, result: () => sum.result() };
}

class MeanOfHistograms implements HistogramTotal {
  #sum: HistogramSum;
  #count = 1;
  #isMean = false;
  /** No number of the sum is larger. */
  #most: number;

  constructor(first: Histogram) {
    this.#sum = new HistogramSum(first);
    this.#most = sizeOf(first);
  }

  add(histogram: Histogram): boolean {
    this.#count += 1;
    if (!this.#isMean) {
      this.#most += sizeOf(histogram);
      // Without a copy of all buckets where nothing can overflow.
      if (this.#most < Number.MAX_VALUE) return this.#sum.add(histogram).reconciled;
      const next = this.#sum.copy();
      const { reconciled } = next.add(histogram);
      if (!next.overflows()) {
        this.#sum = next;
        return reconciled;
      }
      this.#isMean = true;
      this.#sum.divide(this.#count - 1);
    }
    this.#sum.scale((this.#count - 1) / this.#count);
    const part = new HistogramSum(histogram);
    part.divide(this.#count);
    return this.#sum.add(part.result()).reconciled;
  }

  result(): Histogram {
    if (this.#isMean) return this.#sum.result();
    return this.#sum.quotient(this.#count);
  }
}

/** All numbers of a histogram together, without their signs. */
function sizeOf({ zeroCount, count, sum, positive, negative }: Histogram): number {
  let size = Math.abs(zeroCount) + Math.abs(count) + Math.abs(sum);
  for (const one of positive.counts) size += Math.abs(one);
  for (const one of negative.counts) size += Math.abs(one);
  return size;
}
