/**
 * Validates a native histogram, `prometheus.Histogram`, before its bytes are stored unchanged
 * (https://prometheus.io/docs/specs/native_histograms).
 */
import type { ProtobufWire } from '../../codec/protobuf-wire.ts';

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
/** Schema with explicit bucket bounds, `custom_values`. */
const customSchema = -53;
/** The sum of a staleness marker. */
const staleNan = { high: 0x7ff0_0000, low: 2 } as const;
const positiveBits = 0x7fff_ffff;
const exponentBits = 0x7ff0_0000;
/** Tolerance: counts beyond 2^53 are rounded. */
const rounding = 2 ** -50;

/**
 * Reads the message from the cursor to `end`. Leaves its time in `low` and `high` of the wire.
 * @returns the fault, or '' if the histogram is valid
 */
export function readHistogram(wire: ProtobufWire, end: number): string {
  const histogram = new Histogram();
  while (wire.at < end) histogram.readField(wire, end);
  wire.low = histogram.timeLow;
  wire.high = histogram.timeHigh;
  return histogram.fault();
}

class Histogram {
  timeLow = 0;
  timeHigh = 0;
  #isFloat = false;
  #isStale = false;
  /** Observed NaN: it is in the count, and in no bucket. */
  #isSumNan = false;
  #count = 0;
  #zeroCount = 0;
  #schema = 0;
  readonly #negative = new HistogramBuckets();
  readonly #positive = new HistogramBuckets();
  #bounds = 0;
  #lastBound = -Infinity;
  #hasBadBound = false;

  readField(wire: ProtobufWire, end: number): void {
    const start = wire.at;
    const tag = wire.tag(end);
    if (tag === fieldTag.countInt) this.#setCount(wire.uint64(end), false);
    else if (tag === fieldTag.countFloat) this.#setCount(wire.double(end), true);
    else if (tag === fieldTag.sum) this.#readSum(wire, end);
    else if (tag === fieldTag.schema) this.#schema = wire.sint64(end);
    else if (tag === fieldTag.zeroCountInt) this.#zeroCount = wire.uint64(end);
    else if (tag === fieldTag.zeroCountFloat) this.#zeroCount = wire.double(end);
    else if (tag === fieldTag.timestamp) this.#readTime(wire, end);
    else if (!this.#readBuckets(tag, wire, end)) {
      const isSkipped = tag === fieldTag.zeroThreshold || tag === fieldTag.resetHint;
      if (tag < firstUnknownTag && !isSkipped) wire.failType(start, tag, 'a histogram');
      wire.skip(tag, end);
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
    // The last bucket ends at +Inf and has no bound.
    if (isCustom && this.#positive.places > this.#bounds + 1) return 'it has too few bounds';
    if (this.#count < 0 || this.#zeroCount < 0) return 'a count is negative';
    return this.#isFloat ? '' : this.#faultOfCount();
  }

  /** Float counts may be rounded, and are not compared. */
  #faultOfCount(): string {
    const inBuckets = this.#zeroCount + this.#negative.observed + this.#positive.observed;
    const beyond = inBuckets - this.#count;
    const tolerated = this.#count * rounding;
    if (beyond > tolerated) return 'its buckets hold more than its count';
    return beyond < -tolerated && !this.#isSumNan ? 'its buckets hold less than its count' : '';
  }

  #setCount(count: number, isFloat: boolean): void {
    this.#count = count;
    this.#isFloat = isFloat;
  }

  #readSum(wire: ProtobufWire, end: number): void {
    wire.fixed64(end);
    this.#isStale = wire.high === staleNan.high && wire.low === staleNan.low;
    this.#isSumNan = isNan(wire);
  }

  #readTime(wire: ProtobufWire, end: number): void {
    wire.varint(end);
    this.timeLow = wire.low;
    this.timeHigh = wire.high;
  }

  /** Repeated numbers may be packed or not. @returns whether the field is one of buckets */
  #readBuckets(tag: number, wire: ProtobufWire, end: number): boolean {
    const side = tag <= fieldTag.negativeCounts ? this.#negative : this.#positive;
    switch (tag) {
      case fieldTag.negativeSpan:
      case fieldTag.positiveSpan:
        side.readSpan(wire, wire.lengthEnd(end));
        return true;
      case fieldTag.negativeDelta:
      case fieldTag.positiveDelta:
        side.readDelta(wire, end);
        return true;
      case fieldTag.negativeCount:
      case fieldTag.positiveCount:
        side.addCount(wire.double(end));
        return true;
      case fieldTag.bound:
        this.#addBound(wire.double(end));
        return true;
      default:
    }
    const isDeltas = tag === fieldTag.negativeDeltas || tag === fieldTag.positiveDeltas;
    const isCounts = tag === fieldTag.negativeCounts || tag === fieldTag.positiveCounts;
    if (!isDeltas && !isCounts && tag !== fieldTag.bounds) return false;
    const packedEnd = wire.lengthEnd(end);
    while (wire.at < packedEnd) {
      if (isDeltas) side.readDelta(wire, packedEnd);
      else if (isCounts) side.addCount(wire.double(packedEnd));
      else this.#addBound(wire.double(packedEnd));
    }
    return true;
  }

  #addBound(bound: number): void {
    this.#bounds += 1;
    if (!Number.isFinite(bound) || bound <= this.#lastBound) this.#hasBadBound = true;
    this.#lastBound = bound;
  }
}

/** Of the bits of a double in the wire. */
function isNan({ low, high }: ProtobufWire): boolean {
  const positive = high & positiveBits;
  return positive > exponentBits || (positive === exponentBits && low !== 0);
}

/** The positive or the negative buckets: spans name them, deltas or counts follow in order. */
const spanTag = { offset: 0x08, length: 0x10 } as const;
const firstUnknownSpanTag = 3 << 3;

class HistogramBuckets {
  /** Sum of the integer counts of all buckets. */
  observed = 0;
  /** Index after the last bucket. */
  places = 0;
  #spans = 0;
  #inSpans = 0;
  #deltas = 0;
  #counts = 0;
  /** Count of the last bucket, which the next delta adds to. */
  #inBucket = 0;
  #isNegative = false;
  #hasBadOffset = false;

  /** Reads the `BucketSpan` from the cursor to `end`. */
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
        if (tag < firstUnknownSpanTag) wire.failType(start, tag, 'a span');
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

  /** @returns '' if the buckets are valid */
  fault(isFloat: boolean): string {
    const buckets = isFloat ? this.#counts : this.#deltas;
    if (buckets !== this.#inSpans) return 'its spans and its buckets are not as many';
    if (this.#hasBadOffset) return 'a span begins before the last one ends';
    return this.#isNegative ? 'a count is negative' : '';
  }
}
