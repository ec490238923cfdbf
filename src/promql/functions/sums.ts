/** Sums and means of floats and of native histograms, compensated for rounding. */
import { HistogramSum } from '../histogram/histogram-sum.ts';
import type { Histogram } from '../histogram/histogram.ts';
import { KahanSum, roundingLoss } from '../histogram/kahan.ts';
import type { RangeWindow } from '../selection.ts';

type Floats = Pick<RangeWindow, 'values' | 'from' | 'to'>;

export function sumFloats(window: Floats): number {
  const { sum, rest } = sumOf(window);
  return sum + rest;
}

export function averageFloats(window: Floats): number {
  const { values, from, to } = window;
  const { sum, rest } = sumOf(window);
  if (Number.isFinite(sum)) return sum / (to - from) + rest / (to - from);
  const mean = new MeanOfFloats();
  for (const value of values.subarray(from, to)) mean.add(value);
  return mean.value();
}

/** As `KahanSum`, whose fields would cost more than the additions. */
function sumOf({ values, from, to }: Floats): { sum: number; rest: number } {
  let [sum, rest] = [0, 0];
  for (let i = from; i < to; i++) {
    const value = values[i]!;
    rest += roundingLoss(sum, value);
    sum += value;
  }
  return { sum, rest: Number.isFinite(sum) ? rest : 0 };
}

/** A mean that goes on without the sum once that overflows. */
export class MeanOfFloats {
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

export class MeanOfHistograms {
  #sum: HistogramSum;
  #count = 1;
  #isMean = false;

  constructor(first: Histogram) {
    this.#sum = new HistogramSum(first);
  }

  /** @returns whether custom bounds differed. @throws MixedSchemasError */
  add(histogram: Histogram): boolean {
    this.#count += 1;
    if (!this.#isMean) {
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
