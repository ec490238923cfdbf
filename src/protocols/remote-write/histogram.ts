/**
 * Looks at a native histogram, `prometheus.Histogram`, before it is kept byte by byte: whether a
 * reader could make sense of its buckets (https://prometheus.io/docs/specs/native_histograms).
 */

import type { ProtobufWire } from '../../codec/protobuf-wire.ts';
import { HistogramBuckets } from './histogram-buckets.ts';

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
const staleNan = { high: 0x7ff0_0000, low: 2 } as const;
/** Counts beyond 2^53 are rounded before they are added. */
const rounding = 1 + 2 ** -50;

/**
 * @param end of the message that begins at the cursor
 * @returns what is wrong with it, '' = nothing; its time is left in `low` and `high` of the wire
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
    switch (tag) {
      case fieldTag.countInt:
        this.#count = wire.uint64(end);
        this.#isFloat = false;
        return;
      case fieldTag.countFloat:
        this.#count = wire.double(end);
        this.#isFloat = true;
        return;
      case fieldTag.sum:
        wire.fixed64(end);
        this.#isStale = wire.high === staleNan.high && wire.low === staleNan.low;
        return;
      case fieldTag.schema:
        this.#schema = wire.sint64(end);
        return;
      case fieldTag.zeroCountInt:
        this.#zeroCount = wire.uint64(end);
        return;
      case fieldTag.zeroCountFloat:
        this.#zeroCount = wire.double(end);
        return;
      case fieldTag.timestamp:
        wire.varint(end);
        this.timeLow = wire.low;
        this.timeHigh = wire.high;
        return;
      case fieldTag.zeroThreshold:
      case fieldTag.resetHint:
        wire.skip(tag, end);
        return;
      default:
        if (this.#readBuckets(tag, wire, end)) return;
        if (tag < firstUnknownTag) wire.failType(start, tag, 'a histogram');
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
    // The last bucket goes on for ever and needs no bound.
    if (isCustom && this.#positive.places > this.#bounds + 1) return 'it has too few bounds';
    if (this.#count < 0 || this.#zeroCount < 0) return 'a count is negative';
    const inBuckets = this.#zeroCount + this.#negative.observed + this.#positive.observed;
    const isTooMany = !this.#isFloat && inBuckets > this.#count * rounding;
    return isTooMany ? 'its buckets hold more than its count' : '';
  }

  /** Repeated numbers may come one by one or packed. @returns whether it was such a field */
  #readBuckets(tag: number, wire: ProtobufWire, end: number): boolean {
    switch (tag) {
      case fieldTag.negativeSpan:
        this.#negative.readSpan(wire, wire.lengthEnd(end));
        return true;
      case fieldTag.positiveSpan:
        this.#positive.readSpan(wire, wire.lengthEnd(end));
        return true;
      case fieldTag.negativeDelta:
        this.#negative.readDelta(wire, end);
        return true;
      case fieldTag.positiveDelta:
        this.#positive.readDelta(wire, end);
        return true;
      case fieldTag.negativeCount:
        this.#negative.addCount(wire.double(end));
        return true;
      case fieldTag.positiveCount:
        this.#positive.addCount(wire.double(end));
        return true;
      case fieldTag.bound:
        this.#addBound(wire.double(end));
        return true;
      default:
        return this.#readPacked(tag, wire, end);
    }
  }

  #readPacked(tag: number, wire: ProtobufWire, end: number): boolean {
    const isPacked =
      tag === fieldTag.negativeDeltas ||
      tag === fieldTag.positiveDeltas ||
      tag === fieldTag.negativeCounts ||
      tag === fieldTag.positiveCounts ||
      tag === fieldTag.bounds;
    if (!isPacked) return false;
    const packedEnd = wire.lengthEnd(end);
    while (wire.at < packedEnd) {
      if (tag === fieldTag.negativeDeltas) this.#negative.readDelta(wire, packedEnd);
      else if (tag === fieldTag.positiveDeltas) this.#positive.readDelta(wire, packedEnd);
      else if (tag === fieldTag.bounds) this.#addBound(wire.double(packedEnd));
      else {
        const buckets = tag === fieldTag.negativeCounts ? this.#negative : this.#positive;
        buckets.addCount(wire.double(packedEnd));
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
