/** All samples of a series from a time on: times and values as arrays that grow at the end. */

/** Samples in memory, of all series together; arrays are counted as a whole. */
export interface Budget {
  samples: number;
}

/** Samples that take as much memory as the rest of a series, and the least that it grows by. */
const overhead = 16;

export class SampleColumns {
  /** Unix ms; complete from here on. */
  readonly fromMs: number;
  /** When it was read last, as a number that grows with each read. */
  usedAt = 0;
  #times: Float64Array;
  #values: Float64Array;
  /** Halves of the values: as a number, a stale marker could lose its bits. */
  #words: Uint32Array;
  #length: number;
  readonly #budget: Budget;

  /** @param times ascending; kept, as is `values` */
  constructor(fromMs: number, times: Float64Array, values: Float64Array, budget: Budget) {
    this.fromMs = fromMs;
    this.#times = times;
    this.#values = values;
    this.#words = wordsOf(values);
    this.#length = times.length;
    this.#budget = budget;
    budget.samples += times.length + overhead;
  }

  /** To be called once, when it is not kept any longer. */
  drop(): void {
    this.#budget.samples -= this.#times.length + overhead;
  }

  /**
   * Adds a sample after the others; one that is there already changes nothing.
   * @returns false for an earlier or another one: what is here is incomplete then
   */
  append(timeMs: number, low: number, high: number): boolean {
    if (timeMs < this.fromMs) return true;
    const last = this.#length === 0 ? -Infinity : this.#times[this.#length - 1]!;
    if (timeMs <= last) return this.#has(timeMs, low, high);
    if (this.#length === this.#times.length) this.#grow();
    this.#times[this.#length] = timeMs;
    this.#words[2 * this.#length] = low;
    this.#words[2 * this.#length + 1] = high;
    this.#length += 1;
    return true;
  }

  /** Both included. The arrays are views, which later samples do not change. */
  between(fromMs: number, untilMs: number): { times: Float64Array; values: Float64Array } {
    const from = this.#firstFrom(fromMs);
    const to = this.#firstFrom(untilMs + 1);
    return { times: this.#times.subarray(from, to), values: this.#values.subarray(from, to) };
  }

  #has(timeMs: number, low: number, high: number): boolean {
    const at = this.#firstFrom(timeMs);
    const isSame = this.#words[2 * at] === low && this.#words[2 * at + 1] === high;
    return this.#times[at] === timeMs && isSame;
  }

  #firstFrom(timeMs: number): number {
    const times = this.#times;
    let [low, high] = this.#near(timeMs);
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (times[middle]! < timeMs) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Bounds of the search: scrapes at even intervals are where they are expected. */
  #near(timeMs: number): [low: number, high: number] {
    const times = this.#times;
    const last = this.#length - 1;
    if (last < 0 || timeMs <= times[0]!) return [0, 0];
    if (timeMs > times[last]!) return [last + 1, last + 1];
    const part = (timeMs - times[0]!) / (times[last]! - times[0]!);
    const guess = Math.floor(part * last);
    const [before, after] = [Math.max(0, guess - 2), Math.min(last, guess + 2)];
    const low = times[before]! < timeMs ? before + 1 : 0;
    const high = times[after]! >= timeMs ? after : last;
    return [Math.min(low, high), high];
  }

  #grow(): void {
    const capacity = this.#length + Math.max(overhead, this.#length >>> 2);
    const times = new Float64Array(capacity);
    times.set(this.#times);
    const values = new Float64Array(capacity);
    values.set(this.#values);
    this.#budget.samples += capacity - this.#times.length;
    this.#times = times;
    this.#values = values;
    this.#words = wordsOf(values);
  }
}

function wordsOf({ buffer, byteOffset, length }: Float64Array): Uint32Array {
  return new Uint32Array(buffer, byteOffset, length * 2);
}
