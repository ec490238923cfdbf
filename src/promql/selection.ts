/** Values of selectors at the steps of a grid, and the windows of range selectors. */
import type { SampleRange } from '../model/metric-plan.ts';
import type { Subquery, VectorSelector } from './parser/ast.ts';
import type { Evaluation } from './evaluation.ts';
import { executionError } from './errors.ts';
import { type Labels, labelsText } from './labels.ts';
import { type Histogram, sampleWeight, withHint } from './histogram/histogram.ts';
import { isStale, noTimes, staleHistogram, type SampleSeries } from './source.ts';
import {
  type CellSink,
  type Grid,
  type GridSeries,
  kind,
  SeriesList,
  setCell,
  timeOf,
} from './values.ts';
import { type Looks, SharedWindows, type Windows } from './windows.ts';

export function looksOf(ev: Evaluation, grid: Grid, expr: VectorSelector | Subquery): Looks {
  const offsetMs = ev.offsetMs(expr);
  const fixed = ev.atMs(expr);
  const first = (fixed ?? grid.startMs) - offsetMs;
  const stepMs = fixed === undefined ? grid.stepMs : 0;
  return { first, last: first + (grid.steps - 1) * stepMs, stepMs };
}

type Taken = 'value' | 'time' | 'float-time';

/**
 * The last sample of each series at most the lookback old, or its time in seconds; `float-time`
 * fails for histograms.
 */
export async function selectInstant(
  ev: Evaluation,
  grid: Grid,
  selector: VectorSelector,
  take: Taken = 'value',
): Promise<readonly GridSeries[]> {
  const series = await seriesOfSelector(ev, grid, selector);
  const found = new SeriesList(grid, (count) => ev.checkCells(grid, count));
  await selectInto(ev, grid, { selector, series, take }, found);
  return found.series;
}

export function seriesOfSelector(
  ev: Evaluation,
  grid: Grid,
  selector: VectorSelector,
): Promise<readonly SampleSeries[]> {
  const looks = looksOf(ev, grid, selector);
  return ev.select(selector, looks.first - ev.lookbackMs(looks.first) + 1, looks.last);
}

export async function selectInto(
  ev: Evaluation,
  grid: Grid,
  {
    selector,
    series,
    take,
  }: { selector: VectorSelector; series: readonly SampleSeries[]; take: Taken },
  sink: CellSink,
): Promise<void> {
  const looks = looksOf(ev, grid, selector);
  const lookbackMs = ev.lookbackMs(looks.first);
  const ranges = { looks, steps: grid.steps, beforeMs: lookbackMs, afterMs: 0 };
  const shared = new SharedWindows(ranges);
  for (const one of series) {
    if (ev.isDue(grid.steps)) await ev.breathe();
    const cells = sink.next(one.labels, false);
    if (take === 'value' && one.histograms.length === 0) {
      takeLast(one, shared.of(one), cells);
      ev.lookAtCells(grid, cells);
      sink.take(cells);
      continue;
    }
    const cursor = new Cursor(one);
    for (let step = 0; step < grid.steps; step++) {
      const at = looks.first + step * looks.stepMs;
      const time = cursor.seek(at);
      if (time <= at - lookbackMs || cursor.isStale()) continue;
      const value = cursor.value();
      if (take === 'float-time' && typeof value === 'object') {
        const shown = labelsText(one.labels);
        throw executionError(`this should be an info metric, with float samples: ${shown}`);
      }
      ev.look(grid, step, typeof value === 'object' ? sampleWeight(value) : 1);
      setCell(cells, step, take === 'value' ? value : time / 1000);
    }
    sink.take(cells);
  }
}

/** The last float of each window, unless that is a stale marker. */
function takeLast(
  { values }: SampleSeries,
  { from, to }: Windows,
  { kinds, floats }: GridSeries,
): void {
  for (let step = 0; step < from.length; step++) {
    const last = to[step]! - 1;
    if (last < from[step]! || isStale(values, last)) continue;
    kinds[step] = kind.float;
    floats[step] = values[last]!;
  }
}

/** Walks through floats and histograms of a series in the order of time. */
class Cursor {
  readonly #series: SampleSeries;
  #float: number;
  #histogram = -1;

  constructor(series: SampleSeries) {
    this.#series = series;
    this.#float = series.from - 1;
  }

  /** Moves to the last sample at or before a time. @returns its time */
  seek(timeMs: number): number {
    const { times, to, histogramTimes } = this.#series;
    if (this.#float + 1 < to && times[to - 1]! <= timeMs) this.#float = to - 1;
    while (this.#float + 1 < to && times[this.#float + 1]! <= timeMs) this.#float += 1;
    while (
      this.#histogram + 1 < histogramTimes.length &&
      histogramTimes[this.#histogram + 1]! <= timeMs
    ) {
      this.#histogram += 1;
    }
    return Math.max(this.#floatTime(), this.#histogramTime());
  }

  isStale(): boolean {
    const { values, histograms } = this.#series;
    if (this.#isHistogram()) return histograms[this.#histogram] === staleHistogram;
    return this.#float >= this.#series.from && isStale(values, this.#float);
  }

  value(): number | Histogram | undefined {
    const { values, histograms } = this.#series;
    return this.#isHistogram() ? histograms[this.#histogram] : values[this.#float];
  }

  #isHistogram(): boolean {
    return this.#histogramTime() > this.#floatTime();
  }

  #floatTime(): number {
    const { times, from } = this.#series;
    return this.#float < from ? -Infinity : times[this.#float]!;
  }

  #histogramTime(): number {
    return this.#histogram < 0 ? -Infinity : this.#series.histogramTimes[this.#histogram]!;
  }
}

/** Samples without stale markers, which end nothing in a range. */
export interface RangeSeries extends SampleSeries {
  /** Absent = false. */
  readonly dropName?: boolean;
}

export function withoutStale(series: SampleSeries): RangeSeries {
  const floats = keepFloats(series);
  let { histogramTimes, histograms } = series;
  if (histograms.includes(staleHistogram)) {
    histogramTimes = histogramTimes.filter((_, i) => histograms[i] !== staleHistogram);
    histograms = histograms.filter((histogram) => histogram !== staleHistogram);
  }
  const isUnchanged = floats === series && histograms === series.histograms;
  return isUnchanged ? series : { ...series, ...floats, histogramTimes, histograms };
}

function keepFloats(range: SampleRange): SampleRange {
  const { times, values, from, to, hasStale = true } = range;
  if (!hasStale) return range;
  let stale = 0;
  for (let i = from; i < to; i++) if (isStale(values, i)) stale += 1;
  if (stale === 0) return range;
  const kept = (numbers: Float64Array) =>
    numbers.subarray(from, to).filter((_, i) => !isStale(values, from + i));
  return {
    times: kept(times),
    values: kept(values),
    from: 0,
    to: to - from - stale,
    hasStale: false,
    // Their indexes have changed, and a counter may fall where a marker was.
    falls: undefined,
  };
}

/** Cells of a subquery as samples at their steps. */
export function toRangeSeries(series: GridSeries, grid: Grid): RangeSeries {
  const { labels, dropName, kinds } = series;
  let floats = 0;
  for (let step = 0; step < grid.steps; step++) if (kinds[step] === kind.float) floats += 1;
  const times = new Float64Array(floats);
  const values = new Float64Array(floats);
  const histogramTimes: number[] = [];
  const histograms: Histogram[] = [];
  let to = 0;
  for (let step = 0; step < grid.steps; step++) {
    if (kinds[step] === kind.float) {
      times[to] = timeOf(grid, step);
      values[to] = series.floats[step]!;
      to += 1;
    } else if (kinds[step] === kind.histogram) {
      const histogram = series.histograms![step]!;
      histogramTimes.push(timeOf(grid, step));
      // Steps skip samples, so that a hint about the one before is void.
      histograms.push(histogram.hint === 'gauge' ? histogram : withHint(histogram, 'unknown'));
    }
  }
  return {
    labels,
    dropName,
    times,
    values,
    from: 0,
    to,
    histogramTimes: histograms.length === 0 ? noTimes : Float64Array.from(histogramTimes),
    histograms,
  };
}

/** The samples of one series in the range of one step; moves forward from step to step. */
export class RangeWindow {
  readonly labels: Labels;
  readonly times: Float64Array;
  readonly values: Float64Array;
  readonly histogramTimes: Float64Array;
  readonly histograms: readonly Histogram[];
  /** Floats from `from` to before `to`; histograms alike. */
  from: number;
  to: number;
  histogramFrom = 0;
  histogramTo = 0;
  /** The range, without what `anchored` and `smoothed` add to it; its start is excluded. */
  startMs = 0;
  endMs = 0;
  /** Time of the step. */
  stepMs = 0;
  /** Of the floats of the series. */
  readonly #end: number;

  constructor(series: SampleSeries) {
    const { labels, times, values, from, to, histogramTimes, histograms } = series;
    this.labels = labels;
    this.times = times;
    this.values = values;
    this.from = from;
    this.to = from;
    this.#end = to;
    this.histogramTimes = histogramTimes;
    this.histograms = histograms;
  }

  /** Times after `startMs` until `endMs`; neither moves back. */
  move(startMs: number, endMs: number): void {
    const { times } = this;
    if (this.to < this.#end && times[this.#end - 1]! <= endMs) this.to = this.#end;
    while (this.to < this.#end && times[this.to]! <= endMs) this.to += 1;
    while (this.from < this.to && times[this.from]! <= startMs) this.from += 1;
    this.moveHistograms(startMs, endMs);
  }

  /** As `move`, where the floats are known. */
  moveHistograms(startMs: number, endMs: number): void {
    const { histogramTimes } = this;
    const { length } = histogramTimes;
    while (this.histogramTo < length && histogramTimes[this.histogramTo]! <= endMs) {
      this.histogramTo += 1;
    }
    while (
      this.histogramFrom < this.histogramTo &&
      histogramTimes[this.histogramFrom]! <= startMs
    ) {
      this.histogramFrom += 1;
    }
  }

  floats(): number {
    return this.to - this.from;
  }

  histogramCount(): number {
    return this.histogramTo - this.histogramFrom;
  }

  isEmpty(): boolean {
    return this.to === this.from && this.histogramTo === this.histogramFrom;
  }
}
