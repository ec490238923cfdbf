/**
 * Caches series by the raw bytes of their label set. Senders repeat these bytes exactly, and
 * sorting, checking and hashing labels costs more than the rest of decoding.
 */
import { randomBytes } from 'node:crypto';
import type { Series } from './series-labels.ts';

export interface SeriesMemoOptions {
  /** Raw and stored labels together. Beyond it the memo is emptied. */
  readonly maxBytes: number;
  readonly maxSeries: number;
}

/** Bounds the search for colliding label sets. */
const maxProbes = 16;
const firstSlots = 1024;
const firstSeries = firstSlots / 2;
const chunkBytes = 1024 * 1024;
/** Fields of a series in `#entries`. */
const field = {
  hash: 0,
  chunk: 1,
  start: 2,
  rawBytes: 3,
  labelBytes: 4,
  follower: 5,
  knownScope: 6,
  knownDay: 7,
} as const;
const fieldsPerSeries = 8;
const nothing = 0xffff_ffff;

export class SeriesMemo {
  /** Four words per series, see `Series.id`. */
  ids = new Uint32Array(4 * firstSeries);
  readonly #options: SeriesMemoOptions;
  /** Random, so that a sender cannot cause collisions. */
  readonly #seed = randomBytes(4).readInt32LE();
  /** Series + 1 by hash; 0 = free. */
  #slots = new Uint32Array(firstSlots);
  #entries = new Uint32Array(fieldsPerSeries * firstSeries);
  /** Raw and stored labels of the series, back to back: few objects for many series. */
  #chunks: Buffer[] = [];
  #views: DataView[] = [];
  #chunkUsed = 0;
  #series = 0;
  #bytes = 0;
  #last = nothing;
  /** Of the last `find`. */
  #lastHash = 0;

  constructor(options: SeriesMemoOptions) {
    this.#options = options;
  }

  /**
   * Lookup without a hash: senders also repeat the order of their series.
   * @returns the series that followed the last one earlier, if its bytes are at `start`; else -1
   */
  next(source: DataView, start: number, end: number): number {
    if (this.#last === nothing) return -1;
    const series = this.#entries[this.#last * fieldsPerSeries + field.follower]!;
    if (series === nothing || start + this.rawBytesOf(series) > end) return -1;
    if (!this.#begins(series, source, start)) return -1;
    this.#last = series;
    return series;
  }

  /** Length of its raw bytes. */
  rawBytesOf(series: number): number {
    return this.#entries[series * fieldsPerSeries + field.rawBytes]! | 0;
  }

  /** Whether `setKnown` was last called with this scope and day. @param scope not 0 */
  isKnown(series: number, scope: number, day: number): boolean {
    const entry = series * fieldsPerSeries;
    const entries = this.#entries;
    return entries[entry + field.knownScope] === scope && entries[entry + field.knownDay] === day;
  }

  /** Keeps an answer of a `SeriesView`. */
  setKnown(series: number, scope: number, day: number): void {
    const entry = series * fieldsPerSeries;
    this.#entries[entry + field.knownScope] = scope;
    this.#entries[entry + field.knownDay] = day;
  }

  hash(source: Buffer, start: number, end: number): number {
    let one = this.#seed ^ (end - start);
    let two = this.#seed ^ 0x5bd1e995;
    let at = start;
    // Two lanes, so that their multiplications run in parallel.
    for (; at + 8 <= end; at += 8) {
      one ^= source[at]! | (source[at + 1]! << 8);
      two ^= source[at + 4]! | (source[at + 5]! << 8);
      one ^= (source[at + 2]! << 16) | (source[at + 3]! << 24);
      two ^= (source[at + 6]! << 16) | (source[at + 7]! << 24);
      one = Math.imul(one, 0x9e3779b1);
      two = Math.imul(two, 0x85ebca6b);
      one ^= one >>> 15;
      two ^= two >>> 13;
    }
    for (; at < end; at += 1) one = Math.imul(one ^ source[at]!, 0x85ebca6b);
    let hash = one ^ Math.imul(two, 0x27d4eb2f);
    hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
    return (hash ^ (hash >>> 16)) >>> 0;
  }

  /** @returns the series, or -1 if it is unknown */
  find(source: Buffer, start: number, end: number): number {
    const hash = this.hash(source, start, end);
    this.#lastHash = hash;
    const slots = this.#slots;
    const mask = slots.length - 1;
    for (let probe = 0; probe < maxProbes; probe += 1) {
      const series = slots[(hash + probe) & mask]! - 1;
      if (series < 0) return -1;
      if (this.#entries[series * fieldsPerSeries + field.hash] !== hash) continue;
      if (this.#isSame(series, source, start, end)) {
        this.#follow(series);
        return series;
      }
    }
    return -1;
  }

  /**
   * Adds the bytes that the last `find` did not find. Numbers of series are valid until `trim`.
   * @returns the number for `ids` and `labelsOf`
   */
  add(source: Buffer, start: number, end: number, { id, labels }: Series): number {
    const series = this.#series++;
    if (this.ids.length < 4 * this.#series) this.#growSeries();
    this.ids.set(id, 4 * series);
    const rawBytes = end - start;
    const at = this.#reserve(rawBytes + labels.length);
    const chunk = this.#chunks.length - 1;
    source.copy(this.#chunks[chunk]!, at, start, end);
    this.#chunks[chunk]!.set(labels, at + rawBytes);
    const entry = [this.#lastHash, chunk, at, rawBytes, labels.length, nothing, 0, 0];
    this.#entries.set(entry, series * fieldsPerSeries);
    this.#follow(series);
    if (this.#slots.length < 2 * this.#series) this.#rehash();
    else this.#place(series);
    return series;
  }

  /** RowBinary `Map(String, String)`; must not be modified. */
  labelsOf(series: number): Uint8Array {
    const entry = series * fieldsPerSeries;
    const start = this.#entries[entry + field.start]! + this.#entries[entry + field.rawBytes]!;
    const end = start + this.#entries[entry + field.labelBytes]!;
    return this.#chunks[this.#entries[entry + field.chunk]!]!.subarray(start, end);
  }

  /**
   * Empties the memo if it exceeds its limits; senders soon refill it. Call it while no number of
   * a series is in use, at least between requests.
   */
  trim(): void {
    const { maxBytes, maxSeries } = this.#options;
    if (this.#bytes <= maxBytes && this.#series <= maxSeries) return;
    this.ids = new Uint32Array(4 * firstSeries);
    this.#slots = new Uint32Array(firstSlots);
    this.#entries = new Uint32Array(fieldsPerSeries * firstSeries);
    this.#chunks = [];
    this.#views = [];
    this.#chunkUsed = 0;
    this.#series = 0;
    this.#bytes = 0;
    this.#last = nothing;
  }

  #isSame(series: number, source: Buffer, start: number, end: number): boolean {
    const entry = series * fieldsPerSeries;
    const length = this.#entries[entry + field.rawBytes]!;
    if (length !== end - start) return false;
    const from = this.#entries[entry + field.start]!;
    const chunk = this.#chunks[this.#entries[entry + field.chunk]!]!;
    return chunk.compare(source, start, end, from, from + length) === 0;
  }

  /** Compares 64 bits at a time: for a label set, a call of `compare` costs more than its work. */
  #begins(series: number, source: DataView, start: number): boolean {
    const entry = series * fieldsPerSeries;
    const entries = this.#entries;
    const chunk = this.#views[entries[entry + field.chunk]!]!;
    // As int32: arithmetic of uint32 is done in doubles.
    let from = entries[entry + field.start]! | 0;
    const end = from + (entries[entry + field.rawBytes]! | 0);
    let at = start | 0;
    // Four at a time: a branch for each word costs more than the comparison. V8 keeps these
    // bigints in registers.
    for (; from + 32 <= end; from += 32, at += 32) {
      const difference =
        BigInt.asIntN(64, chunk.getBigInt64(from, true) ^ source.getBigInt64(at, true)) |
        BigInt.asIntN(64, chunk.getBigInt64(from + 8, true) ^ source.getBigInt64(at + 8, true)) |
        BigInt.asIntN(64, chunk.getBigInt64(from + 16, true) ^ source.getBigInt64(at + 16, true)) |
        BigInt.asIntN(64, chunk.getBigInt64(from + 24, true) ^ source.getBigInt64(at + 24, true));
      if (BigInt.asIntN(64, difference) !== 0n) return false;
    }
    for (; from + 4 <= end; from += 4, at += 4) {
      if (chunk.getInt32(from, true) !== source.getInt32(at, true)) return false;
    }
    for (; from < end; from += 1, at += 1) {
      if (chunk.getInt8(from) !== source.getInt8(at)) return false;
    }
    return true;
  }

  #follow(series: number): void {
    if (this.#last !== nothing) {
      this.#entries[this.#last * fieldsPerSeries + field.follower] = series;
    }
    this.#last = series;
  }

  /** @returns the offset of free bytes in the last chunk, which may be a new one */
  #reserve(bytes: number): number {
    this.#bytes += bytes;
    const chunk = this.#chunks.at(-1);
    if (chunk === undefined || chunk.length - this.#chunkUsed < bytes) {
      const added = Buffer.allocUnsafeSlow(Math.max(bytes, chunkBytes));
      this.#chunks.push(added);
      this.#views.push(new DataView(added.buffer));
      this.#chunkUsed = 0;
    }
    this.#chunkUsed += bytes;
    return this.#chunkUsed - bytes;
  }

  #growSeries(): void {
    const { ids } = this;
    this.ids = new Uint32Array(ids.length * 2);
    this.ids.set(ids);
    const entries = this.#entries;
    this.#entries = new Uint32Array(entries.length * 2);
    this.#entries.set(entries);
  }

  #rehash(): void {
    this.#slots = new Uint32Array(this.#slots.length * 2);
    for (let series = 0; series < this.#series; series += 1) this.#place(series);
  }

  /** A series without a free slot is not cached. */
  #place(series: number): void {
    const slots = this.#slots;
    const mask = slots.length - 1;
    const hash = this.#entries[series * fieldsPerSeries + field.hash]!;
    for (let probe = 0; probe < maxProbes; probe += 1) {
      const slot = (hash + probe) & mask;
      if (slots[slot] === 0) {
        slots[slot] = series + 1;
        return;
      }
    }
  }
}
