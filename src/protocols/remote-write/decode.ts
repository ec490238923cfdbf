/**
 * Decodes remote_write v1 (https://prometheus.io/docs/specs/prw/remote_write_spec): the bytes of
 * one decompressed `prometheus.WriteRequest` to `metrics/1`.
 */
import type { Batch } from '../../model/batch.ts';
import { AppError } from '../../model/errors.ts';
import type { MetricWriter } from '../../codec/metric-writer.ts';
import { ProtobufWire } from '../../codec/protobuf-wire.ts';
import type { DecodeContext } from '../../model/protocol.ts';
import { type LabelLimits, toSeries } from '../../codec/series-labels.ts';
import { addCount, Rejections } from '../../codec/rejections.ts';
import type { Slices } from '../../codec/sliced-decoder.ts';
import type { SeriesMemo, SeriesMemoOptions } from '../../codec/series-memo.ts';
import { SeriesRows } from '../../codec/series-rows.ts';
import { readHistogram } from './histogram.ts';
import {
  describeLabels,
  maxLabelSetBytes,
  readExemplar,
  readMetadata,
  readSeriesLabels,
} from './messages.ts';
import { type TimeSeries, uncounted } from './time-series.ts';

export interface DecodingOptions {
  readonly labels: LabelLimits;
  /** Limit on the labels of new series in one request, counted once per day of samples. */
  readonly maxLabelBytes: number;
  readonly memo: SeriesMemoOptions;
}

const fieldTag = { timeSeries: 0x0a, metadata: 0x1a } as const;
/** Fields of `io.prometheus.write.v2.Request`, which shares none with v1. */
const v2FieldTag = { symbols: 0x22, timeSeries: 0x2a } as const;

/** Costs are in bytes of a body with known series, about 1.5 ns each. */
const sliceCost = 512 * 1024;
const unknownSeriesCost = 6 * 1024;
/** Cost of a histogram or exemplar, and of each of its bytes (about 12 ns). */
const detailCost = 1024;
const detailByteCost = 8;

/** A histogram is not split into slices. */
const maxHistogramBytes = 256 * 1024;
const nothing = Buffer.alloc(0);

export interface Workspace extends Omit<DecodingOptions, 'memo'> {
  readonly writer: MetricWriter;
  readonly series: TimeSeries;
  /** Shared with concurrent requests. */
  readonly memo: SeriesMemo;
}

/** Decodes one request, in one piece or several. */
export class WriteRequestDecoding {
  #body: Buffer = nothing;
  readonly #context: DecodeContext;
  readonly #labelLimits: LabelLimits;
  readonly #writer: MetricWriter;
  readonly #memo: SeriesMemo;
  readonly #series: TimeSeries;
  readonly #rows: SeriesRows;
  readonly #rejections: Rejections;
  readonly #warnings = new Map<string, number>();
  #wire = new ProtobufWire(nothing);
  /** Cursor for exemplars and histograms, which are read after their series. */
  #detail = this.#wire;
  /** End of the slice. Work beyond reading bytes moves it back. */
  #sliceEnd = 0;
  /** Index of the series in the request, and its end; -1 = no series is being read. */
  #index = -1;
  #seriesEnd = -1;
  /** Number in the memo of the labels that the series begins with; -1 = unknown. */
  #expected = -1;
  /** Next exemplar and histogram of the series, as indices into their ranges. */
  #exemplar = 0;
  #histogram = 0;
  #records = 0;
  #isV1 = false;
  #isV2 = false;

  constructor(context: DecodeContext, workspace: Workspace) {
    const { writer, series, memo, labels, maxLabelBytes } = workspace;
    this.#context = context;
    this.#labelLimits = labels;
    this.#writer = writer;
    this.#memo = memo;
    this.#series = series;
    this.#rows = new SeriesRows({ writer, view: context.series, memo, maxLabelBytes });
    this.#rejections = new Rejections(context.limits.maxRejections);
  }

  /** Reads the next piece of the request, after the last one was read. */
  *read(piece: Buffer): Slices<void> {
    this.#body = piece;
    this.#wire = new ProtobufWire(piece);
    this.#detail = new ProtobufWire(piece);
    while (!this.#readSlice()) yield;
  }

  #readSlice(): boolean {
    this.#sliceEnd = this.#wire.at + sliceCost;
    // Another request may have trimmed the memo.
    this.#expected = -1;
    while (this.#wire.at < this.#sliceEnd) {
      if (this.#seriesEnd >= 0) this.#readSeries();
      else if (this.#histogram < this.#series.histograms.length) this.#readHistogram();
      else if (this.#exemplar < this.#series.exemplars.length) this.#readExemplar();
      else if (this.#wire.at < this.#body.length) this.#readField();
      else return true;
    }
    return false;
  }

  finish(): Batch {
    if (this.#isV2 && !this.#isV1) {
      throw new AppError(
        'malformed',
        'cannot read the body: it is a message of remote_write 2.0; send it to ' +
          '…/prometheus/api/v2/write, or set protobuf_message: prometheus.WriteRequest',
      );
    }
    return {
      ...this.#writer.takeBatch(),
      ...this.#rejections.toBatch(),
      warnings: this.#warnings,
    };
  }

  #readField(): void {
    const wire = this.#wire;
    const start = wire.at;
    const { length } = this.#body;
    const tag = wire.tag(length);
    if (tag === fieldTag.timeSeries) {
      this.#isV1 = true;
      this.#index += 1;
      this.#seriesEnd = wire.lengthEnd(length);
      this.#series.clear();
      this.#exemplar = 0;
      this.#histogram = 0;
      this.#expected = this.#memo.next(wire.view, wire.at, this.#seriesEnd);
      if (this.#expected >= 0) {
        this.#series.begin(wire, wire.at + this.#memo.rawBytesOf(this.#expected));
      }
      this.#readSeries();
    } else if (tag === fieldTag.metadata) {
      this.#isV1 = true;
      this.#readMetadata(wire.lengthEnd(length));
    } else {
      const number = tag >>> 3;
      if (number === 1 || number === 3) wire.failType(start, tag, 'a request');
      if (tag === v2FieldTag.symbols || tag === v2FieldTag.timeSeries) this.#isV2 = true;
      wire.skip(tag, length);
    }
  }

  #readSeries(): void {
    const series = this.#series;
    series.read(this.#wire, this.#seriesEnd, this.#sliceEnd);
    const { records } = series;
    this.#checkRecords(records);
    if (this.#wire.at < this.#seriesEnd) return;
    this.#seriesEnd = -1;
    this.#records += records;
    // A series without records stores nothing, so its labels need not be valid.
    if (records > 0) this.#writeSeries(records);
  }

  #writeSeries(records: number): void {
    const series = this.#series;
    const number = this.#identify(records);
    if (number < 0) {
      series.clear();
      return;
    }
    this.#rows.open(number);
    const refused = this.#rows.samples(series, this.#wire.view);
    if (refused > 0) this.#rejectOverLimit(refused);
    if (series.histograms.length + series.exemplars.length > 0) this.#rows.keep();
  }

  /** @returns the number of the series in the memo, or -1 if it was rejected */
  #identify(records: number): number {
    const series = this.#series;
    const memo = this.#memo;
    const limits = this.#labelLimits;
    if (series.labels === uncounted && this.#expected >= 0) return this.#expected;
    if (series.labels > limits.maxLabels) {
      // Counts labels with an empty value too: they cost as much to read.
      this.#rejections.add(this.#index, 'too many labels', records);
      return -1;
    }
    const source = series.labelSource(this.#body);
    const { labelsStart: start, labelsEnd: end } = series;
    if (end - start > maxLabelSetBytes(limits)) {
      this.#rejections.add(this.#index, 'label value too long', records);
      return -1;
    }
    const found = memo.find(source, start, end);
    if (found >= 0) return found;
    this.#sliceEnd -= unknownSeriesCost;
    const labels = readSeriesLabels(source, start, end, limits);
    if (typeof labels !== 'string') {
      memo.trim();
      return memo.add(source, start, end, toSeries(labels));
    }
    const isFirst = this.#rejections.count === 0;
    const example = isFirst ? describeLabels(source, start, end) : '';
    this.#rejections.add(this.#index, labels, records, example);
    return -1;
  }

  #readHistogram(): void {
    const [start, end] = this.#openDetail(this.#series.histograms, this.#histogram);
    this.#histogram += 2;
    if (end - start > maxHistogramBytes) {
      const example = `of ${end - start} bytes, more than ${maxHistogramBytes}`;
      this.#rejections.add(this.#index, 'bad histogram', 1, example);
      return;
    }
    const fault = readHistogram(this.#detail, end);
    if (fault !== '') {
      this.#rejections.add(this.#index, 'bad histogram', 1, fault);
    } else if (!this.#rows.histogram(this.#detail, this.#body.subarray(start, end))) {
      this.#rejectOverLimit(1);
    }
  }

  #readExemplar(): void {
    const [, end] = this.#openDetail(this.#series.exemplars, this.#exemplar);
    this.#exemplar += 2;
    const exemplar = readExemplar(this.#detail, end, this.#labelLimits);
    if (typeof exemplar === 'string') {
      this.#rejections.add(this.#index, 'bad exemplar', 1, exemplar);
    } else if (!this.#rows.exemplar(exemplar)) {
      this.#rejectOverLimit(1);
    }
  }

  #openDetail(ranges: readonly number[], at: number): [start: number, end: number] {
    const start = ranges[at]!;
    const end = ranges[at + 1]!;
    this.#detail.at = start;
    this.#sliceEnd -= detailCost + detailByteCost * (end - start);
    return [start, end];
  }

  #readMetadata(end: number): void {
    this.#records += 1;
    this.#checkRecords(0);
    const metadata = readMetadata(this.#wire, end, this.#labelLimits);
    if (typeof metadata !== 'string') this.#writer.metadata(metadata);
    else addCount(this.#warnings, metadata);
  }

  #rejectOverLimit(records: number): void {
    const { maxSeries } = this.#context.series;
    this.#rejections.add(
      this.#index,
      'series limit',
      records,
      `an account may have ${maxSeries} series a day, see metrics.maxSeriesPerAccount`,
    );
  }

  /** @param more records not counted yet */
  #checkRecords(more: number): void {
    const { maxEvents } = this.#context.limits;
    if (this.#records + more <= maxEvents) return;
    throw tooMany(maxEvents);
  }
}

/** Of the records of a request. */
export function tooMany(maxEvents: number): AppError {
  return new AppError(
    'too_large',
    `cannot accept more than ${maxEvents} samples in one request, histograms, exemplars and ` +
      'metadata among them: send fewer at once, or raise ingest.remoteWriteMaxSamples',
  );
}
