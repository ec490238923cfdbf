/** Decodes one push line by line. */
import type { Batch } from '../../model/batch.ts';
import { AppError } from '../../model/errors.ts';
import { maxRowsPerBatch } from '../../model/log-id.ts';
import type { MetricWriter } from '../../codec/metric-writer.ts';
import { Rejections } from '../../codec/rejections.ts';
import { SeriesRows } from '../../codec/series-rows.ts';
import { sliceBytes, type Slices } from '../../codec/sliced-decoder.ts';
import type { DecodeContext } from '../../model/protocol.ts';
import type { LabelLimits } from '../../codec/series-labels.ts';
import { readExemplar } from './read-exemplar.ts';
import {
  closeBrace,
  describePlace,
  endsLine,
  endsToken,
  expectBlank,
  expectLineEnd,
  failAt,
  type Grammar,
  hash,
  newline,
  refuseAt,
  skipBlanks,
  space,
} from './tokens.ts';
import type { FamilyRules, Fault, Sample } from './families.ts';
import { MetadataReader } from './metadata-line.ts';
import { NumberScanner, outOfRange, readTime, TimeScanner } from './numbers.ts';
import type { SampleSet } from './sample-set.ts';
import { type SeriesCache, toSeriesFacts } from './series-cache.ts';
import { findSeriesEnd, SeriesReader } from './series-text.ts';

export interface ExpositionParts {
  readonly grammar: Grammar;
  readonly labels: LabelLimits;
  readonly rules: FamilyRules;
  readonly series: SeriesCache;
  readonly writer: MetricWriter;
  readonly samples: SampleSet;
}

/** Bytes of known series that take as long to decode as one new series. */
const bytesPerNewSeries = 1024;

type Writable<T> = { -readonly [K in keyof T]: T[K] };

export class Exposition {
  readonly #bytes: Buffer;
  readonly #parts: ExpositionParts;
  readonly #context: DecodeContext;
  readonly #grammar: Grammar;
  readonly #seriesReader: SeriesReader;
  readonly #metadataReader: MetadataReader;
  readonly #numbers = new NumberScanner();
  readonly #now = new TimeScanner();
  readonly #ownTime = new TimeScanner();
  readonly #rows: SeriesRows;
  /** The current sample; reused for each line. */
  readonly #sample: Writable<Sample>;
  #at = 0;
  #sliceEnd = 0;
  /** Whether `# EOF` was read. */
  #isOver = false;

  constructor(bytes: Buffer, parts: ExpositionParts, context: DecodeContext) {
    const { grammar, labels, writer, series: memo } = parts;
    this.#bytes = bytes;
    this.#parts = parts;
    this.#context = context;
    this.#grammar = grammar;
    this.#seriesReader = new SeriesReader(bytes, grammar, labels);
    this.#metadataReader = new MetadataReader(bytes, grammar, labels);
    this.#now.set(context.nowMs);
    // Each series of a push is in its body with its labels, which bounds them.
    this.#rows = new SeriesRows({ writer, memo, view: context.series, maxLabelBytes: Infinity });
    this.#sample = { series: toSeriesFacts([]), value: 0, time: this.#now };
  }

  *decode(): Slices<Batch> {
    while (!this.#readSlice()) yield;
    return this.#finish();
  }

  #readSlice(): boolean {
    this.#parts.series.trim();
    this.#sliceEnd = Math.min(this.#at + sliceBytes, this.#bytes.length);
    while (this.#at < this.#sliceEnd) this.#at = this.#readLine(this.#at);
    return this.#at >= this.#bytes.length;
  }

  #finish(): Batch {
    const { rules, writer, grammar } = this.#parts;
    const end = this.#bytes.length;
    if (grammar.lastLine !== undefined && !this.#isOver) {
      failAt(this.#bytes, end, `"${grammar.lastLine}"`);
    }
    this.#check(rules.finish(), end);
    for (const { name, type = '', unit = '', help = '' } of rules.described()) {
      writer.metadata({ name, type, unit, help });
    }
    const { rows } = writer;
    if (rows > maxRowsPerBatch) throw tooLarge(`${maxRowsPerBatch} records of all kinds`);
    return { ...writer.takeBatch(), ...new Rejections(0).toBatch() };
  }

  /** @returns the position of the next line */
  #readLine(start: number): number {
    const bytes = this.#bytes;
    if (this.#isOver) failAt(bytes, start, 'nothing after "# EOF"');
    if (this.#grammar.spacing === 'single') {
      return bytes[start] === hash ? this.#readComment(start) : this.#readSample(start);
    }
    const at = skipBlanks(bytes, start, this.#grammar);
    if (bytes[at] === hash) return this.#readComment(at);
    return endsToken(bytes[at]) ? expectLineEnd(bytes, at, this.#grammar) : this.#readSample(at);
  }

  #readComment(start: number): number {
    const line = this.#metadataReader.read(start);
    if (line === 'eof') {
      this.#check(this.#parts.rules.finish(), start);
      this.#isOver = true;
    } else if (line !== 'comment') {
      const { rules } = this.#parts;
      this.#check(rules.describe(line), start);
      const { maxEvents } = this.#context.limits;
      if (rules.size > maxEvents) throw tooLarge(`${maxEvents} metric families`);
    }
    return this.#metadataReader.next;
  }

  #readSample(start: number): number {
    const bytes = this.#bytes;
    const { series } = this.#parts;
    let end = findSeriesEnd(bytes, start, this.#grammar);
    let number = end < 0 ? -1 : series.find(bytes, start, end);
    if (number < 0) {
      const labels = this.#seriesReader.readSeries(start);
      end = this.#seriesReader.end;
      number = series.addLabels(bytes, start, end, labels);
      this.#sliceEnd -= bytesPerNewSeries;
    }
    let at = this.#skipToValue(end);
    at = this.#readValue(at);
    if (bytes[at] === newline) {
      this.#sample.time = this.#now;
      this.#writeSample(number, start);
      return at + 1;
    }
    return this.#readRest(at, number, start);
  }

  /** Only the classic format allows a value right after a brace. */
  #skipToValue(at: number): number {
    const bytes = this.#bytes;
    if (this.#grammar.spacing === 'any' && bytes[at - 1] === closeBrace) {
      return skipBlanks(bytes, at, this.#grammar);
    }
    return expectBlank(bytes, at, {
      grammar: this.#grammar,
      expected: bytes[at - 1] === closeBrace ? 'a space' : "'{' or a blank after the metric's name",
    });
  }

  #readValue(start: number): number {
    const bytes = this.#bytes;
    const end = this.#numbers.scan(bytes, start);
    if (end === outOfRange) failAt(bytes, start, 'a value that a double can hold');
    if (end < 0 || !endsToken(bytes[end])) {
      failAt(bytes, start, 'a value (a decimal number, NaN, +Inf or -Inf)');
    }
    this.#sample.value = this.#numbers.value;
    return end;
  }

  /** Reads what follows a value: a time, and in OpenMetrics an exemplar. */
  #readRest(start: number, series: number, lineStart: number): number {
    const bytes = this.#bytes;
    const grammar = this.#grammar;
    let at = start;
    let next = this.#skipSeparator(at);
    if (next > at && bytes[next] !== hash && !endsLine(bytes[next])) {
      at = readTime(bytes, next, this.#ownTime, grammar);
      next = this.#skipSeparator(at);
      this.#sample.time = this.#ownTime;
      this.#writeSample(series, lineStart);
    } else {
      this.#sample.time = this.#now;
      this.#writeSample(series, lineStart);
    }
    if (grammar.spacing === 'any') return expectLineEnd(bytes, next, grammar);
    if (next > at && bytes[next] === hash) at = this.#readExemplar(next);
    return expectLineEnd(bytes, at, grammar);
  }

  #skipSeparator(at: number): number {
    if (this.#grammar.spacing === 'any') return skipBlanks(this.#bytes, at, this.#grammar);
    return this.#bytes[at] === space ? at + 1 : at;
  }

  /** Of the series that is open. */
  #readExemplar(start: number): number {
    this.#check(this.#parts.rules.exemplar(), start);
    const { end, exemplar } = readExemplar(this.#bytes, start, {
      series: this.#seriesReader,
      grammar: this.#grammar,
      sampleTime: this.#sample.time,
    });
    if (!this.#rows.exemplar(exemplar)) throw this.#tooManySeries(start);
    return end;
  }

  /** Writes the current sample. @param series number @param start position of its line */
  #writeSample(series: number, start: number): void {
    const { series: cache, samples, rules } = this.#parts;
    const { maxEvents } = this.#context.limits;
    const sample = this.#sample;
    if (samples.size >= maxEvents) throw tooLarge(`${maxEvents} samples`);
    if (!samples.add(cache.ids, 4 * series, sample.time)) {
      refuseAt(this.#bytes, start, 'a second sample of this series at the same time');
    }
    sample.series = cache.factsOf(series);
    this.#check(rules.take(sample), start);
    this.#rows.open(series);
    if (!this.#rows.number(sample.time, sample.value)) throw this.#tooManySeries(start);
  }

  #tooManySeries(at: number): AppError {
    const { maxSeries } = this.#context.series;
    const place = describePlace(this.#bytes, at);
    return new AppError(
      'quota_exceeded',
      `cannot accept the metrics: ${place}: one series more than the ${maxSeries} that the ` +
        'account may have a day: send fewer different labels, or raise metrics.maxSeriesPerAccount',
    );
  }

  #check(fault: Fault, at: number): void {
    if (fault !== '') refuseAt(this.#bytes, at, fault);
  }
}

function tooLarge(limit: string): AppError {
  return new AppError(
    'too_large',
    `cannot accept more than ${limit} in one push: split it, or raise ingest.promTextMaxSamples`,
  );
}
