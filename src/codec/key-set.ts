/** Unique keys as ranges of bytes, found by hash. Reused; allocates nothing per key. */
import { hashKey } from './key-table.ts';

const maxStamp = 0xffff;

/** Sources must not change until the set is cleared. */
export class KeySet {
  count = 0;
  readonly keySource: Buffer[] = [];
  readonly keyStart: Int32Array;
  readonly keyEnd: Int32Array;
  /** Index of a key by hash, with the number of the use that it belongs to. */
  readonly #table: Int32Array;
  readonly #stamps: Uint16Array;
  #stamp = 1;
  /** The free slot that the last search ended at. */
  #slot = 0;

  /** @param tableSize a power of two, at least twice the capacity */
  constructor(capacity: number, tableSize: number) {
    this.keyStart = new Int32Array(capacity);
    this.keyEnd = new Int32Array(capacity);
    this.#table = new Int32Array(tableSize);
    this.#stamps = new Uint16Array(tableSize);
  }

  clear(): void {
    this.count = 0;
    if (this.#stamp === maxStamp) {
      this.#stamps.fill(0);
      this.#stamp = 0;
    }
    this.#stamp += 1;
  }

  /** Clears the set and releases the buffers. */
  release(): void {
    this.clear();
    this.keySource.length = 0;
  }

  /** @returns the index of the key, or -1 */
  find(source: Buffer, start: number, end: number): number {
    const mask = this.#table.length - 1;
    let at = hashKey(source, start, end) & mask;
    while (this.#stamps[at] === this.#stamp) {
      const index = this.#table[at]!;
      if (this.#isKey(index, source, start, end)) return index;
      at = (at + 1) & mask;
    }
    this.#slot = at;
    return -1;
  }

  /** Adds the key that the last `find` did not find. @returns its index */
  append(source: Buffer, start: number, end: number): number {
    const index = this.count++;
    this.#stamps[this.#slot] = this.#stamp;
    this.#table[this.#slot] = index;
    this.keySource[index] = source;
    this.keyStart[index] = start;
    this.keyEnd[index] = end;
    return index;
  }

  #isKey(index: number, source: Buffer, start: number, end: number): boolean {
    const knownStart = this.keyStart[index]!;
    if (this.keyEnd[index]! - knownStart !== end - start) return false;
    const known = this.keySource[index]!;
    for (let i = 0; i < end - start; i += 1) {
      if (known[knownStart + i] !== source[start + i]) return false;
    }
    return true;
  }
}
