/**
 * The recent series of one stream in memory, and the samples of those that were read. Kept complete
 * by what is inserted: first the series are loaded, then the samples of each at its first read.
 */
import { sectionOf } from '../../codec/metric-rows.ts';
import { toLabels } from '../../promql/labels.ts';
import {
  decodeHistogramIds,
  decodeSamplesSection,
  decodeSeriesSection,
  type RecentSeriesRow,
} from './recent-series.ts';
import { SampleColumns } from './sample-columns.ts';
import { type IndexedSeries, SeriesIndex } from './series-index.ts';
import { type Budget, Timelines } from './timelines.ts';

/** Samples of a series, ascending. */
export interface LoadedSeries {
  readonly series: IndexedSeries;
  readonly times: Float64Array;
  readonly values: Float64Array;
}

/** More bytes of inserts during one read are not kept, nor is what it read. */
const maxLoggedBytes = 64 * 2 ** 20;

export class StreamHead {
  index = new SeriesIndex();
  /** Day from which the series are known, since 1970. */
  readonly fromDay: number;
  readonly #timelines: Timelines;
  /** Payloads that were inserted since the first read that still runs. */
  #inserted: Uint8Array[] = [];
  #insertedBytes = 0;
  #reads = 0;
  #isClosed = false;

  constructor(fromDay: number, budget: Budget) {
    this.fromDay = fromDay;
    this.#timelines = new Timelines(budget);
  }

  /** Whether its index is empty whatever is stored. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  addSeries(rows: Iterable<RecentSeriesRow>): void {
    for (const { id, days, labels } of rows) {
      const recent = days.filter((day) => day >= this.fromDay);
      if (recent.length > 0) this.index.add(id, toLabels(labels), recent);
    }
  }

  markHistograms(ids: Iterable<Uint32Array>): void {
    for (const id of ids) {
      const series = this.index.byId(id, 0);
      if (series === undefined) continue;
      series.hasHistograms = true;
      this.#drop(series);
    }
  }

  /** To be called with each payload of the stream that the store has acknowledged. */
  inserted(payload: Uint8Array): void {
    if (this.#isClosed) return;
    if (this.#reads > 0 && this.#insertedBytes <= maxLoggedBytes) {
      // The queue reuses the memory of the payload, and `slice` of a Buffer would share it.
      this.#inserted.push(new Uint8Array(payload));
      this.#insertedBytes += payload.length;
    }
    this.#addSeriesOf(payload);
    if (this.#timelines.budget.samples > 0) this.#append(payload, () => true);
  }

  /**
   * Runs a read of the store, and keeps its result with what is inserted meanwhile.
   * @param keep returns the series that have new samples
   * @returns false if too much was inserted meanwhile: nothing is kept
   */
  async readInto<Result>(
    read: () => Promise<Result>,
    keep: (result: Result) => readonly IndexedSeries[],
  ): Promise<boolean> {
    const from = this.#inserted.length;
    this.#reads += 1;
    try {
      const result = await read();
      if (this.#insertedBytes > maxLoggedBytes) return false;
      const kept = new Set(keep(result));
      for (const payload of this.#inserted.slice(from)) {
        this.#addSeriesOf(payload);
        if (kept.size > 0) this.#append(payload, (series) => kept.has(series));
      }
      return true;
    } finally {
      this.#reads -= 1;
      if (this.#reads === 0) {
        this.#inserted = [];
        this.#insertedBytes = 0;
      }
    }
  }

  /**
   * @param fromMs all samples from then on are in `loaded`
   * @returns the series that had no samples from then on
   */
  keepSamples(fromMs: number, loaded: readonly LoadedSeries[]): IndexedSeries[] {
    // A read that outlives its head still gets its samples.
    const timelines = this.#isClosed ? new Timelines({ samples: 0 }) : this.#timelines;
    const kept: IndexedSeries[] = [];
    for (const { series, times, values } of loaded) {
      // Another read was quicker.
      if (series.columns !== undefined && series.columns.fromMs <= fromMs) continue;
      this.#drop(series);
      series.columns = new SampleColumns(fromMs, times, values, timelines);
      kept.push(series);
    }
    return kept;
  }

  /** Frees its memory; it learns of no insert any longer. */
  close(): void {
    for (const series of this.index.all()) this.#drop(series);
    this.index = new SeriesIndex();
    this.#isClosed = true;
  }

  #addSeriesOf(payload: Uint8Array): void {
    this.addSeries(decodeSeriesSection(sectionOf(payload, 'series')));
    this.markHistograms(decodeHistogramIds(sectionOf(payload, 'histograms')));
  }

  #append(payload: Uint8Array, isWanted: (series: IndexedSeries) => boolean): void {
    const { count, ids, times, values } = decodeSamplesSection(sectionOf(payload, 'samples'));
    for (let i = 0; i < count; i++) {
      const series = this.index.byId(ids, 4 * i);
      if (series?.columns === undefined || !isWanted(series)) continue;
      const timeMs = times[2 * i + 1]! * 2 ** 32 + (times[2 * i]! >>> 0);
      const isAdded = series.columns.append(timeMs, values[2 * i]!, values[2 * i + 1]!);
      if (!isAdded) this.#drop(series);
    }
  }

  #drop(series: IndexedSeries): void {
    series.columns?.drop();
    series.columns = undefined;
  }
}
