/**
 * What OpenMetrics asks of the buckets of one histogram at one time: they rise, in their bounds and
 * in their counts, and end with the one of +Inf, which holds all that was counted.
 */
import type { Fault, Sample } from './families.ts';

export class BucketRules {
  /** Labels of the histogram at hand, '[]' where it has none; '' between two families. */
  #group = '';
  #low = 0;
  #high = 0;
  #bound = Number.NaN;
  #count = Number.NaN;
  #total = Number.NaN;
  /** Histograms of this family that are over. */
  readonly #closed = new Set<string>();

  /** @param suffix of the sample's name. */
  take({ series, value, time }: Sample, suffix: string): Fault {
    if (series.group !== this.#group || time.low !== this.#low || time.high !== this.#high) {
      const fault = this.#close();
      if (fault !== '') return fault;
      this.#group = series.group;
      this.#low = time.low;
      this.#high = time.high;
      if (this.#closed.has(this.#key())) {
        return 'the samples of one histogram at one time have to stand together';
      }
    }
    if (suffix === '_bucket') return this.#takeBucket(series.le!, value);
    if (suffix === '_count' || suffix === '_gcount') this.#total = value;
    return '';
  }

  /** The family is over. */
  finish(): Fault {
    if (this.#group === '') return '';
    const fault = this.#close();
    this.#group = '';
    this.#closed.clear();
    return fault;
  }

  #takeBucket(bound: number, count: number): Fault {
    if (bound <= this.#bound) return 'buckets have to stand in the order of their label "le"';
    if (count < this.#count) return 'a bucket cannot count less than the one before it';
    this.#bound = bound;
    this.#count = count;
    return '';
  }

  /** A histogram may have no buckets at all: native ones are sent so where text has no words. */
  #close(): Fault {
    if (this.#group === '') return '';
    const [bound, count, total] = [this.#bound, this.#count, this.#total];
    this.#bound = Number.NaN;
    this.#count = Number.NaN;
    this.#total = Number.NaN;
    this.#closed.add(this.#key());
    if (Number.isNaN(bound)) return '';
    if (bound !== Number.POSITIVE_INFINITY) {
      return 'the histogram before this line has no bucket with le="+Inf"';
    }
    if (Number.isNaN(total) || total === count) return '';
    return `the histogram before this line counts ${total}, but its bucket +Inf ${count}`;
  }

  #key(): string {
    return `${this.#high}:${this.#low}:${this.#group}`;
  }
}
