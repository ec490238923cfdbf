/**
 * The positive or the negative buckets of one native histogram: spans say which buckets there are,
 * deltas or counts say in the same order what is in them.
 */
import type { WireReader } from './wire-reader.ts';

const spanTag = { offset: 0x08, length: 0x10 } as const;
const firstUnknownTag = 3 << 3;

export class HistogramBuckets {
  /** In all buckets; of integer histograms only. */
  observed = 0;
  /** One after the last bucket, counted from the first possible one. */
  places = 0;
  #spans = 0;
  #inSpans = 0;
  #deltas = 0;
  #counts = 0;
  /** Of the last bucket; each delta is the difference to the one before. */
  #inBucket = 0;
  #isNegative = false;
  #hasBadOffset = false;

  /** @param end of the `BucketSpan` that begins at the reader */
  readSpan(reader: WireReader, end: number): void {
    let offset = 0;
    let length = 0;
    while (reader.at < end) {
      const start = reader.at;
      const tag = reader.tag(end);
      if (tag === spanTag.offset) {
        reader.varint(end);
        offset = reader.zigzag();
      } else if (tag === spanTag.length) {
        reader.varint(end);
        length = reader.unsigned();
      } else {
        if (tag < firstUnknownTag) reader.fail(start, 'a field of a span has the wrong type');
        reader.skip(tag, end);
      }
    }
    if (this.#spans++ > 0 && offset < 0) this.#hasBadOffset = true;
    this.#inSpans += length;
    this.places += offset + length;
  }

  readDelta(reader: WireReader, end: number): void {
    reader.varint(end);
    this.#deltas += 1;
    this.#inBucket += reader.zigzag();
    if (this.#inBucket < 0) this.#isNegative = true;
    this.observed += this.#inBucket;
  }

  addCount(count: number): void {
    this.#counts += 1;
    if (count < 0) this.#isNegative = true;
  }

  /** @returns '' = none */
  fault(isFloat: boolean): string {
    const buckets = isFloat ? this.#counts : this.#deltas;
    if (buckets !== this.#inSpans) return 'its spans and its buckets are not as many';
    if (this.#hasBadOffset) return 'a span begins before the last one ends';
    return this.#isNegative ? 'a count is negative' : '';
  }
}
