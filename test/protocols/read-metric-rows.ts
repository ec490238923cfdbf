/**
 * Reads a `metrics/1` payload from bytes, by `metricSectionFields`. Fails unless each section is
 * used up.
 */
import assert from 'node:assert/strict';
import {
  metricHeaderBytes,
  type MetricSection,
  metricSectionFields,
  metricSections,
  sectionOf,
} from '../../src/codec/metric-rows.ts';

/** A `Map(String, String)` in stored order. */
export type LabelRow = [name: string, value: string][];

export interface MetricRows {
  /** Ids are UInt128: the four words of `Series.id`, lowest first. */
  readonly series: { id: bigint; day: number; labels: LabelRow }[];
  readonly samples: { id: bigint; timeMs: bigint; valueBits: bigint; value: number }[];
  readonly histograms: { id: bigint; timeMs: bigint; message: Buffer }[];
  readonly exemplars: {
    id: bigint;
    timeMs: bigint;
    valueBits: bigint;
    value: number;
    labels: LabelRow;
  }[];
  readonly metadata: { name: string; type: string; unit: string; help: string }[];
}

export function readMetricRows(payload: Uint8Array): MetricRows {
  const lengths = metricSections.map((section) => sectionOf(payload, section).length);
  const total = lengths.reduce((sum, length) => sum + length, metricHeaderBytes);
  assert.equal(total, payload.length, 'the sections must fill the payload');
  return {
    series: readTuples(payload, 'series').map(({ id, day, labels }) => ({
      id: id as bigint,
      day: day as number,
      labels: labels as LabelRow,
    })),
    samples: readSamples(payload),
    histograms: readTuples(payload, 'histograms').map(({ id, time, histogram }) => ({
      id: id as bigint,
      timeMs: time as bigint,
      message: histogram as Buffer,
    })),
    exemplars: readTuples(payload, 'exemplars').map(({ id, time, value, labels }) => ({
      id: id as bigint,
      timeMs: time as bigint,
      ...toValue(value as bigint),
      labels: labels as LabelRow,
    })),
    metadata: readTuples(payload, 'metadata').map(({ name, type, unit, help }) => ({
      name: String(name),
      type: String(type),
      unit: String(unit),
      help: String(help),
    })),
  };
}

/** Values as bits: a number would lose the payload of a NaN. */
const readers: Record<FieldType, (bytes: Cursor) => unknown> = {
  UInt16: (bytes) => bytes.take(2).readUInt16LE(),
  Int64: (bytes) => bytes.take(8).readBigInt64LE(),
  Float64: (bytes) => bytes.take(8).readBigUInt64LE(),
  UInt128: (bytes) => {
    const id = bytes.take(16);
    return (id.readBigUInt64LE(8) << 64n) | id.readBigUInt64LE(0);
  },
  String: (bytes) => bytes.string(),
  'Map(String, String)': (bytes) =>
    Array.from({ length: bytes.varint() }, () => [String(bytes.string()), String(bytes.string())]),
};

type FieldType = (typeof metricSectionFields)[MetricSection][number][1];

function readTuples(payload: Uint8Array, section: MetricSection): Record<string, unknown>[] {
  const bytes = new Cursor(sectionOf(payload, section));
  const fields: readonly (readonly [string, FieldType])[] = metricSectionFields[section];
  const count = bytes.isDone ? 0 : bytes.varint();
  const rows = Array.from({ length: count }, () =>
    Object.fromEntries(fields.map(([name, type]) => [name, readers[type](bytes)])),
  );
  assert.ok(bytes.isDone, `bytes are left in the section ${section}`);
  return rows;
}

function readSamples(payload: Uint8Array): MetricRows['samples'] {
  const bytes = new Cursor(sectionOf(payload, 'samples'));
  if (bytes.isDone) return [];
  const [ids = [], times = [], values = []] = metricSectionFields.samples.map(([, type]) =>
    Array.from({ length: bytes.varint() }, () => readers[type](bytes) as bigint),
  );
  assert.ok(bytes.isDone, 'bytes are left in the section samples');
  assert.deepEqual([times.length, values.length], [ids.length, ids.length]);
  return ids.map((id, row) => ({ id, timeMs: times[row]!, ...toValue(values[row]!) }));
}

function toValue(valueBits: bigint): { valueBits: bigint; value: number } {
  return { valueBits, value: Buffer.from(new BigUint64Array([valueBits]).buffer).readDoubleLE() };
}

class Cursor {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get isDone(): boolean {
    return this.#at === this.#bytes.length;
  }

  take(length: number): Buffer {
    assert.ok(this.#at + length <= this.#bytes.length, 'a section must be complete');
    this.#at += length;
    return this.#bytes.subarray(this.#at - length, this.#at);
  }

  varint(): number {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = this.take(1)[0]!;
      value += (byte & 127) * 2 ** shift;
      if (byte < 128) return value;
    }
  }

  string(): Buffer {
    return this.take(this.varint());
  }
}
