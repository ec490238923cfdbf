/**
 * Finds the labels and records of one `prometheus.TimeSeries` in the body. Fields may come in any
 * order, so the whole message is read before anything is written. Reused from series to series.
 */
import type { ProtobufWire } from '../../codec/protobuf-wire.ts';

const fieldTag = { labels: 0x0a, samples: 0x12, exemplars: 0x1a, histograms: 0x22 } as const;
const sampleTag = { value: 0x09, timestamp: 0x10 } as const;
const firstUnknownTag = 5 << 3;
const firstUnknownSampleTag = 3 << 3;
const firstSamples = 64;
const maxKeptSamples = 16 * 1024;
/** Count of labels that were compared as a whole. */
export const uncounted = -1;

export class TimeSeries {
  /** Range of the labels in `labelSource`, and their count; `uncounted` as of `begin`. */
  labelsStart = 0;
  labelsEnd = 0;
  labels = 0;
  samples = 0;
  /** Offset of each sample's value; -1 = absent, which means 0. */
  valueAt = new Int32Array(firstSamples);
  timeLow = new Uint32Array(firstSamples);
  timeHigh = new Uint32Array(firstSamples);
  /** Pairs of start and end. */
  exemplars: number[] = [];
  histograms: number[] = [];
  /** Ranges of labels that are not adjacent. */
  #apart: number[] = [];

  readonly #maxLabels: number;

  /** @param maxLabels ranges of further labels are dropped */
  constructor(maxLabels: number) {
    this.#maxLabels = maxLabels;
  }

  get records(): number {
    return this.samples + (this.exemplars.length + this.histograms.length) / 2;
  }

  clear(): void {
    this.labels = 0;
    this.samples = 0;
    this.labelsStart = 0;
    this.labelsEnd = 0;
    if (this.exemplars.length > 0) this.exemplars = [];
    if (this.histograms.length > 0) this.histograms = [];
    if (this.#apart.length > 0) this.#apart = [];
    if (this.valueAt.length > maxKeptSamples) this.#resize(firstSamples);
  }

  /** Takes a known label set that the series begins with. Further labels may follow. */
  begin(wire: ProtobufWire, end: number): void {
    this.labelsStart = wire.at;
    this.labelsEnd = end;
    this.labels = uncounted;
    wire.at = end;
  }

  /** Reads fields up to `end` of the series, none that begins after `sliceEnd`. */
  read(wire: ProtobufWire, end: number, sliceEnd: number): void {
    while (wire.at < end && wire.at < sliceEnd) {
      const start = wire.at;
      const tag = wire.tag(end);
      switch (tag) {
        case fieldTag.labels:
          if (this.labels === uncounted) this.#countLabels(wire);
          wire.at = wire.lengthEnd(end);
          this.#addLabel(start, wire.at);
          break;
        case fieldTag.samples:
          this.#readSample(wire, wire.lengthEnd(end));
          break;
        case fieldTag.exemplars:
          addRange(this.exemplars, wire, wire.lengthEnd(end));
          break;
        case fieldTag.histograms:
          addRange(this.histograms, wire, wire.lengthEnd(end));
          break;
        default:
          if (tag < firstUnknownTag) wire.failType(start, tag, 'a series');
          wire.skip(tag, end);
      }
    }
  }

  /** @returns the buffer of the label range; joins labels that are not adjacent */
  labelSource(body: Buffer): Buffer {
    if (this.#apart.length === 0) return body;
    const ranges = [...this.#apart, this.labelsStart, this.labelsEnd];
    const pieces: Buffer[] = [];
    for (let range = 0; range < ranges.length; range += 2) {
      pieces.push(body.subarray(ranges[range], ranges[range + 1]));
    }
    const source = Buffer.concat(pieces);
    this.#apart = [];
    this.labelsStart = 0;
    this.labelsEnd = source.length;
    return source;
  }

  #countLabels(wire: ProtobufWire): void {
    const { at } = wire;
    this.labels = 0;
    for (wire.at = this.labelsStart; wire.at < this.labelsEnd; this.labels += 1) {
      wire.tag(this.labelsEnd);
      wire.at = wire.lengthEnd(this.labelsEnd);
    }
    wire.at = at;
  }

  #addLabel(start: number, end: number): void {
    if (this.labels++ === 0) {
      this.labelsStart = start;
    } else if (start !== this.labelsEnd) {
      if (this.labels > this.#maxLabels) return;
      this.#apart.push(this.labelsStart, this.labelsEnd);
      this.labelsStart = start;
    }
    this.labelsEnd = end;
  }

  #readSample(wire: ProtobufWire, end: number): void {
    let valueAt = -1;
    let low = 0;
    let high = 0;
    while (wire.at < end) {
      const start = wire.at;
      const tag = wire.tag(end);
      if (tag === sampleTag.value) {
        valueAt = wire.pass(8, end);
      } else if (tag === sampleTag.timestamp) {
        wire.unixMillis(end);
        low = wire.low;
        high = wire.high;
      } else {
        if (tag < firstUnknownSampleTag) wire.failType(start, tag, 'a sample');
        wire.skip(tag, end);
      }
    }
    const sample = this.samples++;
    if (sample === this.valueAt.length) this.#resize(2 * sample);
    this.valueAt[sample] = valueAt;
    this.timeLow[sample] = low;
    this.timeHigh[sample] = high;
  }

  #resize(samples: number): void {
    const kept = Math.min(samples, this.samples);
    const { valueAt, timeLow, timeHigh } = this;
    this.valueAt = new Int32Array(samples);
    this.timeLow = new Uint32Array(samples);
    this.timeHigh = new Uint32Array(samples);
    this.valueAt.set(valueAt.subarray(0, kept));
    this.timeLow.set(timeLow.subarray(0, kept));
    this.timeHigh.set(timeHigh.subarray(0, kept));
  }
}

function addRange(ranges: number[], wire: ProtobufWire, end: number): void {
  ranges.push(wire.at, end);
  wire.at = end;
}
