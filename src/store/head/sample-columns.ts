/** All samples of a series from a time on: times and values as arrays that grow at the end. */
import type { SampleRange } from '../../model/metric-plan.ts';
import { isStale } from '../../promql/source.ts';
import { grownLength, type Timeline, type Timelines } from './timelines.ts';

/** Memory of the rest of a series, in samples of 16 bytes. */
const overhead = 16;
/** Gauges fall all the time. */
const mostFalls = 16;

export class SampleColumns {
  /** Unix ms; complete from here on. */
  readonly fromMs: number;
  /** When it was read last, as a number that grows with each read. */
  usedAt = 0;
  #timeline: Timeline;
  #values: Float64Array;
  /** Halves of the values: as a number, a stale marker could lose its bits. */
  #words: Uint32Array;
  #length: number;
  /** Whether any value was a stale marker; in most series none is, and readers need not look. */
  #hasStale = false;
  /** Counters fall only as they restart: readers need not search. Undefined = too many to keep. */
  #falls: number[] | undefined = [];
  readonly #timelines: Timelines;

  /** @param times ascending; kept, as is `values` */
  constructor(fromMs: number, times: Float64Array, values: Float64Array, timelines: Timelines) {
    this.fromMs = fromMs;
    this.#timeline = timelines.share(times);
    this.#values = values;
    this.#words = wordsOf(values);
    this.#length = times.length;
    this.#timelines = timelines;
    for (let i = 0; i < times.length && !this.#hasStale; i++) this.#hasStale = isStale(values, i);
    for (let i = 1; i < times.length && this.#falls !== undefined; i++) this.#noteFall(i);
    timelines.budget.samples += values.length / 2 + overhead;
  }

  /** To be called once, when it is not kept any longer. */
  drop(): void {
    this.#timelines.budget.samples -= this.#values.length / 2 + overhead;
    this.#timelines.release(this.#timeline);
  }

  /**
   * Adds a sample after the others; one that is there already changes nothing.
   * @returns false for an earlier or another one: what is here is incomplete then
   */
  append(timeMs: number, low: number, high: number): boolean {
    if (timeMs < this.fromMs) return true;
    const at = this.#length;
    if (at > 0 && timeMs <= this.#timeline.times[at - 1]!) return this.#has(timeMs, low, high);
    if (at === this.#values.length) this.#grow();
    if (!this.#timeline.put(at, timeMs)) this.#leaveTimeline(timeMs);
    this.#words[2 * at] = low;
    this.#words[2 * at + 1] = high;
    this.#hasStale ||= isStale(this.#values, at);
    if (at > 0) this.#noteFall(at);
    this.#length += 1;
    return true;
  }

  /** Samples of a range, both ends included; later ones do not change them. */
  between(fromMs: number, untilMs: number): SampleRange {
    const from = this.#firstFrom(fromMs);
    const to = this.#firstFrom(untilMs + 1);
    const hasStale = this.#hasStale;
    const falls = this.#falls;
    return { times: this.#timeline.times, values: this.#values, from, to, hasStale, falls };
  }

  #noteFall(at: number): void {
    if (!(this.#values[at]! < this.#values[at - 1]!) || this.#falls === undefined) return;
    if (this.#falls.length < mostFalls) this.#falls.push(at);
    else this.#falls = undefined;
  }

  #has(timeMs: number, low: number, high: number): boolean {
    const at = this.#firstFrom(timeMs);
    const isSame = this.#words[2 * at] === low && this.#words[2 * at + 1] === high;
    return this.#timeline.times[at] === timeMs && isSame;
  }

  #firstFrom(timeMs: number): number {
    const { times } = this.#timeline;
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
    const { times } = this.#timeline;
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

  /** A scrape was missed, or came at another time than those of the others. */
  #leaveTimeline(timeMs: number): void {
    const shared = this.#timeline;
    const times = shared.times.slice(0, this.#length + 1);
    times[this.#length] = timeMs;
    this.#timeline = this.#timelines.share(times);
    this.#timelines.release(shared);
  }

  #grow(): void {
    const values = new Float64Array(grownLength(this.#length));
    values.set(this.#values);
    this.#timelines.budget.samples += (values.length - this.#values.length) / 2;
    this.#values = values;
    this.#words = wordsOf(values);
  }
}

function wordsOf({ buffer, byteOffset, length }: Float64Array): Uint32Array {
  return new Uint32Array(buffer, byteOffset, length * 2);
}
