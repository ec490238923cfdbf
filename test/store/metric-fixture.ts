/** Writes `metrics/1` batches. */
import { randomBytes, randomUUID } from 'node:crypto';
import type { BatchId, BatchOwner, StampedBatch } from '../../src/model/batch.ts';
import type { SamplesPlan, Selector, SeriesPlan } from '../../src/model/metric-plan.ts';
import { toDay } from '../../src/codec/metric-rows.ts';
import { MetricWriter, type Time } from '../../src/codec/metric-writer.ts';
import { compareUtf8, encodeLabels, toSeries } from '../../src/codec/series-labels.ts';
import { type Label, metricNameLabel } from '../../src/model/metric-plan.ts';

export type Labels = Readonly<Record<string, string>>;

export interface MetricFixture {
  /** Without `__name__`. */
  readonly labels?: Labels;
  readonly name: string;
  /** Unix ms and value, or the bits of one. */
  readonly samples?: readonly (readonly [number | bigint, number | bigint])[];
  readonly histograms?: readonly (readonly [number | bigint, Uint8Array])[];
  readonly exemplars?: readonly (readonly [number | bigint, number, Labels])[];
  /** Labels known from an earlier batch. */
  readonly isKnown?: true;
}

export interface MetadataFixture {
  readonly name: string;
  readonly type?: string;
  readonly unit?: string;
  readonly help?: string;
}

export function newOwner(): BatchOwner {
  return { accountId: randomUUID(), streamId: randomUUID(), receiverId: 'rcv_test' };
}

/** Sorted, as stored. */
export function canonicalLabels({ name, labels = {} }: MetricFixture): Label[] {
  return Object.entries({ ...labels, [metricNameLabel]: name })
    .filter(([, value]) => value !== '')
    .sort(([a], [b]) => compareUtf8(a, b));
}

/** @param batch its place in the queue; the rest gets defaults. */
export function metricBatch(
  metrics: readonly MetricFixture[],
  batch: {
    readonly owner: BatchOwner;
    readonly receivedAtNanos: bigint;
    readonly id?: BatchId;
    readonly metadata?: readonly MetadataFixture[];
  },
): StampedBatch {
  const writer = new MetricWriter();
  for (const metric of metrics) writeMetric(writer, metric);
  for (const { name, type = '', unit = '', help = '' } of batch.metadata ?? []) {
    writer.metadata({ name, type, unit, help });
  }
  const { samples, histograms, exemplars, metadata } = writer.counts();
  return {
    id: batch.id ?? { writer: randomBytes(8).readBigUInt64LE(), sequence: 1n },
    receivedAtNanos: batch.receivedAtNanos,
    owner: batch.owner,
    layout: 'metrics/1',
    rows: samples + histograms + exemplars + metadata,
    payload: writer.finish(),
  };
}

function writeMetric(writer: MetricWriter, metric: MetricFixture): void {
  const { id, labels } = toSeries(canonicalLabels(metric));
  const { samples = [], histograms = [], exemplars = [] } = metric;
  const times = [...samples, ...histograms, ...exemplars].map(([time]) => time);
  if (metric.isKnown === undefined) {
    for (const day of new Set(times.map((time) => toDay(Number(time))))) {
      writer.series(id, 0, day, labels);
    }
  }
  for (const [time, value] of samples) {
    const bits = doubleBytes(value);
    writer.sampleBits(id, 0, toTime(time), bits.readInt32LE(0), bits.readInt32LE(4));
  }
  for (const [time, message] of histograms) {
    writer.histogram(id, 0, toTime(time), Buffer.from(message));
  }
  for (const [time, value, own] of exemplars) {
    const encoded = encodeLabels(Object.entries(own));
    writer.exemplar(id, 0, { time: toTime(time), value: doubleBytes(value), labels: encoded });
  }
}

function toTime(unixMs: number | bigint): Time {
  const bits = BigInt.asUintN(64, BigInt(unixMs));
  return { low: Number(bits & 0xffff_ffffn), high: Number(bits >> 32n) };
}

export function doubleBytes(value: number | bigint): Buffer {
  const bytes = Buffer.alloc(8);
  if (typeof value === 'bigint') bytes.writeBigUInt64LE(value);
  else bytes.writeDoubleLE(value);
  return bytes;
}

export function bitsOf(value: number): bigint {
  return doubleBytes(value).readBigUInt64LE();
}

const everyTime = { fromMs: -(1n << 63n), untilMs: (1n << 63n) - 1n };

export function seriesPlan(
  owner: BatchOwner,
  selectors: readonly Selector[] = [],
  change: Partial<SeriesPlan> = {},
): SeriesPlan {
  const streams = [{ streamId: owner.streamId, receivedFromNanos: 0n }];
  return { accountId: owner.accountId, streams, selectors, ...everyTime, limit: 10_000, ...change };
}

export function samplesPlan(
  owner: BatchOwner,
  selectors: readonly Selector[] = [],
  change: Partial<SamplesPlan> = {},
): SamplesPlan {
  const { limit: _, ...plan } = seriesPlan(owner, selectors);
  return { ...plan, maxSeries: 10_000, maxSamples: 1_000_000, ...change };
}
