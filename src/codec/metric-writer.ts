/** Writes the sections of `metrics/1` from validated values. */
import { metricHeaderBytes, type MetricSection, metricSections } from './metric-rows.ts';
import type { MetricCounts } from '../model/batch.ts';
import { RowWriter } from './row-writer.ts';

const idBytes = 16;
const firstSamples = 4096;
const maxVarintBytes = 5;

/** Reused from batch to batch. */
export class MetricWriter {
  #samples = 0;
  /** Ids, times and values are separate columns. */
  #ids = new Uint32Array(firstSamples * 4);
  #times = new Uint32Array(firstSamples * 2);
  #values = new Uint32Array(firstSamples * 2);
  readonly #doubles = new DataView(new ArrayBuffer(8));
  readonly #tuples: Readonly<Record<TupleSection, { count: number; readonly rows: RowWriter }>> = {
    series: { count: 0, rows: new RowWriter() },
    histograms: { count: 0, rows: new RowWriter() },
    exemplars: { count: 0, rows: new RowWriter() },
    metadata: { count: 0, rows: new RowWriter() },
  };

  /** The parts of `rows`. */
  counts(): MetricCounts {
    const { histograms, exemplars, metadata } = this.#tuples;
    return {
      samples: this.#samples,
      histograms: histograms.count,
      exemplars: exemplars.count,
      metadata: metadata.count,
    };
  }

  /** @param labels RowBinary `Map(String, String)` in canonical form */
  series(ids: Uint32Array, at: number, day: number, labels: Uint8Array): void {
    const rows = this.#tuple('series', idBytes + 2 + labels.length);
    writeId(rows, ids, at);
    rows.byte(day & 255);
    rows.byte(day >>> 8);
    rows.raw(toBuffer(labels), 0, labels.length);
  }

  /** @param low half of the bits of a double; bits beyond 32 are dropped */
  sampleBits(ids: Uint32Array, at: number, time: Time, low: number, high: number): void {
    const sample = this.#addSample(ids, at, time);
    this.#values[sample * 2] = low;
    this.#values[sample * 2 + 1] = high;
  }

  /** A NaN becomes the canonical NaN of Prometheus. */
  sample(ids: Uint32Array, at: number, time: Time, value: number): void {
    if (value === value) this.#doubles.setFloat64(0, value, true);
    else this.#doubles.setBigUint64(0, normalNan, true);
    const low = this.#doubles.getUint32(0, true);
    this.sampleBits(ids, at, time, low, this.#doubles.getUint32(4, true));
  }

  /** @param histogram one `prometheus.Histogram` */
  histogram(ids: Uint32Array, at: number, time: Time, histogram: Buffer): void {
    const rows = this.#tuple('histograms', idBytes + 8 + maxVarintBytes + histogram.length);
    writeId(rows, ids, at);
    writeTime(rows, time);
    rows.bytes(histogram, 0, histogram.length);
  }

  /** @param exemplar with a little-endian double, and labels as RowBinary `Map(String, String)` */
  exemplar(
    ids: Uint32Array,
    at: number,
    exemplar: { readonly time: Time; readonly value: Buffer; readonly labels: Uint8Array },
  ): void {
    const { time, value, labels } = exemplar;
    const rows = this.#tuple('exemplars', idBytes + 16 + labels.length);
    writeId(rows, ids, at);
    writeTime(rows, time);
    rows.raw(value, 0, 8);
    rows.raw(toBuffer(labels), 0, labels.length);
  }

  metadata(metadata: {
    readonly name: string;
    readonly type: string;
    readonly unit: string;
    readonly help: string;
  }): void {
    const { name, type, unit, help } = metadata;
    const characters = name.length + type.length + unit.length + help.length;
    const rows = this.#tuple('metadata', 3 * characters + 4 * maxVarintBytes);
    for (const text of [name, type, unit, help]) rows.text(text);
  }

  mark(): MetricMark {
    const { histograms, exemplars } = this.#tuples;
    return {
      samples: this.#samples,
      histograms: histograms.count,
      histogramBytes: histograms.rows.length,
      exemplars: exemplars.count,
      exemplarBytes: exemplars.rows.length,
    };
  }

  /** Drops the records since `mark`, but not series, which others may have from then on. */
  rewind(to: MetricMark): void {
    const { histograms, exemplars } = this.#tuples;
    this.#samples = to.samples;
    histograms.count = to.histograms;
    histograms.rows.rewind(to.histogramBytes);
    exemplars.count = to.exemplars;
    exemplars.rows.rewind(to.exemplarBytes);
  }

  /** Records so far, without series. */
  get rows(): number {
    const { histograms, exemplars, metadata } = this.#tuples;
    return this.#samples + histograms.count + exemplars.count + metadata.count;
  }

  /** The records as a batch, but for rejections and warnings. Clears the writer. */
  takeBatch() {
    const { rows } = this;
    const written = this.counts();
    return { layout: 'metrics/1', rows, payload: this.finish(), written } as const;
  }

  /** Returns the payload and clears the writer. */
  finish(): Uint8Array {
    const sections = metricSections.map((section) =>
      section === 'samples' ? this.#finishSamples() : this.#finishTuples(section),
    );
    const bytes = sections.flat().reduce((sum, piece) => sum + piece.length, metricHeaderBytes);
    const payload = Buffer.allocUnsafeSlow(bytes);
    let at = metricHeaderBytes;
    for (const [index, pieces] of sections.entries()) {
      const start = at;
      for (const piece of pieces) {
        payload.set(piece, at);
        at += piece.length;
      }
      payload.writeUInt32LE(at - start, index * 4);
    }
    this.clear();
    return payload;
  }

  clear(): void {
    this.#samples = 0;
    if (this.#ids.length > maxKeptSamples * 4) this.#resize(firstSamples);
    for (const tuple of Object.values(this.#tuples)) {
      tuple.count = 0;
      tuple.rows.clear();
    }
  }

  #addSample(ids: Uint32Array, at: number, { low, high }: Time): number {
    const sample = this.#samples++;
    if (sample * 4 === this.#ids.length) this.#resize(2 * sample);
    const own = this.#ids;
    const to = sample * 4;
    own[to] = ids[at]!;
    own[to + 1] = ids[at + 1]!;
    own[to + 2] = ids[at + 2]!;
    own[to + 3] = ids[at + 3]!;
    this.#times[sample * 2] = low;
    this.#times[sample * 2 + 1] = high;
    return sample;
  }

  #resize(samples: number): void {
    const kept = Math.min(samples, this.#samples);
    const [ids, times, values] = [this.#ids, this.#times, this.#values];
    this.#ids = new Uint32Array(samples * 4);
    this.#times = new Uint32Array(samples * 2);
    this.#values = new Uint32Array(samples * 2);
    this.#ids.set(ids.subarray(0, kept * 4));
    this.#times.set(times.subarray(0, kept * 2));
    this.#values.set(values.subarray(0, kept * 2));
  }

  #tuple(section: TupleSection, bytes: number): RowWriter {
    const tuple = this.#tuples[section];
    tuple.count += 1;
    tuple.rows.reserve(bytes);
    return tuple.rows;
  }

  #finishSamples(): Uint8Array[] {
    const samples = this.#samples;
    if (samples === 0) return [];
    const count = encodeVarint(samples);
    const ids = bytesOf(this.#ids.subarray(0, samples * 4));
    const times = bytesOf(this.#times.subarray(0, samples * 2));
    const values = bytesOf(this.#values.subarray(0, samples * 2));
    return [count, ids, count, times, count, values];
  }

  #finishTuples(section: TupleSection): Uint8Array[] {
    const { count, rows } = this.#tuples[section];
    return count === 0 ? [] : [encodeVarint(count), rows.finish()];
  }
}

/** A place among the records of a writer. */
interface MetricMark {
  readonly samples: number;
  readonly histograms: number;
  readonly histogramBytes: number;
  readonly exemplars: number;
  readonly exemplarBytes: number;
}

type TupleSection = Exclude<MetricSection, 'samples'>;

/** Unix ms as an int64 in two words: a double cannot hold all of them. */
export interface Time {
  readonly low: number;
  readonly high: number;
}

/** Larger buffers are released. */
const maxKeptSamples = 128 * 1024;
/** https://github.com/prometheus/prometheus/blob/main/model/value/value.go */
const normalNan = 0x7ff8_0000_0000_0001n;

function writeId(rows: RowWriter, ids: Uint32Array, at: number): void {
  for (let word = at; word < at + 4; word += 1) rows.uint32(ids[word]!);
}

function writeTime(rows: RowWriter, { low, high }: Time): void {
  rows.uint32(low);
  rows.uint32(high);
}

function encodeVarint(value: number): Uint8Array {
  const bytes = [];
  let rest = value;
  for (; rest > 127; rest >>>= 7) bytes.push((rest & 127) | 128);
  bytes.push(rest);
  return Uint8Array.from(bytes);
}

function bytesOf(words: Uint32Array): Uint8Array {
  return new Uint8Array(words.buffer, words.byteOffset, words.byteLength);
}

function toBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
