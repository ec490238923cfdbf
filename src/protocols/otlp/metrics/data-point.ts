/**
 * Reads one data point of any kind from protobuf
 * (https://github.com/open-telemetry/opentelemetry-proto, opentelemetry/proto/metrics/v1).
 */
import type { Time } from '../../../codec/metric-writer.ts';
import { type ProtobufWire, toTag, wireType } from '../../../codec/protobuf-wire.ts';
import type { Exponential, ExponentialBuckets } from './native-histogram.ts';

export type PointKind = 'gauge' | 'sum' | 'histogram' | 'exponential' | 'summary';

const { varint, fixed64, bytes } = wireType;
const twoTo32 = 4_294_967_296;
const signBit = 0x8000_0000;
/** Bit of `flags`: the point has a time and no value. */
const noRecordedValue = 1;

const startTag = toTag(2, fixed64);
const timeTag = toTag(3, fixed64);
/** `as_double` of numbers, `count` of the others. */
const fourthTag = toTag(4, fixed64);
const sumTag = toTag(5, fixed64);
const asIntTag = toTag(6, fixed64);

const numberTags = { attributes: toTag(7, bytes), exemplars: toTag(5, bytes), flags: 8 };
const tagsOf = {
  gauge: numberTags,
  sum: numberTags,
  histogram: { attributes: toTag(9, bytes), exemplars: toTag(8, bytes), flags: 10 },
  exponential: { attributes: toTag(1, bytes), exemplars: toTag(11, bytes), flags: 10 },
  summary: { attributes: toTag(7, bytes), exemplars: -1, flags: 8 },
} as const;

const histogramTags = {
  counts: toTag(6, bytes),
  count: toTag(6, fixed64),
  bounds: toTag(7, bytes),
  bound: toTag(7, fixed64),
};
const exponentialTags = {
  scale: toTag(6, varint),
  zeroCount: toTag(7, fixed64),
  positive: toTag(8, bytes),
  negative: toTag(9, bytes),
  zeroThreshold: toTag(14, fixed64),
};
const bucketsTags = { offset: toTag(1, varint), counts: toTag(2, bytes), count: toTag(2, varint) };
const summaryTags = {
  quantile: toTag(6, bytes),
  share: toTag(1, fixed64),
  value: toTag(2, fixed64),
};

/** The fields of a point of any kind; reused. Ranges are pairs of start and end in the body. */
export class DataPoint implements Exponential {
  /** Unix ms; 0 = absent. */
  startMs = 0;
  timeMs = 0;
  isStale = false;
  /** Of a number; NaN if it has none. */
  value = Number.NaN;
  hasValue = false;
  count = 0;
  sum = 0;
  hasSum = false;
  /** Of an explicit histogram. */
  counts: number[] = [];
  bounds: number[] = [];
  scale = 0;
  zeroCount = 0;
  zeroThreshold = 0;
  positive: ExponentialBuckets = { offset: 0, counts: [] };
  negative: ExponentialBuckets = { offset: 0, counts: [] };
  /** Pairs of a share and its value. */
  quantiles: number[] = [];
  /** Of whole fields, with their tags. */
  attributes: number[] = [];
  exemplars: number[] = [];

  /** Of a histogram of any kind. */
  get buckets(): number {
    return this.counts.length + this.positive.counts.length + this.negative.counts.length;
  }

  clear(): void {
    this.startMs = 0;
    this.timeMs = 0;
    this.isStale = false;
    this.hasValue = false;
    this.count = 0;
    this.sum = 0;
    this.hasSum = false;
    this.scale = 0;
    this.zeroCount = 0;
    this.zeroThreshold = 0;
    if (this.counts.length > 0) this.counts = [];
    if (this.bounds.length > 0) this.bounds = [];
    if (this.quantiles.length > 0) this.quantiles = [];
    this.attributes.length = 0;
    this.exemplars.length = 0;
    this.positive = { offset: 0, counts: [] };
    this.negative = { offset: 0, counts: [] };
  }

  /** Reads the message from the cursor to `end`. */
  read(wire: ProtobufWire, kind: PointKind, end: number): void {
    const tags = tagsOf[kind];
    const flags = toTag(tags.flags, varint);
    while (wire.at < end) {
      const start = wire.at;
      const tag = wire.tag(end);
      if (tag === tags.attributes) addRange(this.attributes, start, passField(wire, end));
      else if (tag === timeTag) this.timeMs = readMillis(wire, end);
      else if (tag === startTag) this.startMs = readMillis(wire, end);
      else if (tag === tags.exemplars) addRange(this.exemplars, start, passField(wire, end));
      else if (tag === flags) this.isStale = (wire.uint32(end) & noRecordedValue) !== 0;
      else if (kind === 'gauge' || kind === 'sum') this.#readNumber(wire, tag, end);
      else if (tag === fourthTag) this.count = readUint64(wire, end);
      else if (tag === sumTag) this.#setSum(wire.double(end));
      else this.#readParts(wire, { kind, tag, end });
    }
  }

  #readNumber(wire: ProtobufWire, tag: number, end: number): void {
    if (tag === fourthTag) this.value = wire.double(end);
    else if (tag === asIntTag) this.value = readInt64(wire, end);
    else return wire.skip(tag, end);
    this.hasValue = true;
  }

  #setSum(sum: number): void {
    this.sum = sum;
    this.hasSum = true;
  }

  #readParts(
    wire: ProtobufWire,
    { kind, tag, end }: { readonly kind: PointKind; readonly tag: number; readonly end: number },
  ): void {
    if (kind === 'histogram') this.#readBuckets(wire, tag, end);
    else if (kind === 'exponential') this.#readExponential(wire, tag, end);
    else if (tag === summaryTags.quantile) this.#readQuantile(wire, wire.lengthEnd(end));
    else wire.skip(tag, end);
  }

  #readBuckets(wire: ProtobufWire, tag: number, end: number): void {
    if (tag === histogramTags.counts) {
      const listEnd = wire.lengthEnd(end);
      while (wire.at < listEnd) this.counts.push(readUint64(wire, listEnd));
    } else if (tag === histogramTags.bounds) {
      const listEnd = wire.lengthEnd(end);
      while (wire.at < listEnd) this.bounds.push(wire.double(listEnd));
    } else if (tag === histogramTags.count) this.counts.push(readUint64(wire, end));
    else if (tag === histogramTags.bound) this.bounds.push(wire.double(end));
    else wire.skip(tag, end);
  }

  #readExponential(wire: ProtobufWire, tag: number, end: number): void {
    if (tag === exponentialTags.scale) this.scale = wire.sint64(end) | 0;
    else if (tag === exponentialTags.zeroCount) this.zeroCount = readUint64(wire, end);
    else if (tag === exponentialTags.zeroThreshold) this.zeroThreshold = wire.double(end);
    else if (tag === exponentialTags.positive) readSide(wire, this.positive, wire.lengthEnd(end));
    else if (tag === exponentialTags.negative) readSide(wire, this.negative, wire.lengthEnd(end));
    else wire.skip(tag, end);
  }

  #readQuantile(wire: ProtobufWire, end: number): void {
    let share = 0;
    let value = 0;
    while (wire.at < end) {
      const tag = wire.tag(end);
      if (tag === summaryTags.share) share = wire.double(end);
      else if (tag === summaryTags.value) value = wire.double(end);
      else wire.skip(tag, end);
    }
    this.quantiles.push(share, value);
  }
}

function readSide(wire: ProtobufWire, side: ExponentialBuckets, end: number): void {
  while (wire.at < end) {
    const tag = wire.tag(end);
    if (tag === bucketsTags.offset) side.offset = wire.sint64(end) | 0;
    else if (tag === bucketsTags.count) side.counts.push(wire.uint64(end));
    else if (tag === bucketsTags.counts) {
      const listEnd = wire.lengthEnd(end);
      while (wire.at < listEnd) side.counts.push(wire.uint64(listEnd));
    } else wire.skip(tag, end);
  }
}

/** @returns the end of the bytes field at the cursor */
function passField(wire: ProtobufWire, end: number): number {
  wire.at = wire.lengthEnd(end);
  return wire.at;
}

function addRange(ranges: number[], start: number, end: number): void {
  ranges.push(start, end);
}

/** A `fixed64` of Unix ns, exactly rounded down to ms. */
export function readMillis(wire: ProtobufWire, end: number): number {
  wire.fixed64(end);
  // 2^32 ns are 4294 ms and 967,296 ns.
  return wire.high * 4294 + Math.floor((wire.high * 967_296 + wire.low) / 1_000_000);
}

function readUint64(wire: ProtobufWire, end: number): number {
  wire.fixed64(end);
  return wire.high * twoTo32 + wire.low;
}

/** An `sfixed64`, rounded beyond 2^53. */
export function readInt64(wire: ProtobufWire, end: number): number {
  wire.fixed64(end);
  const { high, low } = wire;
  return high < signBit ? high * twoTo32 + low : -((~high >>> 0) * twoTo32 + (~low >>> 0) + 1);
}

/** @param unixMs not negative */
export function toTime(unixMs: number): Time {
  return { low: unixMs >>> 0, high: Math.floor(unixMs / twoTo32) };
}
