/** Times of samples. Series that are scraped together have the same ones, and share them. */

/** Memory of all series together, in samples of 16 bytes; arrays are counted as a whole. */
export interface Budget {
  samples: number;
}

/** Least number of times or values that an array grows by. */
const leastGrowth = 16;

/** Times that a series reads up to its own length; what follows belongs to others. */
export class Timeline {
  /** Unix ms, ascending. Replaced as it grows; times that are there never change. */
  times: Float64Array;
  users = 0;
  #length: number;
  readonly #budget: Budget;

  constructor(times: Float64Array, budget: Budget) {
    this.times = times;
    this.#length = times.length;
    this.#budget = budget;
    budget.samples += times.length / 2;
  }

  /** @param at not beyond the end. @returns false where there is another time */
  put(at: number, timeMs: number): boolean {
    if (at < this.#length) return this.times[at] === timeMs;
    if (at === this.times.length) this.#grow(grownLength(at));
    this.times[at] = timeMs;
    this.#length += 1;
    return true;
  }

  /** Takes over times that continue these. @returns false where they differ */
  join(times: Float64Array): boolean {
    const common = Math.min(times.length, this.#length);
    for (let i = 0; i < common; i++) if (times[i] !== this.times[i]) return false;
    if (times.length <= this.#length) return true;
    if (times.length > this.times.length) this.#grow(times.length);
    this.times.set(times.subarray(common), common);
    this.#length = times.length;
    return true;
  }

  free(): void {
    this.#budget.samples -= this.times.length / 2;
  }

  #grow(capacity: number): void {
    const times = new Float64Array(capacity);
    times.set(this.times);
    this.#budget.samples += (capacity - this.times.length) / 2;
    this.times = times;
  }
}

export function grownLength(length: number): number {
  return length + Math.max(leastGrowth, length >>> 2);
}

/** Timelines with one first time that others are compared with. */
const mostSiblings = 8;

/** The timelines of a stream. */
export class Timelines {
  readonly budget: Budget;
  readonly #byFirst = new Map<number, Timeline[]>();

  constructor(budget: Budget) {
    this.budget = budget;
  }

  /** @param times kept, or given up for equal ones. Release what it returns once. */
  share(times: Float64Array): Timeline {
    const first = times[0];
    const siblings = first === undefined ? [] : (this.#byFirst.get(first) ?? []);
    let timeline = siblings.find((one) => one.join(times));
    if (timeline === undefined) {
      timeline = new Timeline(times, this.budget);
      if (first !== undefined && siblings.length < mostSiblings) {
        siblings.push(timeline);
        this.#byFirst.set(first, siblings);
      }
    }
    timeline.users += 1;
    return timeline;
  }

  release(timeline: Timeline): void {
    timeline.users -= 1;
    if (timeline.users > 0) return;
    timeline.free();
    const first = timeline.times[0] ?? Number.NaN;
    const siblings = this.#byFirst.get(first)?.filter((one) => one !== timeline) ?? [];
    if (siblings.length > 0) this.#byFirst.set(first, siblings);
    else this.#byFirst.delete(first);
  }
}
