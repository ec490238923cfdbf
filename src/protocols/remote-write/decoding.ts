/**
 * One remote_write request being decoded: its fields in the order in which they come, each series
 * as a whole, and in slices, so that a large request does not hold up the others.
 */
import type { Batch } from '../../model/batch.ts';
import { AppError } from '../../model/errors.ts';
import type { MetricWriter } from '../../codec/metric-writer.ts';
import { ProtobufWire } from '../../codec/protobuf-wire.ts';
import type { DecodeContext, DecodeLimits } from '../../model/protocol.ts';
import { type LabelLimits, toSeries } from '../../codec/series-labels.ts';
import { addCount, Rejections } from '../../codec/rejections.ts';
import type { Decoding } from '../../codec/sliced-decoder.ts';
import type { SeriesMemo, SeriesMemoOptions } from '../../codec/series-memo.ts';
import type { SeriesView } from '../../model/series-view.ts';
import { readExemplar } from './exemplar.ts';
import { readHistogram } from './histogram.ts';
import { describeLabels, maxLabelSetBytes, readSeriesLabels } from './label-list.ts';
import { readMetadata } from './metadata.ts';
import { SeriesRows } from './series-rows.ts';
import type { TimeSeries } from './time-series.ts';

export interface DecodingOptions {
  readonly labels: LabelLimits;
  /** Labels of new series, once a day of their samples, may take so many bytes in one request. */
  readonly maxLabelBytes: number;
  /** How many label sets are known by their bytes. */
  readonly memo: SeriesMemoOptions;
}

/** Working memory kept from body to body. */
interface Workspace {
  readonly writer: MetricWriter;
  readonly series: TimeSeries;
}

interface Parts {
  readonly body: Buffer;
  readonly context: DecodeContext;
  readonly workspace: Workspace;
  /** Shared with other requests under way. */
  readonly memo: SeriesMemo;
  readonly options: DecodingOptions;
}

const fieldTag = { timeSeries: 0x0a, metadata: 0x1a } as const;
/** Fields of `io.prometheus.write.v2.Request`, which has none of v1. */
const v2FieldTag = { symbols: 0x22, timeSeries: 0x2a } as const;

/** Work is counted as bytes of a body whose series are all known: about 1.5 ns each. */
const sliceCost = 512 * 1024;
const unknownSeriesCost = 6 * 1024;
/** Of a histogram or exemplar, and of each of its bytes: small fields take some 12 ns a byte. */
const detailCost = 1024;
const detailByteCost = 8;

/** One alone is not read in slices. */
const maxHistogramBytes = 256 * 1024;

export class WriteRequestDecoding implements Decoding {
  readonly #body: Buffer;
  readonly #limits: DecodeLimits;
  readonly #labelLimits: LabelLimits;
  readonly #writer: MetricWriter;
  readonly #memo: SeriesMemo;
  readonly #series: TimeSeries;
  readonly #rows: SeriesRows;
  readonly #rejections: Rejections;
  readonly #warnings = new Map<string, number>();
  readonly #view: SeriesView;
  readonly #wire: ProtobufWire;
  /** Reads what lies behind: exemplars and histograms of a series that is read. */
  readonly #detail: ProtobufWire;
  /** Where the slice ends; work that reads no bytes brings it nearer. */
  #sliceEnd = 0;
  /** Position of the series in the request, and where it ends; -1 = none is being read. */
  #index = -1;
  #seriesEnd = -1;
  /** How much of the series' exemplars and histograms is done, as indices into their ranges. */
  #exemplar = 0;
  #histogram = 0;
  #records = 0;
  #isV1 = false;
  #isV2 = false;

  constructor({ body, context, workspace, memo, options }: Parts) {
    this.#body = body;
    this.#limits = context.limits;
    this.#labelLimits = options.labels;
    this.#writer = workspace.writer;
    this.#memo = memo;
    this.#series = workspace.series;
    this.#rows = new SeriesRows({
      writer: workspace.writer,
      view: context.series,
      memo,
      maxLabelBytes: options.maxLabelBytes,
    });
    this.#rejections = new Rejections(context.limits.maxRejections);
    this.#view = context.series;
    this.#wire = new ProtobufWire(body);
    this.#detail = new ProtobufWire(body);
  }

  run(): boolean {
    this.#sliceEnd = this.#wire.at + sliceCost;
    while (this.#wire.at < this.#sliceEnd) {
      if (this.#seriesEnd >= 0) this.#readSeries();
      else if (this.#histogram < this.#series.histograms.length) this.#takeHistogram();
      else if (this.#exemplar < this.#series.exemplars.length) this.#takeExemplar();
      else if (this.#wire.at < this.#body.length) this.#readField();
      else return true;
    }
    return false;
  }

  finish(): Batch {
    if (this.#isV2 && !this.#isV1) {
      throw new AppError(
        'malformed',
        'cannot read the body: it is a message of remote_write 2.0; ' +
          'set protobuf_message: prometheus.WriteRequest in the sender',
      );
    }
    const written = this.#writer.counts();
    return {
      layout: 'metrics/1',
      rows: written.samples + written.histograms + written.exemplars + written.metadata,
      payload: this.#writer.finish(),
      ...this.#rejections.toBatch(),
      warnings: this.#warnings,
      written,
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
      this.#readSeries();
    } else if (tag === fieldTag.metadata) {
      this.#isV1 = true;
      this.#takeMetadata(wire.lengthEnd(length));
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
    // Without samples there is nothing to keep, and nothing is lost if its labels are no good.
    if (records > 0) this.#takeSeries(records);
  }

  #takeSeries(records: number): void {
    const series = this.#series;
    const number = this.#identify(records);
    if (number < 0) {
      series.clear();
      return;
    }
    this.#rows.open(number);
    const refused = this.#rows.samples(series, this.#body);
    if (refused > 0) this.#refuse(refused);
    if (series.histograms.length + series.exemplars.length > 0) this.#rows.keep();
  }

  /** @returns the number of the series in the memo, or -1 where it was rejected. */
  #identify(records: number): number {
    const series = this.#series;
    const memo = this.#memo;
    const limits = this.#labelLimits;
    if (series.labels > limits.maxLabels) {
      // Of labels as sent, those without a value too: they cost as much to look at.
      this.#rejections.add(this.#index, 'too many labels', records);
      return -1;
    }
    const source = series.labelSource(this.#body);
    const { labelsStart: start, labelsEnd: end } = series;
    if (end - start > maxLabelSetBytes(limits)) {
      this.#rejections.add(this.#index, 'label value too long', records);
      return -1;
    }
    const next = memo.next(source, start, end);
    if (next >= 0) return next;
    const hash = memo.hash(source, start, end);
    const found = memo.find(source, start, end, hash);
    if (found >= 0) return found;
    this.#sliceEnd -= unknownSeriesCost;
    const labels = readSeriesLabels(source, start, end, limits);
    if (typeof labels !== 'string') {
      memo.trim();
      return memo.add(source, start, end, hash, toSeries(labels));
    }
    const isFirst = this.#rejections.count === 0;
    const example = isFirst ? describeLabels(source, start, end) : '';
    this.#rejections.add(this.#index, labels, records, example);
    return -1;
  }

  #takeHistogram(): void {
    const [start, end] = this.#openDetail(this.#series.histograms, this.#histogram);
    this.#histogram += 2;
    if (end - start > maxHistogramBytes) {
      const example = `of ${end - start} bytes, more than ${maxHistogramBytes}`;
      this.#rejections.add(this.#index, 'bad histogram', 1, example);
      return;
    }
    const fault = readHistogram(this.#detail, end);
    if (fault !== '') this.#rejections.add(this.#index, 'bad histogram', 1, fault);
    else if (!this.#rows.histogram(this.#detail, this.#body.subarray(start, end))) this.#refuse(1);
  }

  #takeExemplar(): void {
    const [, end] = this.#openDetail(this.#series.exemplars, this.#exemplar);
    this.#exemplar += 2;
    const exemplar = readExemplar(this.#detail, end, this.#labelLimits);
    if (typeof exemplar === 'string') {
      this.#rejections.add(this.#index, 'bad exemplar', 1, exemplar);
    } else if (!this.#rows.exemplar(exemplar)) {
      this.#refuse(1);
    }
  }

  #openDetail(ranges: readonly number[], at: number): [start: number, end: number] {
    const start = ranges[at]!;
    const end = ranges[at + 1]!;
    this.#detail.at = start;
    this.#sliceEnd -= detailCost + detailByteCost * (end - start);
    return [start, end];
  }

  #takeMetadata(end: number): void {
    this.#records += 1;
    this.#checkRecords(0);
    const metadata = readMetadata(this.#wire, end, this.#labelLimits);
    if (typeof metadata !== 'string') this.#writer.metadata(metadata);
    else addCount(this.#warnings, metadata);
  }

  #refuse(records: number): void {
    const { maxSeries } = this.#view;
    this.#rejections.add(
      this.#index,
      'series limit',
      records,
      `an account may have ${maxSeries} series a day, see metrics.maxSeriesPerAccount`,
    );
  }

  /** @param more records than those counted already */
  #checkRecords(more: number): void {
    const { maxEvents } = this.#limits;
    if (this.#records + more <= maxEvents) return;
    throw new AppError(
      'too_large',
      `cannot take more than ${maxEvents} samples in one request, histograms, exemplars and ` +
        'metadata among them: send fewer at once, or raise ingest.remoteWriteMaxSamples',
    );
  }
}
