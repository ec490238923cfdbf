/**
 * Decodes a stored native histogram, the message `prometheus.Histogram` as it was sent; its
 * receiver has validated it. In Prometheus' source: prompb/types.proto. Pure.
 */
import { ProtobufWire, toTag, wireType } from '../codec/protobuf-wire.ts';
import { type Buckets, type Histogram, toBuckets } from '../promql/histogram/histogram.ts';
import { staleHistogram } from '../promql/source.ts';

const { varint, bytes, fixed64 } = wireType;

const hints = ['unknown', 'reset', 'not_reset', 'gauge'] as const;

/** The sum of a stale marker. */
const staleNan = { high: 0x7ff0_0000, low: 2 } as const;

export function decodeHistogram(message: Uint8Array): Histogram {
  const { buffer, byteOffset, length: end } = message;
  const wire = new ProtobufWire(Buffer.from(buffer, byteOffset, end));
  const reader = new HistogramReader();
  while (wire.at < end) reader.readField(wire, end);
  return reader.histogram();
}

class HistogramReader {
  #hint: Histogram['hint'] = 'unknown';
  #schema = 0;
  #zeroThreshold = 0;
  #zeroCount = 0;
  #count = 0;
  #sum = 0;
  #isStale = false;
  readonly #positive = new BucketReader();
  readonly #negative = new BucketReader();
  readonly #bounds: number[] = [];

  readField(wire: ProtobufWire, end: number): void {
    const tag = wire.tag(end);
    switch (tag) {
      case toTag(1, varint):
        this.#count = wire.uint64(end);
        return;
      case toTag(2, fixed64):
        this.#count = wire.double(end);
        return;
      case toTag(3, fixed64): {
        const start = wire.at;
        wire.fixed64(end);
        this.#isStale = wire.high === staleNan.high && wire.low === staleNan.low;
        wire.at = start;
        this.#sum = wire.double(end);
        return;
      }
      case toTag(4, varint):
        this.#schema = wire.sint64(end);
        return;
      case toTag(5, fixed64):
        // NaN would differ from itself where thresholds are made equal.
        this.#zeroThreshold = wire.double(end) || 0;
        return;
      case toTag(6, varint):
        this.#zeroCount = wire.uint64(end);
        return;
      case toTag(7, fixed64):
        this.#zeroCount = wire.double(end);
        return;
      case toTag(14, varint):
        this.#hint = hints[wire.uint64(end)] ?? 'unknown';
        return;
      default:
        this.#readRepeated(tag, wire, end);
    }
  }

  histogram(): Histogram {
    if (this.#isStale) return staleHistogram;
    return {
      hint: this.#hint,
      schema: this.#schema,
      zeroThreshold: this.#zeroThreshold,
      zeroCount: this.#zeroCount,
      count: this.#count,
      sum: this.#sum,
      positive: this.#positive.buckets(),
      negative: this.#negative.buckets(),
      bounds: this.#bounds,
    };
  }

  #readRepeated(tag: number, wire: ProtobufWire, end: number): void {
    const field = tag >>> 3;
    if (field === 16) {
      readNumbers(tag, wire, end, (until) => this.#bounds.push(wire.double(until)));
      return;
    }
    const side = { 8: this.#negative, 9: this.#negative, 10: this.#negative }[field];
    const buckets = side ?? { 11: this.#positive, 12: this.#positive, 13: this.#positive }[field];
    if (buckets === undefined) wire.skip(tag, end);
    else if (field === 8 || field === 11) buckets.readSpan(wire, wire.lengthEnd(end));
    else if (field === 9 || field === 12) {
      readNumbers(tag, wire, end, (until) => buckets.addDelta(wire.sint64(until)));
    } else readNumbers(tag, wire, end, (until) => buckets.addCount(wire.double(until)));
  }
}

/** Repeated numbers may be packed or not. */
function readNumbers(
  tag: number,
  wire: ProtobufWire,
  end: number,
  readOne: (until: number) => void,
): void {
  if ((tag & 7) !== bytes) {
    readOne(end);
    return;
  }
  const packedEnd = wire.lengthEnd(end);
  while (wire.at < packedEnd) readOne(packedEnd);
}

class BucketReader {
  readonly #indexes: number[] = [];
  readonly #counts: number[] = [];
  #next = 0;

  readSpan(wire: ProtobufWire, end: number): void {
    let offset = 0;
    let length = 0;
    while (wire.at < end) {
      const tag = wire.tag(end);
      if (tag === toTag(1, varint)) offset = wire.sint64(end);
      else if (tag === toTag(2, varint)) length = wire.uint64(end);
      else wire.skip(tag, end);
    }
    this.#next += offset;
    for (let i = 0; i < length; i++) this.#indexes.push(this.#next++);
  }

  addDelta(delta: number): void {
    this.#counts.push((this.#counts.at(-1) ?? 0) + delta);
  }

  addCount(count: number): void {
    this.#counts.push(count);
  }

  buckets(): Buckets {
    return toBuckets(this.#indexes.map((index, i) => [index, this.#counts[i] ?? 0] as const));
  }
}
