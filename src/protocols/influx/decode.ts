/** Decodes InfluxDB's line protocol to `metrics/1`: each field of a line is a sample. */
import { isUtf8 } from 'node:buffer';
import { MetricWriter } from '../../codec/metric-writer.ts';
import { addCount, Rejections } from '../../codec/rejections.ts';
import { type LabelLimits, toCanonicalLabels, toSeries } from '../../codec/series-labels.ts';
import { SeriesMemo } from '../../codec/series-memo.ts';
import { SeriesRows } from '../../codec/series-rows.ts';
import { createSlicedDecoder, type Slices } from '../../codec/sliced-decoder.ts';
import type { Batch } from '../../model/batch.ts';
import { AppError } from '../../model/errors.ts';
import type { DecodeContext } from '../../model/protocol.ts';
import {
  createTimeReader,
  findEnd,
  findLineEnd,
  findValueEnd,
  keyEnds,
  precisions,
  readValue,
  seriesEnds,
  toLabels,
  unescape,
} from './line-protocol.ts';

export type InfluxDecoder = (body: Buffer, context: DecodeContext) => Batch | Promise<Batch>;

export interface InfluxOptions {
  readonly labels: LabelLimits;
  /** Limit on the labels of new series in one request. */
  readonly maxLabelBytes: number;
}

/** About 100,000 series with labels of 150 bytes. */
const memoOptions = { maxBytes: 48 * 1024 * 1024, maxSeries: 200_000 };
/** Bytes decoded without yielding, and those that take as long as a new series. */
const sliceBytes = 256 * 1024;
const newSeriesBytes = 4 * 1024;
const maxSeriesBytes = 64 * 1024;
const maxFieldBytes = 1024;
const newline = 0x0a;
const carriageReturn = 0x0d;
const hash = 0x23;
const comma = 0x2c;
const space = 0x20;
const twoTo32 = 4_294_967_296;
/** Largest time in ms that a double holds exactly. */
const maxMillis = 2 ** 53;
const tooManySeries = 'too many series of the account today';
const tooLongSeries = `measurement and tags over ${maxSeriesBytes} bytes`;
const ignoredText = 'text field: a metric has numbers only';

/**
 * The decoder remembers the series it has seen. A line that cannot be read is rejected alone.
 * @throws AppError `malformed` for an unknown precision; `too_large` for more samples than
 *   `maxEvents`
 */
export function createInfluxDecoder(options: InfluxOptions): InfluxDecoder {
  const memo = new SeriesMemo(memoOptions);
  const decodeInSlices = createSlicedDecoder(() => new MetricWriter());
  return (body, context) => {
    if (!isUtf8(body)) {
      throw new AppError('malformed', 'cannot read the body: it is not valid UTF-8');
    }
    return decodeInSlices((writer) =>
      new InfluxDecoding(body, { writer, memo, ...options }, context).decode(),
    );
  };
}

interface InfluxParts extends InfluxOptions {
  readonly writer: MetricWriter;
  /** Shared with concurrent requests. */
  readonly memo: SeriesMemo;
}

class InfluxDecoding {
  readonly #body: Buffer;
  readonly #parts: InfluxParts;
  readonly #context: DecodeContext;
  readonly #database: string;
  readonly #readTime: (text: string) => number | undefined;
  readonly #rejections: Rejections;
  readonly #warnings = new Map<string, number>();
  readonly #rows: SeriesRows;
  /** Database, series and field: the key of a series in the memo. */
  readonly #key: Buffer;
  readonly #databaseBytes: number;
  readonly #time = { low: 0, high: 0 };
  #at = 0;
  #sliceEnd = 0;
  #line = 0;
  #samples = 0;
  #labelBytes = 0;

  constructor(body: Buffer, parts: InfluxParts, context: DecodeContext) {
    const query = context.target?.query;
    const precision = query?.get('precision') ?? 'ns';
    const readTime = createTimeReader(precision);
    if (readTime === undefined) {
      throw new AppError(
        'malformed',
        `cannot read times in precision "${precision.slice(0, 20)}": it is none of ${precisions}`,
      );
    }
    this.#body = body;
    this.#parts = parts;
    this.#context = context;
    this.#readTime = readTime;
    this.#database = (query?.get('db') ?? '').slice(0, maxFieldBytes);
    this.#rejections = new Rejections(context.limits.maxRejections);
    this.#rows = new SeriesRows({ ...parts, view: context.series });
    const database = Buffer.from(`${this.#database}\n`);
    this.#databaseBytes = database.length;
    this.#key = Buffer.allocUnsafe(database.length + maxSeriesBytes + 1 + maxFieldBytes);
    database.copy(this.#key);
  }

  *decode(): Slices<Batch> {
    while (!this.#readSlice()) yield;
    return this.#finish();
  }

  #readSlice(): boolean {
    this.#parts.memo.trim();
    this.#sliceEnd = this.#at + sliceBytes;
    while (this.#at < this.#sliceEnd && this.#at < this.#body.length) this.#readLine();
    return this.#at >= this.#body.length;
  }

  #finish(): Batch {
    const { writer } = this.#parts;
    const rejections = this.#rejections.toBatch();
    if (writer.rows === 0 && rejections.rejectedCount > 0) {
      const reason = rejections.rejected[0]?.reason ?? 'not acceptable';
      throw new AppError('malformed', `cannot accept any line; ${reason}`);
    }
    return { ...writer.takeBatch(), ...rejections, warnings: this.#warnings };
  }

  #readLine(): void {
    const bytes = this.#body;
    const start = this.#at;
    let end = findLineEnd(bytes, start);
    this.#at = end + 1;
    this.#line += 1;
    if (bytes[end - 1] === carriageReturn) end -= 1;
    let first = start;
    while (first < end && bytes[first] === space) first += 1;
    if (first >= end || bytes[first] === hash) return;
    const reason = this.#readPoint(first, end);
    if (reason !== '') this.#reject(reason);
  }

  /** @returns the reason to reject the line, or '' */
  #readPoint(start: number, end: number): string {
    const bytes = this.#body;
    const seriesEnd = findEnd(bytes, start, end, seriesEnds);
    if (seriesEnd - start > maxSeriesBytes) return tooLongSeries;
    if (seriesEnd + 1 >= end) return 'no fields';
    let fieldsEnd = seriesEnd + 1;
    for (let isLast = false; !isLast && fieldsEnd < end; ) {
      const keyEnd = findEnd(bytes, fieldsEnd, end, keyEnds);
      fieldsEnd = findValueEnd(bytes, keyEnd + 1, end);
      isLast = bytes[fieldsEnd] !== comma;
      if (!isLast) fieldsEnd += 1;
    }
    const timeText = bytes.toString('latin1', fieldsEnd, end).trim();
    const millis = timeText === '' ? this.#context.nowMs : this.#readTime(timeText);
    if (millis === undefined || Math.abs(millis) > maxMillis) return 'unreadable time';
    const high = Math.floor(millis / twoTo32);
    this.#time.high = high | 0;
    this.#time.low = (millis - high * twoTo32) >>> 0;
    bytes.copy(this.#key, this.#databaseBytes, start, seriesEnd);
    return this.#readFields(seriesEnd + 1, fieldsEnd, bytes.subarray(start, seriesEnd));
  }

  #readFields(start: number, end: number, series: Buffer): string {
    const bytes = this.#body;
    // All values are read before one is written: a line is stored as a whole.
    const fields: { start: number; end: number; value: number }[] = [];
    let texts = 0;
    for (let at = start; at < end; ) {
      const keyEnd = findEnd(bytes, at, end, keyEnds);
      if (keyEnd === at || keyEnd >= end || keyEnd - at > maxFieldBytes) return 'unreadable field';
      const valueEnd = findValueEnd(bytes, keyEnd + 1, end);
      const value = readValue(bytes.toString('latin1', keyEnd + 1, valueEnd));
      if (value === undefined) return 'unreadable value';
      if (value === 'text') texts += 1;
      else fields.push({ start: at, end: keyEnd, value });
      if (this.#samples + fields.length > this.#context.limits.maxEvents) {
        throw tooManySamples(this.#context.limits.maxEvents);
      }
      at = valueEnd + 1;
    }
    if (texts > 0) addCount(this.#warnings, ignoredText, texts);
    this.#samples += fields.length;
    for (const field of fields) {
      const reason = this.#writeSample(field, series);
      if (reason === tooManySeries) this.#reject(reason);
      else if (reason !== '') return reason;
    }
    return '';
  }

  /** The name of the field is the range. @returns the reason to reject it, or '' */
  #writeSample(
    { start, end, value }: { start: number; end: number; value: number },
    series: Buffer,
  ): string {
    const { memo, labels: limits } = this.#parts;
    const key = this.#key;
    let keyEnd = this.#databaseBytes + series.length;
    key[keyEnd++] = newline;
    keyEnd += this.#body.copy(key, keyEnd, start, end);
    let number = memo.find(key, 0, keyEnd);
    if (number < 0) {
      this.#sliceEnd -= newSeriesBytes;
      this.#addLabelBytes(series.length);
      const sent = toLabels(series, unescape(this.#body, start, end), this.#database);
      const labels = typeof sent === 'string' ? sent : toCanonicalLabels(sent, limits);
      if (typeof labels === 'string') return labels;
      number = memo.add(key, 0, keyEnd, toSeries(labels));
    }
    this.#rows.open(number);
    return this.#rows.number(this.#time, value) ? '' : tooManySeries;
  }

  #addLabelBytes(bytes: number): void {
    this.#labelBytes += bytes;
    const { maxLabelBytes } = this.#parts;
    if (this.#labelBytes <= maxLabelBytes) return;
    throw new AppError(
      'too_large',
      `cannot accept more than ${maxLabelBytes} bytes of tags in one request, counted once for ` +
        'each field: split the batch',
    );
  }

  #reject(reason: string): void {
    this.#rejections.add(this.#line - 1, reason, 1, `line ${this.#line}`);
  }
}

function tooManySamples(maxEvents: number): AppError {
  return new AppError(
    'too_large',
    `cannot accept more than ${maxEvents} samples in one request: split the batch, or raise ` +
      'ingest.remoteWriteMaxSamples',
  );
}
