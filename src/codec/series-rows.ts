/**
 * Writes the records of a series, preceded by its labels if these are not stored for the day yet.
 * A series may exceed the account's limit on one day and not on another.
 */
import { AppError } from '../model/errors.ts';
import { seriesState, type SeriesView } from '../model/series-view.ts';
import { dayMs, toDay } from './metric-rows.ts';
import type { MetricWriter, Time } from './metric-writer.ts';
import type { SeriesMemo } from './series-memo.ts';

const twoTo32 = 4_294_967_296;
const noDay = -1;
/** Bytes of id and day. */
const seriesRowBytes = 18;

interface SeriesRowsParts {
  readonly writer: MetricWriter;
  readonly view: SeriesView;
  readonly memo: SeriesMemo;
  /** Limit on the labels of one request. */
  readonly maxLabelBytes: number;
}

/** Samples as their places in the body. */
interface SampleRanges {
  readonly samples: number;
  /** Offset of each little-endian double; -1 = 0. */
  readonly valueAt: Int32Array;
  readonly timeLow: Uint32Array;
  readonly timeHigh: Uint32Array;
}

export interface Exemplar {
  readonly time: Time;
  /** A little-endian double. */
  readonly value: Buffer;
  /** RowBinary `Map(String, String)`; may be empty. */
  readonly labels: Uint8Array;
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
  /** False once the number of the series may be reused. */
  #isInMemo = false;
  /** Day of the last record, and whether the series is within the limit on it. */
  #day = noDay;
  #isAdmitted = false;
  /** Its times in Unix ms, so that most records need no division. */
  #dayStart = 0;
  #dayEnd = 0;

  constructor({ writer, view, memo, maxLabelBytes }: SeriesRowsParts) {
    this.#writer = writer;
    this.#view = view;
    this.#memo = memo;
    this.#maxLabelBytes = maxLabelBytes;
  }

  /** Selects the series that the methods below write, until the memo is trimmed. */
  open(series: number): void {
    this.#series = series;
    this.#labels = undefined;
    this.#isInMemo = true;
    this.#ids = this.#memo.ids;
    this.#at = 4 * series;
    this.#day = noDay;
    this.#dayEnd = 0;
    this.#dayStart = 0;
  }

  /** Copies id and labels out of the memo, which concurrent requests may trim. */
  keep(): void {
    this.#labels ??= this.#memo.labelsOf(this.#series);
    this.#isInMemo = false;
    this.#ids = this.#ids.slice(this.#at, this.#at + 4);
    this.#at = 0;
  }

  /** @returns the number of samples rejected because the account has too many series */
  samples({ samples, valueAt, timeLow, timeHigh }: SampleRanges, body: DataView): number {
    const time = { low: 0, high: 0 };
    let refused = 0;
    for (let sample = 0; sample < samples; sample += 1) {
      time.low = timeLow[sample]!;
      time.high = timeHigh[sample]!;
      const at = valueAt[sample]!;
      if (!this.#admit(time)) {
        refused += 1;
        continue;
      }
      const low = at < 0 ? 0 : body.getInt32(at, true);
      const high = at < 0 ? 0 : body.getInt32(at + 4, true);
      this.#writer.sampleBits(this.#ids, this.#at, time, low, high);
    }
    return refused;
  }

  /** A NaN becomes the canonical NaN of Prometheus. @returns false if rejected */
  number(time: Time, value: number): boolean {
    if (!this.#admit(time)) return false;
    this.#writer.sample(this.#ids, this.#at, time, value);
    return true;
  }

  /** @param bits a little-endian double, kept as it is. @returns false if rejected */
  sample(time: Time, bits: Buffer): boolean {
    if (!this.#admit(time)) return false;
    const low = bits.readInt32LE(0);
    this.#writer.sampleBits(this.#ids, this.#at, time, low, bits.readInt32LE(4));
    return true;
  }

  /** @returns false if rejected, as for samples */
  histogram(time: Time, message: Buffer): boolean {
    if (!this.#admit(time)) return false;
    this.#writer.histogram(this.#ids, this.#at, time, message);
    return true;
  }

  /** @returns false if rejected, as for samples */
  exemplar(exemplar: Exemplar): boolean {
    if (!this.#admit(exemplar.time)) return false;
    this.#writer.exemplar(this.#ids, this.#at, exemplar);
    return true;
  }

  #admit({ low, high }: Time): boolean {
    const unixMs = (high | 0) * twoTo32 + low;
    if (unixMs >= this.#dayStart && unixMs < this.#dayEnd) return this.#isAdmitted;
    const day = toDay(unixMs);
    if (day === this.#day) return this.#isAdmitted;
    this.#day = day;
    this.#dayStart = day * dayMs;
    this.#dayEnd = this.#dayStart + dayMs;
    const { scope } = this.#view;
    const isKept = scope !== 0 && this.#isInMemo;
    if (isKept && this.#memo.isKnown(this.#series, scope, day)) {
      this.#isAdmitted = true;
      return true;
    }
    const state = this.#view.look(this.#ids, this.#at, day);
    if (state === seriesState.new) this.#writeLabels(day);
    else if (state === seriesState.known && isKept) this.#memo.setKnown(this.#series, scope, day);
    this.#isAdmitted = state !== seriesState.refused;
    return this.#isAdmitted;
  }

  #writeLabels(day: number): void {
    this.#labels ??= this.#memo.labelsOf(this.#series);
    this.#labelBytes += this.#labels.length + seriesRowBytes;
    if (this.#labelBytes > this.#maxLabelBytes) {
      throw new AppError(
        'too_large',
        `cannot accept more than ${this.#maxLabelBytes} bytes of labels in one request; each day ` +
          'of a series counts separately: send fewer days at once',
      );
    }
    this.#writer.series(this.#ids, this.#at, day, this.#labels);
  }
}
