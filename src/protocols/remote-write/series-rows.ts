/**
 * Writes what a request brought of one series, after its labels where they are not stored yet for
 * the day. A series may be refused on one day and be known on another.
 */
import { AppError } from '../../model/errors.ts';
import { toDay } from '../../codec/metric-rows.ts';
import type { MetricWriter, Time } from '../../codec/metric-writer.ts';
import type { SeriesMemo } from '../../codec/series-memo.ts';
import { seriesState, type SeriesView } from '../../model/series-view.ts';
import type { Exemplar } from './exemplar.ts';
import type { TimeSeries } from './time-series.ts';

const twoTo32 = 4_294_967_296;
const noDay = -1;
const zeroBytes = Buffer.alloc(8);
/** The id and the day, beside the labels. */
const seriesRowBytes = 18;

interface SeriesRowsParts {
  readonly writer: MetricWriter;
  readonly view: SeriesView;
  readonly memo: SeriesMemo;
  /** Labels of one request may take so many bytes. */
  readonly maxLabelBytes: number;
}

export class SeriesRows {
  readonly #writer: MetricWriter;
  readonly #view: SeriesView;
  readonly #memo: SeriesMemo;
  readonly #maxLabelBytes: number;
  #labelBytes = 0;
  #series = 0;
  #labels: Uint8Array | undefined;
  #ids = new Uint32Array(4);
  #at = 0;
  /** The last day asked for, and whether the series may have samples on it. */
  #day = noDay;
  #isAdmitted = false;

  constructor({ writer, view, memo, maxLabelBytes }: SeriesRowsParts) {
    this.#writer = writer;
    this.#view = view;
    this.#memo = memo;
    this.#maxLabelBytes = maxLabelBytes;
  }

  /** Everything below is about this series, until the memo is trimmed. */
  open(series: number): void {
    this.#series = series;
    this.#labels = undefined;
    this.#ids = this.#memo.ids;
    this.#at = 4 * series;
    this.#day = noDay;
  }

  /** Makes what was opened independent of the memo, which other requests trim meanwhile. */
  keep(): void {
    this.#labels ??= this.#memo.labelsOf(this.#series);
    this.#ids = this.#ids.slice(this.#at, this.#at + 4);
    this.#at = 0;
  }

  /** @returns how many of the samples are refused, since the account has too many series. */
  samples({ samples, valueAt, timeLow, timeHigh }: TimeSeries, body: Buffer): number {
    const time = { low: 0, high: 0 };
    let refused = 0;
    for (let sample = 0; sample < samples; sample += 1) {
      time.low = timeLow[sample]!;
      time.high = timeHigh[sample]!;
      const at = valueAt[sample]!;
      if (!this.#admit(time)) refused += 1;
      else if (at < 0) this.#writer.sampleFrom(this.#ids, this.#at, time, zeroBytes, 0);
      else this.#writer.sampleFrom(this.#ids, this.#at, time, body, at);
    }
    return refused;
  }

  /** @returns false where it is refused, as a sample would be. */
  histogram(time: Time, message: Buffer): boolean {
    if (!this.#admit(time)) return false;
    this.#writer.histogram(this.#ids, this.#at, time, message);
    return true;
  }

  /** @returns false where it is refused, as a sample would be. */
  exemplar(exemplar: Exemplar): boolean {
    if (!this.#admit(exemplar.time)) return false;
    this.#writer.exemplar(this.#ids, this.#at, exemplar);
    return true;
  }

  #admit({ low, high }: Time): boolean {
    const day = toDay((high | 0) * twoTo32 + low);
    if (day === this.#day) return this.#isAdmitted;
    this.#day = day;
    const state = this.#view.look(this.#ids, this.#at, day);
    if (state === seriesState.new) this.#writeLabels(day);
    this.#isAdmitted = state !== seriesState.refused;
    return this.#isAdmitted;
  }

  #writeLabels(day: number): void {
    this.#labels ??= this.#memo.labelsOf(this.#series);
    this.#labelBytes += this.#labels.length + seriesRowBytes;
    if (this.#labelBytes > this.#maxLabelBytes) {
      throw new AppError(
        'too_large',
        `cannot take more than ${this.#maxLabelBytes} bytes of labels in one request, where each ` +
          'day of a series counts anew: send fewer days at once',
      );
    }
    this.#writer.series(this.#ids, this.#at, day, this.#labels);
  }
}
