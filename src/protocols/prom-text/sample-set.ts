/** Detects two samples of one series at one time in a request. */
import { randomBytes } from 'node:crypto';
import type { Time } from '../../codec/metric-writer.ts';

/** Four words of the id, two of the time. */
const wordsPerSample = 6;
const firstSlots = 8192;
/** Larger sets are released: clearing them would slow small requests down. */
const maxKeptSlots = 128 * 1024;

/** Reused from request to request. */
export class SampleSet {
  /** Random, so that a sender cannot cause collisions. */
  readonly #seed = randomBytes(4).readInt32LE() | 1;
  #size = 0;
  #samples = new Uint32Array((firstSlots / 2) * wordsPerSample);
  /** Index of the sample + 1 by hash; 0 = free. */
  #slots = new Uint32Array(firstSlots);

  get size(): number {
    return this.#size;
  }

  /** @param at offset of the id in `ids` @returns false if the set has the sample already */
  add(ids: Uint32Array, at: number, time: Time): boolean {
    if (2 * this.#size === this.#slots.length) this.#grow();
    const samples = this.#samples;
    const slots = this.#slots;
    const mask = slots.length - 1;
    const own = this.#size * wordsPerSample;
    for (let word = 0; word < 4; word += 1) samples[own + word] = ids[at + word]!;
    samples[own + 4] = time.low;
    samples[own + 5] = time.high;
    let slot = this.#hash(own) & mask;
    for (; slots[slot] !== 0; slot = (slot + 1) & mask) {
      if (this.#isSame((slots[slot]! - 1) * wordsPerSample, own)) return false;
    }
    slots[slot] = ++this.#size;
    return true;
  }

  clear(): void {
    this.#size = 0;
    if (this.#slots.length <= maxKeptSlots) this.#slots.fill(0);
    else this.#resize(firstSlots);
  }

  #isSame(other: number, own: number): boolean {
    const samples = this.#samples;
    for (let word = 0; word < wordsPerSample; word += 1) {
      if (samples[other + word] !== samples[own + word]) return false;
    }
    return true;
  }

  #hash(sample: number): number {
    const samples = this.#samples;
    let hash = Math.imul(samples[sample]! ^ samples[sample + 4]!, this.#seed);
    hash = Math.imul(hash ^ (hash >>> 15) ^ samples[sample + 1]!, 0x85ebca6b);
    hash = Math.imul(hash ^ (hash >>> 13) ^ samples[sample + 5]!, this.#seed);
    return (hash ^ (hash >>> 16)) >>> 0;
  }

  #grow(): void {
    const samples = this.#samples;
    this.#resize(this.#slots.length * 2);
    this.#samples.set(samples);
    const mask = this.#slots.length - 1;
    for (let sample = 0; sample < this.#size; sample += 1) {
      let slot = this.#hash(sample * wordsPerSample) & mask;
      while (this.#slots[slot] !== 0) slot = (slot + 1) & mask;
      this.#slots[slot] = sample + 1;
    }
  }

  #resize(slots: number): void {
    this.#slots = new Uint32Array(slots);
    this.#samples = new Uint32Array((slots / 2) * wordsPerSample);
  }
}
