/**
 * The positive or the negative buckets of one native histogram: spans say which buckets there are,
 * deltas or counts say in the same order what is in them.
 */
import type { ProtobufWire } from '../../codec/protobuf-wire.ts';

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

  /** @param end of the `BucketSpan` that begins at the cursor */
  readSpan(wire: ProtobufWire, end: number): void {
    let offset = 0;
    let length = 0;
    while (wire.at < end) {
      const start = wire.at;
      const tag = wire.tag(end);
      if (tag === spanTag.offset) {
        offset = wire.sint64(end);
      } else if (tag === spanTag.length) {
        length = wire.uint64(end);
      } else {
        if (tag < firstUnknownTag) wire.failType(start, tag, 'a span');
        wire.skip(tag, end);
      }
    }
    if (this.#spans++ > 0 && offset < 0) this.#hasBadOffset = true;
    this.#inSpans += length;
    this.places += offset + length;
  }

  readDelta(wire: ProtobufWire, end: number): void {
    this.#deltas += 1;
    this.#inBucket += wire.sint64(end);
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
