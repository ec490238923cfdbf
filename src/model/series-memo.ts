/**
 * Remembers which series the raw bytes of a label set name, as they stood in a request: senders
 * repeat them letter by letter, and sorting, checking and hashing them each time would cost more
 * than all the rest. It only saves work: without it every answer would be the same.
 */
import { randomBytes } from 'node:crypto';
import type { Series } from './series-labels.ts';

export interface SeriesMemoOptions {
  /** Raw and stored labels together; when they are more, everything is forgotten. */
  readonly maxBytes: number;
  readonly maxSeries: number;
}

/** A label set that others have made to collide is looked for no further than this. */
const maxProbes = 16;
const firstSlots = 1024;

export class SeriesMemo {
  /** Four words a series; see `Series.id`. */
  ids = new Uint32Array(4 * (firstSlots / 2));
  readonly #options: SeriesMemoOptions;
  /** Unknown to senders, so that none can make label sets collide. */
  readonly #seed = randomBytes(4).readInt32LE();
  /** Series + 1 by hash; 0 = free. */
  #slots = new Uint32Array(firstSlots);
  #hashes: number[] = [];
  #raw: Buffer[] = [];
  #labels: Uint8Array[] = [];
  #bytes = 0;

  constructor(options: SeriesMemoOptions) {
    this.#options = options;
  }

  /** Changes with every byte, and with the seed of this process. */
  hash(source: Buffer, start: number, end: number): number {
    let hash = this.#seed ^ (end - start);
    let at = start;
    for (; at + 4 <= end; at += 4) {
      const word =
        source[at]! |
        (source[at + 1]! << 8) |
        (source[at + 2]! << 16) |
        (source[at + 3]! << 24);
      hash = Math.imul(hash ^ word, 0x9e3779b1);
      hash ^= hash >>> 15;
    }
    for (; at < end; at += 1) hash = Math.imul(hash ^ source[at]!, 0x85ebca6b);
    hash ^= hash >>> 13;
    hash = Math.imul(hash, 0xc2b2ae35);
    return (hash ^ (hash >>> 16)) >>> 0;
  }

  /** @param hash of the same bytes. @returns the series, or -1 where it is not remembered. */
  find(source: Buffer, start: number, end: number, hash: number): number {
    const slots = this.#slots;
    const mask = slots.length - 1;
    for (let probe = 0; probe < maxProbes; probe += 1) {
      const series = slots[(hash + probe) & mask]! - 1;
      if (series < 0) return -1;
      if (this.#hashes[series] === hash) {
        if (this.#raw[series]!.compare(source, start, end) === 0) return series;
      }
    }
    return -1;
  }

  /**
   * Series keep their number until `trim`, which is to be called between two requests.
   * @returns its number, by which `ids` and `labelsOf` know it.
   */
  add(source: Buffer, start: number, end: number, hash: number, series: Series): number {
    const number = this.#raw.length;
    const raw = Buffer.from(source.subarray(start, end));
    this.#raw.push(raw);
    this.#labels.push(series.labels);
    this.#hashes.push(hash);
    this.#bytes += raw.length + series.labels.length;
    if (this.ids.length < 4 * (number + 1)) {
      const ids = new Uint32Array(this.ids.length * 2);
      ids.set(this.ids);
      this.ids = ids;
    }
    this.ids.set(series.id, 4 * number);
    if (this.#slots.length < 2 * (number + 1)) this.#rehash();
    else this.#place(number);
    return number;
  }

  /** RowBinary `Map(String, String)`. */
  labelsOf(series: number): Uint8Array {
    return this.#labels[series]!;
  }

  /** Forgets everything once it holds too much: what is still sent is soon there again. */
  trim(): void {
    const { maxBytes, maxSeries } = this.#options;
    if (this.#bytes <= maxBytes && this.#raw.length <= maxSeries) return;
    this.#slots = new Uint32Array(firstSlots);
    this.ids = new Uint32Array(4 * (firstSlots / 2));
    this.#hashes = [];
    this.#raw = [];
    this.#labels = [];
    this.#bytes = 0;
  }

  #rehash(): void {
    this.#slots = new Uint32Array(this.#slots.length * 2);
    for (let series = 0; series < this.#raw.length; series += 1) this.#place(series);
  }

  /** A series that finds no place is made anew each time it is sent. */
  #place(series: number): void {
    const slots = this.#slots;
    const mask = slots.length - 1;
    const hash = this.#hashes[series]!;
    for (let probe = 0; probe < maxProbes; probe += 1) {
      const slot = (hash + probe) & mask;
      if (slots[slot] === 0) {
        slots[slot] = series + 1;
        return;
      }
    }
  }
}
