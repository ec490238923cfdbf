/** Sums and means of floats and of native histograms, compensated for rounding. */
import type { ExactSums } from './exact-sums.ts';
import { HistogramSum } from '../histogram/histogram-sum.ts';
import type { Histogram } from '../histogram/histogram.ts';
import { KahanSum, roundingLoss } from '../histogram/kahan.ts';
import type { RangeWindow } from '../selection.ts';

export function sumFloats(window: RangeWindow): number {
  const { sum, rest } = sumOf(window);
  return sum + rest;
}

export function averageFloats(window: RangeWindow): number {
  const { values, from, to } = window;
  const { sum, rest } = sumOf(window);
  if (Number.isFinite(sum)) return sum / (to - from) + rest / (to - from);
  const mean = new MeanOfFloats();
  for (const value of values.subarray(from, to)) mean.add(value);
  return mean.value();
}

/** As `KahanSum`, whose fields would cost more than the additions. */
function sumOf(window: RangeWindow): { sum: number; rest: number } {
  const { values, from, to } = window;
  const exact = window.exactSums();
  if (exact !== undefined) return between(exact, from, to);
  let [sum, rest] = [0, 0];
  for (let i = from; i < to; i++) {
    const value = values[i]!;
    rest += roundingLoss(sum, value);
    sum += value;
  }
  return { sum, rest: Number.isFinite(sum) ? rest : 0 };
}

function between({ sums, rests, first }: ExactSums, from: number, to: number) {
  const [before, until] = [from - first, to - first];
  const sum = sums[until]! - sums[before]!;
  const rest = rests[until]! - rests[before]! + roundingLoss(sums[until]!, -sums[before]!);
  return { sum, rest };
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
