/**
 * Looks at a native histogram, `prometheus.Histogram`, before it is kept byte by byte: whether a
 * reader could make sense of its buckets (https://prometheus.io/docs/specs/native_histograms).
 */
import { HistogramBuckets } from './histogram-buckets.ts';
import type { WireReader } from './wire-reader.ts';

/**
 * Number of the field * 8 + wire type, by
 * https://github.com/prometheus/prometheus/tree/main/prompb.
 */
const fieldTag = {
  countInt: 0x08,
  countFloat: 0x11,
  sum: 0x19,
  schema: 0x20,
  zeroThreshold: 0x29,
  zeroCountInt: 0x30,
  zeroCountFloat: 0x39,
  negativeSpan: 0x42,
  negativeDelta: 0x48,
  negativeDeltas: 0x4a,
  negativeCount: 0x51,
  negativeCounts: 0x52,
  positiveSpan: 0x5a,
  positiveDelta: 0x60,
  positiveDeltas: 0x62,
  positiveCount: 0x69,
  positiveCounts: 0x6a,
  resetHint: 0x70,
  timestamp: 0x78,
  bound: 0x81,
  bounds: 0x82,
} as const;
const firstUnknownTag = 17 << 3;
const minSchema = -4;
const maxSchema = 8;
/** Buckets with bounds of their own, `custom_values`. */
const customSchema = -53;
/** The sum of a histogram whose series has ended. */
const staleNan = 0x7ff0_0000_0000_0002n;
/** Counts beyond 2^53 are rounded before they are added. */
const rounding = 1 + 2 ** -50;

/**
 * @param end of the message that begins at the reader
 * @returns what is wrong with it, '' = nothing; its time is left in `low` and `high` of the reader
 */
export function readHistogram(reader: WireReader, end: number): string {
  const histogram = new Histogram();
  while (reader.at < end) histogram.readField(reader, end);
  reader.low = histogram.timeLow;
  reader.high = histogram.timeHigh;
  return histogram.fault();
}

class Histogram {
  timeLow = 0;
  timeHigh = 0;
  #isFloat = false;
  #isStale = false;
  #count = 0;
  #zeroCount = 0;
  #schema = 0;
  readonly #negative = new HistogramBuckets();
  readonly #positive = new HistogramBuckets();
  #bounds = 0;
  #lastBound = -Infinity;
  #hasBadBound = false;

  readField(reader: WireReader, end: number): void {
    const start = reader.at;
    const tag = reader.tag(end);
    switch (tag) {
      case fieldTag.countInt:
        reader.varint(end);
        this.#count = reader.unsigned();
        this.#isFloat = false;
        return;
      case fieldTag.countFloat:
        this.#count = readDouble(reader, end);
        this.#isFloat = true;
        return;
      case fieldTag.sum:
        this.#isStale = reader.bytes.readBigUInt64LE(reader.fixed64(end)) === staleNan;
        return;
      case fieldTag.schema:
        reader.varint(end);
        this.#schema = reader.zigzag();
        return;
      case fieldTag.zeroCountInt:
        reader.varint(end);
        this.#zeroCount = reader.unsigned();
        return;
      case fieldTag.zeroCountFloat:
        this.#zeroCount = readDouble(reader, end);
        return;
      case fieldTag.timestamp:
        reader.varint(end);
        this.timeLow = reader.low;
        this.timeHigh = reader.high;
        return;
      case fieldTag.zeroThreshold:
      case fieldTag.resetHint:
        reader.skip(tag, end);
        return;
      default:
        if (this.#readBuckets(tag, reader, end)) return;
        if (tag < firstUnknownTag) reader.fail(start, 'a field of a histogram has the wrong type');
        reader.skip(tag, end);
    }
  }

  fault(): string {
    if (this.#isStale) return '';
    const isCustom = this.#schema === customSchema;
    if (!isCustom && (this.#schema < minSchema || this.#schema > maxSchema)) {
      return 'its schema is unknown';
    }
    if (this.#hasBadBound) return 'its bounds do not ascend';
    for (const buckets of [this.#negative, this.#positive]) {
      const fault = buckets.fault(this.#isFloat);
      if (fault !== '') return fault;
    }
    // The last bucket goes on for ever and needs no bound.
    if (isCustom && this.#positive.places > this.#bounds + 1) return 'it has too few bounds';
    if (this.#count < 0 || this.#zeroCount < 0) return 'a count is negative';
    const inBuckets = this.#zeroCount + this.#negative.observed + this.#positive.observed;
    const isTooMany = !this.#isFloat && inBuckets > this.#count * rounding;
    return isTooMany ? 'its buckets hold more than its count' : '';
  }

  /** Repeated numbers may come one by one or packed. @returns whether it was such a field */
  #readBuckets(tag: number, reader: WireReader, end: number): boolean {
    switch (tag) {
      case fieldTag.negativeSpan:
        this.#negative.readSpan(reader, reader.lengthEnd(end));
        return true;
      case fieldTag.positiveSpan:
        this.#positive.readSpan(reader, reader.lengthEnd(end));
        return true;
      case fieldTag.negativeDelta:
        this.#negative.readDelta(reader, end);
        return true;
      case fieldTag.positiveDelta:
        this.#positive.readDelta(reader, end);
        return true;
      case fieldTag.negativeCount:
        this.#negative.addCount(readDouble(reader, end));
        return true;
      case fieldTag.positiveCount:
        this.#positive.addCount(readDouble(reader, end));
        return true;
      case fieldTag.bound:
        this.#addBound(readDouble(reader, end));
        return true;
      default:
        return this.#readPacked(tag, reader, end);
    }
  }

  #readPacked(tag: number, reader: WireReader, end: number): boolean {
    const isPacked =
      tag === fieldTag.negativeDeltas ||
      tag === fieldTag.positiveDeltas ||
      tag === fieldTag.negativeCounts ||
      tag === fieldTag.positiveCounts ||
      tag === fieldTag.bounds;
    if (!isPacked) return false;
    const packedEnd = reader.lengthEnd(end);
    while (reader.at < packedEnd) {
      if (tag === fieldTag.negativeDeltas) this.#negative.readDelta(reader, packedEnd);
      else if (tag === fieldTag.positiveDeltas) this.#positive.readDelta(reader, packedEnd);
      else if (tag === fieldTag.bounds) this.#addBound(readDouble(reader, packedEnd));
      else {
        const buckets = tag === fieldTag.negativeCounts ? this.#negative : this.#positive;
        buckets.addCount(readDouble(reader, packedEnd));
      }
    }
    return true;
  }

  #addBound(bound: number): void {
    this.#bounds += 1;
    if (!Number.isFinite(bound) || bound <= this.#lastBound) this.#hasBadBound = true;
    this.#lastBound = bound;
  }
}

function readDouble(reader: WireReader, end: number): number {
  return reader.bytes.readDoubleLE(reader.fixed64(end));
}
