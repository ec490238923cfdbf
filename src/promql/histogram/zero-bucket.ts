/** The zero bucket of a histogram, widened over the buckets next to it. */
import { boundOf, type Buckets, type Histogram, noBuckets } from './histogram.ts';
import { KahanSum } from './kahan.ts';

export class ZeroBucket {
  readonly count: KahanSum;
  #threshold: number;
  readonly #histogram: Histogram;
  /** How many buckets of each side it covers. */
  #positive = 0;
  #negative = 0;

  constructor(histogram: Histogram) {
    this.#histogram = histogram;
    this.#threshold = histogram.zeroThreshold;
    this.count = new KahanSum(histogram.zeroCount);
  }

  get threshold(): number {
    return this.#threshold;
  }

  /** Widens it to a bound of buckets at or beyond the threshold: it covers whole buckets. */
  widen(threshold: number): void {
    if (threshold <= this.#threshold) return;
    const { positive, negative } = this.#histogram;
    let [beyond, above, below] = [threshold, this.#positive, this.#negative];
    do {
      this.#threshold = beyond;
      above = this.#countCovered(positive, above);
      below = this.#countCovered(negative, below);
      beyond = Math.max(this.#lastBound(positive, above), this.#lastBound(negative, below));
    } while (beyond > this.#threshold);
    this.#add(positive.counts.slice(this.#positive, above));
    this.#add(negative.counts.slice(this.#negative, below));
    [this.#positive, this.#negative] = [above, below];
  }

  #add(counts: readonly number[]): void {
    for (const count of counts) this.count.add(count);
  }

  /** The buckets that it does not cover. */
  rest(side: 'positive' | 'negative'): Buckets {
    const buckets = this.#histogram[side];
    const covered = side === 'positive' ? this.#positive : this.#negative;
    if (covered === 0) return buckets;
    if (covered === buckets.counts.length) return noBuckets;
    return { indexes: buckets.indexes.slice(covered), counts: buckets.counts.slice(covered) };
  }

  /** @returns how many buckets begin below the threshold. @param known of these */
  #countCovered({ indexes }: Buckets, known: number): number {
    let i = known;
    while (i < indexes.length && boundOf(this.#histogram, indexes[i]! - 1) < this.#threshold) i++;
    return i;
  }

  #lastBound({ indexes }: Buckets, covered: number): number {
    return covered === 0 ? 0 : boundOf(this.#histogram, indexes[covered - 1]!);
  }
}

/** The same observations with a zero bucket that is at least this wide. */
export function widenZeroBucket(histogram: Histogram, threshold: number): Histogram {
  const zero = new ZeroBucket(histogram);
  zero.widen(threshold);
  return {
    ...histogram,
    zeroThreshold: zero.threshold,
    zeroCount: zero.count.value(),
    positive: zero.rest('positive'),
    negative: zero.rest('negative'),
  };
}
