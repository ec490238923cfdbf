/** A set of (stream, series), each with a day, in as few bytes as its words take. */
import { randomBytes } from 'node:crypto';

/** Four words of the id, the stream + 1 (0 = free), the day. */
const wordsPerEntry = 6;

export class SeriesTable {
  /** Unknown to senders, so that none can make series collide. */
  readonly #seed = randomBytes(4).readInt32LE() | 1;
  #entries: Uint32Array;
  #mask: number;
  #size = 0;

  /** @param capacity a power of two; it grows when it is half full. */
  constructor(capacity: number) {
    this.#entries = new Uint32Array(capacity * wordsPerEntry);
    this.#mask = capacity - 1;
  }

  get size(): number {
    return this.#size;
  }

  /** @returns the day last set, or -1. @param at where the four words of the id begin in `ids`. */
  dayOf(stream: number, ids: Uint32Array, at: number): number {
    const entry = this.#find(stream, ids, at);
    return this.#entries[entry + 4] === 0 ? -1 : this.#entries[entry + 5]!;
  }

  /** @returns whether it was not there before */
  set(stream: number, ids: Uint32Array, at: number, day: number): boolean {
    let entry = this.#find(stream, ids, at);
    const isNew = this.#entries[entry + 4] === 0;
    if (isNew) {
      if (2 * ++this.#size > this.#mask) {
        this.#grow();
        entry = this.#find(stream, ids, at);
      }
      for (let word = 0; word < 4; word += 1) this.#entries[entry + word] = ids[at + word]!;
      this.#entries[entry + 4] = stream + 1;
    }
    this.#entries[entry + 5] = day;
    return isNew;
  }

  /** Puts everything that is here into another. @returns how many were not there before */
  addTo(other: SeriesTable): number {
    let added = 0;
    for (let entry = 0; entry < this.#entries.length; entry += wordsPerEntry) {
      const stream = this.#entries[entry + 4]! - 1;
      if (stream < 0) continue;
      if (other.set(stream, this.#entries, entry, this.#entries[entry + 5]!)) added += 1;
    }
    return added;
  }

  /** @returns where the entry is, or where it would have to be. */
  #find(stream: number, ids: Uint32Array, at: number): number {
    const entries = this.#entries;
    for (let slot = this.#home(stream, ids, at); ; slot = (slot + 1) & this.#mask) {
      const entry = slot * wordsPerEntry;
      if (entries[entry + 4] === 0) return entry;
      if (
        entries[entry] === ids[at] &&
        entries[entry + 1] === ids[at + 1] &&
        entries[entry + 2] === ids[at + 2] &&
        entries[entry + 3] === ids[at + 3] &&
        entries[entry + 4] === stream + 1
      ) {
        return entry;
      }
    }
  }

  /** @returns the slot where the search begins */
  #home(stream: number, ids: Uint32Array, at: number): number {
    let hash = Math.imul(ids[at]! ^ Math.imul(stream + 1, 0x9e3779b1), this.#seed);
    hash = Math.imul(hash ^ (hash >>> 15) ^ ids[at + 1]!, 0x85ebca6b);
    return (hash ^ (hash >>> 13)) & this.#mask;
  }

  /** Takes the entries in the order of their slots, so that memory is read and written in order. */
  #grow(): void {
    const old = this.#entries;
    const grown = new Uint32Array(old.length * 2);
    this.#entries = grown;
    this.#mask = grown.length / wordsPerEntry - 1;
    for (let from = 0; from < old.length; from += wordsPerEntry) {
      if (old[from + 4] === 0) continue;
      let slot = this.#home(old[from + 4]! - 1, old, from);
      while (grown[slot * wordsPerEntry + 4] !== 0) slot = (slot + 1) & this.#mask;
      const to = slot * wordsPerEntry;
      for (let word = 0; word < wordsPerEntry; word += 1) grown[to + word] = old[from + word]!;
    }
  }
}
