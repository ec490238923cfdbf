/**
 * Exponential histograms of OpenTelemetry as native histograms of Prometheus
 * (https://prometheus.io/docs/specs/native_histograms).
 */
import { toTag, wireType } from '../../../codec/protobuf-wire.ts';
import type { MessageBuilder } from '../message-builder.ts';

/** Dense: the counts of adjacent buckets from `offset` on. */
export interface ExponentialBuckets {
  offset: number;
  counts: number[];
}

/** The part of an `ExponentialHistogramDataPoint` that adds up over time. */
export interface Exponential {
  readonly scale: number;
  readonly count: number;
  readonly sum: number;
  readonly zeroCount: number;
  readonly zeroThreshold: number;
  readonly positive: ExponentialBuckets;
  readonly negative: ExponentialBuckets;
}

const minSchema = -4;
const maxSchema = 8;
/** Of Prometheus, for senders that tell no width of their zero bucket. */
const defaultZeroThreshold = 1e-128;
/** With more buckets a total gets coarser. */
const maxBuckets = 1000;
/** Up to as many empty buckets are cheaper than another span. */
const maxGap = 2;
/** Tolerance: counts beyond 2^53 are rounded. */
const rounding = 2 ** -50;
/** Shifts are modulo 32. */
const maxShift = 31;

const field = {
  count: 1,
  sum: 3,
  schema: 4,
  zeroThreshold: 5,
  zeroCount: 6,
  negativeSpans: 8,
  negativeDeltas: 9,
  positiveSpans: 11,
  positiveDeltas: 12,
  timestamp: 15,
} as const;
const spanField = { offset: 1, length: 2 } as const;
const twoTo32 = 4_294_967_296;

/** Observed NaN are in the count and in no bucket. @returns '' if the histogram can be stored */
export function faultOf({ scale, count, sum, ...buckets }: Exponential): string {
  if (scale < minSchema) return `its scale ${scale} is below ${minSchema}`;
  const { zeroCount, positive, negative } = buckets;
  const beyond = zeroCount + total(positive.counts) + total(negative.counts) - count;
  if (beyond > count * rounding) return 'its buckets hold more than its count';
  const isLess = beyond < -count * rounding && !Number.isNaN(sum);
  return isLess ? 'its buckets hold less than its count' : '';
}

function total(counts: readonly number[]): number {
  let sum = 0;
  for (const count of counts) sum += count;
  return sum;
}

type Side = Map<number, number>;

/** A sparse histogram to which others can be added. */
export class NativeHistogram {
  count = 0;
  sum = 0;
  #schema = maxSchema;
  #zeroCount = 0;
  #zeroThreshold = 0;
  #positive: Side = new Map();
  #negative: Side = new Map();

  /** @param histogram without fault */
  add({ scale, count, sum, zeroCount, zeroThreshold, ...sides }: Exponential): void {
    this.count += count;
    this.sum += sum;
    this.#zeroCount += zeroCount;
    this.#coarsenTo(Math.min(coarsestScale(scale, sides), this.#schema));
    const shift = Math.min(scale - this.#schema, maxShift);
    addBuckets(this.#positive, sides.positive, shift);
    addBuckets(this.#negative, sides.negative, shift);
    while (this.#positive.size + this.#negative.size > maxBuckets && this.#schema > minSchema) {
      this.#coarsenTo(this.#schema - 1);
    }
    const threshold = zeroThreshold > 0 ? zeroThreshold : defaultZeroThreshold;
    if (this.#zeroThreshold !== 0 && threshold !== this.#zeroThreshold) this.#widenZero(threshold);
    this.#zeroThreshold = Math.max(this.#zeroThreshold, threshold);
  }

  /** Writes a `prometheus.Histogram`. @param sumBits a little-endian double */
  encode(builder: MessageBuilder, timeMs: number, sumBits: Buffer): Buffer {
    builder.clear();
    builder.varint(field.count, this.count >>> 0, Math.floor(this.count / twoTo32));
    builder.fixed64(field.sum, sumBits.readUInt32LE(0), sumBits.readUInt32LE(4));
    builder.varint(field.schema, (this.#schema << 1) ^ (this.#schema >> 31), 0);
    builder.double(field.zeroThreshold, this.#zeroThreshold);
    const zeroHigh = Math.floor(this.#zeroCount / twoTo32);
    builder.varint(field.zeroCount, this.#zeroCount >>> 0, zeroHigh);
    writeSide(builder, this.#negative, field.negativeSpans, field.negativeDeltas);
    writeSide(builder, this.#positive, field.positiveSpans, field.positiveDeltas);
    builder.varint(field.timestamp, timeMs >>> 0, Math.floor(timeMs / twoTo32));
    return builder.finish();
  }

  #coarsenTo(schema: number): void {
    const shift = this.#schema - schema;
    if (shift === 0) return;
    this.#schema = schema;
    this.#positive = coarsened(this.#positive, shift);
    this.#negative = coarsened(this.#negative, shift);
  }

  /** Takes buckets that end within the wider zero bucket into it. */
  #widenZero(threshold: number): void {
    const widest = Math.max(threshold, this.#zeroThreshold);
    for (const side of [this.#positive, this.#negative]) {
      for (const [index, count] of side) {
        if (2 ** (index * 2 ** -this.#schema) > widest) continue;
        this.#zeroCount += count;
        side.delete(index);
      }
    }
  }
}

/** A scale at which more than `maxBuckets` are certain to remain is not tried. */
function coarsestScale(
  scale: number,
  { positive, negative }: Pick<Exponential, 'positive' | 'negative'>,
): number {
  const filled = countFilled(positive.counts) + countFilled(negative.counts);
  if (filled <= maxBuckets) return scale;
  return Math.max(minSchema, scale - Math.floor(Math.log2(filled / maxBuckets)));
}

function countFilled(counts: readonly number[]): number {
  let filled = 0;
  for (const count of counts) if (count > 0) filled += 1;
  return filled;
}

/** OpenTelemetry's bucket 0 begins at 1, that of Prometheus ends there. */
function addBuckets(side: Side, { offset, counts }: ExponentialBuckets, shift: number): void {
  let bucket = 0;
  let pending = 0;
  const add = () => {
    if (pending > 0) side.set(bucket, (side.get(bucket) ?? 0) + pending);
  };
  for (let index = 0; index < counts.length; index += 1) {
    const next = ((offset + index) >> shift) + 1;
    if (next !== bucket) {
      add();
      bucket = next;
      pending = 0;
    }
    pending += counts[index]!;
  }
  add();
}

function coarsened(side: Side, shift: number): Side {
  const coarse: Side = new Map();
  for (const [index, count] of side) {
    const bucket = ((index - 1) >> Math.min(shift, maxShift)) + 1;
    coarse.set(bucket, (coarse.get(bucket) ?? 0) + count);
  }
  return coarse;
}

function writeSide(builder: MessageBuilder, side: Side, spans: number, deltas: number): void {
  if (side.size === 0) return;
  const indices = [...side.keys()].sort((a, b) => a - b);
  const counts: number[] = [];
  let start = indices[0]!;
  let end = start;
  let lastEnd = 0;
  const closeSpan = () => {
    const span = builder.open(toTag(spans, wireType.bytes), 1);
    const offset = start - lastEnd;
    builder.varint(spanField.offset, (offset << 1) ^ (offset >> 31), 0);
    builder.varint(spanField.length, end - start, 0);
    builder.close(span, 1);
    lastEnd = end;
  };
  for (const index of indices) {
    if (index - end > maxGap) {
      closeSpan();
      start = index;
      end = index;
    }
    for (; end < index; end += 1) counts.push(0);
    counts.push(side.get(index)!);
    end = index + 1;
  }
  closeSpan();
  const list = builder.open(toTag(deltas, wireType.bytes), 1);
  let last = 0;
  for (const count of counts) {
    builder.packedSigned(count - last);
    last = count;
  }
  builder.close(list, 1);
}
