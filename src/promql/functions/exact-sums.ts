/**
 * Sums of any window of a series, from the sums before each of its values. They are exact: sums in
 * two doubles hold all digits of values whose magnitudes are not too far apart.
 */
import { roundingLoss } from '../histogram/kahan.ts';

export class ExactSums {
  /** Of the values from `from` to before `from + i`: `sums[i] + rests[i]`. */
  sums = new Float64Array();
  rests = new Float64Array();
  /** Whether all rests are zero; they are not written then. */
  areWhole = false;

  /**
   * Overwrites what was there: memory for each series takes as long as its sums.
   * @returns false where digits may be lost, and for NaN and infinities
   */
  add(values: Float64Array, from: number, to: number): boolean {
    if (this.sums.length <= to - from) {
      this.sums = new Float64Array(to - from + 1);
      this.rests = new Float64Array(to - from + 1);
    }
    const { sums, rests } = this;
    this.areWhole = addWholes(values, from, to, sums);
    if (this.areWhole) return true;
    if (!areNear(values, from, to)) return false;
    // Zeros as doubles: sums that begin as integers would be allocated in each round.
    let [sum, rest] = [sums[0]!, rests[0]!];
    for (let i = from; i < to; i++) {
      const value = values[i]!;
      rest += roundingLoss(sum, value);
      sum += value;
      sums[i - from + 1] = sum;
      rests[i - from + 1] = rest;
    }
    return true;
  }
}

/** Most gauges are whole numbers of 32 bits, whose sums below 2^53 have no rest. */
function addWholes(values: Float64Array, from: number, to: number, sums: Float64Array): boolean {
  if (to - from > mostWholes) return false;
  let sum = sums[0]!;
  for (let i = from; i < to; i++) {
    const value = values[i]!;
    if (value !== (value | 0)) return false;
    sum += value;
    sums[i - from + 1] = sum;
  }
  return true;
}

/** Below 2^53 in total. */
const mostWholes = 2 ** 21;

/**
 * Every value, hence every sum, is a multiple of the last digit of the least one, which is at least
 * its 2^-53rd part. Sums and rests below 2^53 times that digit times the count are exact.
 */
function areNear(values: Float64Array, from: number, to: number): boolean {
  let [least, greatest] = [Infinity, 0];
  for (let i = from; i < to; i++) {
    const magnitude = Math.abs(values[i]!);
    if (!(magnitude < Infinity)) return false;
    if (magnitude > greatest) greatest = magnitude;
    if (magnitude < least && magnitude > 0) least = magnitude;
  }
  const count = to - from;
  return greatest === 0 || greatest * count * count <= Math.min(least * 2 ** 50, Number.MAX_VALUE);
}
