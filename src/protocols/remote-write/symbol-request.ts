/**
 * Reads `io.prometheus.write.v2.Request`, by prometheus.io/docs/specs/prw/remote_write_spec_2_0,
 * as pieces of a `prometheus.WriteRequest`: the messages of samples and histograms are the same in
 * both, and labels, help and unit are numbers of symbols.
 */
import type { LabelLimits } from '../../codec/series-labels.ts';
import { ProtobufWire } from '../../codec/protobuf-wire.ts';
import { bytesFieldLength } from '../../codec/protobuf-writer.ts';
import { RowWriter } from '../../codec/row-writer.ts';
import { AppError } from '../../model/errors.ts';
import { tooMany } from './decode.ts';
import { familyName, Symbols } from './symbols.ts';

/** Fields of the request. */
const requestTag = { symbol: 0x22, series: 0x2a } as const;
const seriesTag = {
  labels: 0x0a,
  label: 0x08,
  sample: 0x12,
  histogram: 0x1a,
  exemplar: 0x22,
  metadata: 0x2a,
} as const;
const exemplarTag = { labels: 0x0a, label: 0x08, value: 0x11, timestamp: 0x18 } as const;
const metadataTag = { type: 0x08, help: 0x18, unit: 0x20 } as const;

/** Tags of the first version. */
const v1Tag = { series: 0x0a, metadata: 0x1a } as const;
const v1SeriesTag = { label: 0x0a, sample: 0x12, exemplar: 0x1a, histogram: 0x22 } as const;
const nameTag = 0x0a;
const valueTag = 0x12;
const v1MetadataTag = { type: 0x08, name: 0x12, help: 0x22, unit: 0x2a } as const;
const maxTagBytes = 16;
const pieceBytes = 256 * 1024;
/** An empty series has two bytes but costs as much as so many. */
const seriesCost = 64;
export interface RequestV2Options {
  readonly labels: LabelLimits;
  /** Limit on the pieces together. */
  readonly maxBytes: number;
  /** Limit on series, of which each should have a sample. */
  readonly maxSeries: number;
}

/** Throws AppError `malformed`, and `too_large` for a request that is too large as version 1. */
export class RequestV2 {
  readonly #body: Buffer;
  readonly #options: RequestV2Options;
  readonly #wire: ProtobufWire;
  readonly #symbols: Symbols;
  readonly #piece = new RowWriter();
  readonly #series = new RowWriter();
  readonly #message = new RowWriter();
  /** Families whose metadata was written. */
  readonly #described = new Set<string>();
  /** Symbols of the labels of a series or an exemplar, names and values alternating. */
  #references: number[] = [];
  /** Those beyond the limit included. */
  #referenceCount = 0;
  #bytes = 0;

  constructor(body: Buffer, options: RequestV2Options) {
    this.#body = body;
    this.#options = options;
    this.#wire = new ProtobufWire(body);
    this.#symbols = new Symbols(body);
    this.#readSymbols();
  }

  /** @returns the next series, and whether there may be more */
  next(): { readonly piece: Buffer; readonly isLast: boolean } {
    const wire = this.#wire;
    const { length } = this.#body;
    let cost = 0;
    while (wire.at < length && this.#piece.length + cost < pieceBytes) {
      const tag = wire.tag(length);
      if (tag === requestTag.series) {
        cost += seriesCost;
        this.#translateSeries(wire.lengthEnd(length));
      } else wire.skip(tag, length);
    }
    const piece = this.#piece.finish();
    this.#bytes += piece.length;
    if (this.#bytes > this.#options.maxBytes) throw this.#tooLarge();
    return { piece, isLast: wire.at >= length };
  }

  /** They may follow the series that refer to them. */
  #readSymbols(): void {
    const wire = this.#wire;
    const { length } = this.#body;
    let series = 0;
    let hasV1 = false;
    while (wire.at < length) {
      const start = wire.at;
      const tag = wire.tag(length);
      const number = tag >>> 3;
      if (tag === requestTag.symbol) {
        const end = wire.lengthEnd(length);
        this.#symbols.add(wire.at, end);
        wire.at = end;
      } else if (number === 4 || number === 5) {
        if (tag !== requestTag.series) wire.failType(start, tag, 'a request');
        wire.at = wire.lengthEnd(length);
        if (++series > this.#options.maxSeries) throw tooMany(this.#options.maxSeries);
      } else {
        hasV1 ||= number === 1;
        wire.skip(tag, length);
      }
    }
    if (hasV1 && this.#symbols.count === 0) {
      throw new AppError(
        'malformed',
        'cannot read the body: it is a message of remote_write 1.0; ' +
          'send it to …/prometheus/api/v1/write',
      );
    }
    wire.at = 0;
  }

  #translateSeries(end: number): void {
    const wire = this.#wire;
    const series = this.#series;
    const start = wire.at;
    this.#references = [];
    this.#referenceCount = 0;
    // Labels first, wherever they are: the reader of version 1 knows series by their beginning.
    while (wire.at < end) {
      const tag = wire.tag(end);
      if (!this.#readReferences(tag, seriesTag, end)) wire.skip(tag, end);
    }
    const labels = this.#references;
    this.#writeLabels(series, labels);
    let exemplarBytes = 0;
    wire.at = start;
    while (wire.at < end) {
      const at = wire.at;
      const tag = wire.tag(end);
      if (tag === seriesTag.sample) this.#copy(v1SeriesTag.sample, end);
      else if (tag === seriesTag.histogram) this.#copy(v1SeriesTag.histogram, end);
      else if (tag === seriesTag.exemplar) {
        exemplarBytes += this.#translateExemplar(wire.lengthEnd(end));
        if (exemplarBytes > this.#options.maxBytes / 16) throw this.#tooLarge();
      } else if (tag === seriesTag.metadata) {
        this.#translateMetadata(wire.lengthEnd(end), labels);
      } else {
        const number = tag >>> 3;
        const isKnown = number >= 2 && number <= 5;
        if (isKnown || (number === 1 && (tag & 7) !== 2 && (tag & 7) !== 0)) {
          wire.failType(at, tag, 'a time series');
        }
        wire.skip(tag, end);
      }
    }
    writeField(this.#piece, v1Tag.series, series.finish());
  }

  /** Packed or one by one. @returns whether the field has references */
  #readReferences(
    tag: number,
    tags: { readonly labels: number; readonly label: number },
    end: number,
  ): boolean {
    const wire = this.#wire;
    if (tag === tags.label) {
      this.#addReference(wire.uint32(end));
      return true;
    }
    if (tag !== tags.labels) return false;
    const listEnd = wire.lengthEnd(end);
    while (wire.at < listEnd) this.#addReference(wire.uint32(listEnd));
    return true;
  }

  #addReference(reference: number): void {
    this.#referenceCount += 1;
    // One label above the limit is refused like many.
    const most = 2 * (this.#options.labels.maxLabels + 1);
    if (this.#references.length < most) this.#references.push(reference);
  }

  #writeLabels(to: RowWriter, references: readonly number[]): void {
    const { maxLabelNameLength, maxLabelValueLength } = this.#options.labels;
    if (this.#referenceCount % 2 === 1) {
      const message = `cannot read labels of ${this.#referenceCount} references, an odd number`;
      throw new AppError('malformed', message);
    }
    for (let i = 0; i < references.length; i += 2) {
      const [nameAt, nameEnd] = this.#symbols.range(references[i]!, maxLabelNameLength);
      const [valueAt, valueEnd] = this.#symbols.range(references[i + 1]!, maxLabelValueLength);
      const nameLength = nameEnd - nameAt;
      const valueLength = valueEnd - valueAt;
      const length = bytesFieldLength(nameLength) + bytesFieldLength(valueLength);
      to.reserve(length + maxTagBytes);
      to.byte(v1SeriesTag.label);
      to.varint(length);
      to.byte(nameTag);
      to.bytes(this.#body, nameAt, nameEnd);
      to.byte(valueTag);
      to.bytes(this.#body, valueAt, valueEnd);
    }
  }

  /** Copies a message whose tag was read. */
  #copy(tag: number, end: number): void {
    const wire = this.#wire;
    const messageEnd = wire.lengthEnd(end);
    writeField(this.#series, tag, this.#body, [wire.at, messageEnd]);
    wire.at = messageEnd;
  }

  /** @returns its size */
  #translateExemplar(end: number): number {
    const wire = this.#wire;
    const message = this.#message;
    this.#references = [];
    this.#referenceCount = 0;
    while (wire.at < end) {
      const at = wire.at;
      const tag = wire.tag(end);
      if (this.#readReferences(tag, exemplarTag, end)) continue;
      if (tag !== exemplarTag.value && tag !== exemplarTag.timestamp && tag >>> 3 <= 3) {
        wire.failType(at, tag, 'an exemplar');
      }
      wire.skip(tag, end);
      if (tag >>> 3 > 3) continue;
      message.reserve(wire.at - at);
      message.raw(this.#body, at, wire.at);
    }
    this.#writeLabels(message, this.#references);
    const bytes = message.finish();
    writeField(this.#series, v1SeriesTag.exemplar, bytes);
    return bytes.length;
  }

  /** That of a family once. */
  #translateMetadata(end: number, labels: readonly number[]): void {
    const wire = this.#wire;
    let [type, help, unit] = [0, 0, 0];
    while (wire.at < end) {
      const at = wire.at;
      const tag = wire.tag(end);
      if (tag === metadataTag.type) type = wire.uint32(end);
      else if (tag === metadataTag.help) help = wire.uint32(end);
      else if (tag === metadataTag.unit) unit = wire.uint32(end);
      else {
        if ([1, 3, 4].includes(tag >>> 3)) wire.failType(at, tag, 'metadata');
        wire.skip(tag, end);
      }
    }
    if (type === 0 && help === 0 && unit === 0) return;
    const family = familyName(this.#symbols, labels, type, this.#options.labels);
    if (family === '' || this.#described.has(family)) return;
    this.#described.add(family);
    this.#writeMetadata(Buffer.from(family), { type, help, unit });
  }

  #writeMetadata(
    family: Buffer,
    { type, help, unit }: { readonly type: number; readonly help: number; readonly unit: number },
  ): void {
    const { maxLabelValueLength } = this.#options.labels;
    const message = this.#message;
    message.reserve(maxTagBytes);
    message.byte(v1MetadataTag.type);
    message.varint(type);
    writeField(message, v1MetadataTag.name, family);
    const range = (reference: number) => this.#symbols.range(reference, maxLabelValueLength);
    writeField(message, v1MetadataTag.help, this.#body, range(help));
    writeField(message, v1MetadataTag.unit, this.#body, range(unit));
    writeField(this.#piece, v1Tag.metadata, message.finish());
  }

  #tooLarge(): AppError {
    const { maxBytes } = this.#options;
    return new AppError(
      'too_large',
      `cannot accept series of more than ${maxBytes} bytes with their labels written out: ` +
        'send fewer at once, or raise ingest.remoteWriteMaxInflatedBytes',
    );
  }
}

/** Writes a text or message. @param range of it in the source; default: all */
function writeField(
  to: RowWriter,
  tag: number,
  source: Buffer,
  [start, end]: readonly [number, number] = [0, source.length],
): void {
  to.reserve(end - start + maxTagBytes);
  to.byte(tag);
  to.bytes(source, start, end);
}
