/** Runs a query: an instant one, or one over a range of steps. */
import type { SampleRange } from '../model/metric-plan.ts';
import { type Expr, type MatrixSelector, type Subquery, withoutParens } from './parser/ast.ts';
import { typeOf } from './parser/check.ts';
import { evaluate } from './evaluate.ts';
import { Evaluation, type Query, type QueryOptions } from './evaluation.ts';
import { extendedSamples } from './functions/extended-samples.ts';
import { QueryError } from './errors.ts';
import type { Histogram } from './histogram/histogram.ts';
import { compareLabels, type Labels, withoutMetadata } from './labels.ts';
import { rangeSeries } from './range-series.ts';
import { looksOf, type RangeSeries } from './selection.ts';
import { floatsWithin, type SampleSource } from './source.ts';
import { type Grid, type GridSeries, kind, mergeEqual, timeOf, type Value } from './values.ts';

export interface Point {
  /** Unix ms. */
  readonly timeMs: number;
  readonly value: number | Histogram;
}

export interface ResultSeries {
  readonly labels: Labels;
  /** Made when read: all of a large answer at once would take several times its memory. */
  readonly points: readonly Point[];
  /** Cells, each of which has a point or none. */
  readonly size: number;
  /** Calls `visit` with each point of the cells from `from` to before `to`, without creating it. */
  eachPoint(visit: Visit, from: number, to: number): void;
}

type Visit = (timeMs: number, value: number | Histogram) => void;

export type QueryResult =
  | { readonly type: 'scalar'; readonly point: Point & { readonly value: number } }
  | { readonly type: 'string'; readonly timeMs: number; readonly value: string }
  | { readonly type: 'vector' | 'matrix'; readonly series: readonly ResultSeries[] };

export interface QueryAnswer {
  readonly result: QueryResult;
  readonly warnings: readonly string[];
  readonly infos: readonly string[];
  /** Samples that each step looked at, and the most in memory at once. */
  readonly samplesPerStep: Float64Array;
  readonly peakSamples: number;
}

/** @throws QueryError, and what the source throws */
export async function runQuery(
  query: Query,
  source: SampleSource,
  options: QueryOptions,
): Promise<QueryAnswer> {
  const { expr, times } = query;
  const ev = new Evaluation(query, source, options);
  const result = times.stepMs === 0 ? await instant(ev, expr) : await range(ev, expr);
  return {
    result,
    warnings: ev.notes.warnings(),
    infos: ev.notes.infos(),
    samplesPerStep: ev.stats.looked,
    peakSamples: ev.stats.peak,
  };
}

async function instant(ev: Evaluation, expr: Expr): Promise<QueryResult> {
  const { startMs } = ev.times;
  const grid = ev.grid();
  const inner = withoutParens(expr);
  if (inner.kind === 'range' || inner.kind === 'subquery') return matrix(ev, grid, inner);
  const value = await evaluate(ev, grid, expr);
  if (value.kind === 'string') return { type: 'string', timeMs: startMs, value: value.value };
  if (value.kind === 'scalar') {
    return { type: 'scalar', point: { timeMs: startMs, value: value.values[0]! } };
  }
  const series = finish(ev, value).map((one) => new GridResult(grid, one));
  return { type: 'vector', series };
}

/** The samples of a range selector themselves. */
async function matrix(
  ev: Evaluation,
  grid: Grid,
  selector: MatrixSelector | Subquery,
): Promise<QueryResult> {
  const found = await rangeSeries(ev, grid, { range: selector, evaluate });
  const target = selector.kind === 'range' ? selector.selector : selector;
  const { last: endMs } = looksOf(ev, grid, target);
  const startMs = endMs - ev.durationMs(selector.range);
  const extension = selector.kind === 'range' ? selector.selector.extension : undefined;
  const series = found.map((one) => {
    const samples =
      extension === undefined ? one : extendedSamples(one, { startMs, endMs, extension });
    const labels = finalLabels(one);
    if (extension === undefined && one.histograms.length === 0) {
      return new FloatsResult(labels, floatsWithin(one, startMs, endMs));
    }
    return toPoints(labels, pointsOf(samples, startMs, endMs, extension));
  });
  return { type: 'matrix', series: sorted(series.filter(({ size }) => size > 0)) };
}

function pointsOf(
  { times, values, from, to, histogramTimes, histograms }: Omit<RangeSeries, 'labels' | 'dropName'>,
  startMs: number,
  endMs: number,
  extension: string | undefined,
): Point[] {
  const points: Point[] = [];
  const isWithin = (timeMs: number) =>
    extension !== undefined || (timeMs > startMs && timeMs <= endMs);
  for (let i = from; i < to; i++) {
    const timeMs = times[i]!;
    if (isWithin(timeMs)) points.push({ timeMs, value: values[i]! });
  }
  for (const [i, timeMs] of histogramTimes.entries()) {
    if (isWithin(timeMs)) points.push({ timeMs, value: histograms[i]! });
  }
  return points.sort((left, right) => left.timeMs - right.timeMs);
}

function finalLabels({ labels, dropName }: Pick<RangeSeries, 'labels' | 'dropName'>): Labels {
  return dropName ? withoutMetadata(labels) : labels;
}

async function range(ev: Evaluation, expr: Expr): Promise<QueryResult> {
  const type = typeOf(expr);
  if (type !== 'scalar' && type !== 'vector') {
    const shown = type === 'matrix' ? 'range vector' : type;
    throw new QueryError(
      'bad_data',
      `invalid expression type "${shown}" for range query, must be Scalar or instant Vector`,
    );
  }
  const grid = ev.grid();
  const value = await evaluate(ev, grid, expr);
  if (value.kind === 'scalar') {
    const points = [...value.values].map((one, step) => ({
      timeMs: timeOf(grid, step),
      value: one,
    }));
    return { type: 'matrix', series: [toPoints([], points)] };
  }
  const series = value.kind === 'vector' ? finish(ev, value) : [];
  return { type: 'matrix', series: sorted(series.map((one) => new GridResult(grid, one))) };
}

/** Drops the names that were kept so far. */
function finish(
  ev: Evaluation,
  { series, isDistinct }: Extract<Value, { kind: 'vector' }>,
): readonly GridSeries[] {
  if (!ev.options.delayedNameRemoval) return isDistinct ? series : mergeEqual(series);
  return mergeEqual(series.map((one) => ({ ...one, labels: finalLabels(one) })));
}

function toPoints(labels: Labels, points: readonly Point[]): ResultSeries {
  return {
    labels,
    points,
    size: points.length,
    eachPoint(visit, from, to) {
      for (const { timeMs, value } of points.slice(from, to)) visit(timeMs, value);
    },
  };
}

/** Creates the points when they are read. */
abstract class LazyResult implements ResultSeries {
  readonly labels: Labels;
  readonly size: number;

  constructor(labels: Labels, size: number) {
    this.labels = labels;
    this.size = size;
  }

  abstract eachPoint(visit: Visit, from: number, to: number): void;

  get points(): Point[] {
    const points: Point[] = [];
    this.eachPoint((timeMs, value) => points.push({ timeMs, value }), 0, this.size);
    return points;
  }
}

class GridResult extends LazyResult {
  readonly #grid: Grid;
  readonly #cells: GridSeries;

  constructor(grid: Grid, cells: GridSeries) {
    super(cells.labels, cells.kinds.length);
    this.#grid = grid;
    this.#cells = cells;
  }

  eachPoint(visit: Visit, from: number, to: number): void {
    const { kinds, floats, histograms } = this.#cells;
    const end = Math.min(to, kinds.length);
    for (let step = from; step < end; step++) {
      if (kinds[step] === kind.none) continue;
      const value = kinds[step] === kind.float ? floats[step]! : histograms![step]!;
      visit(timeOf(this.#grid, step), value);
    }
  }
}

class FloatsResult extends LazyResult {
  readonly #floats: SampleRange;

  constructor(labels: Labels, floats: SampleRange) {
    super(labels, floats.to - floats.from);
    this.#floats = floats;
  }

  eachPoint(visit: Visit, from: number, to: number): void {
    const { times, values, from: first, to: last } = this.#floats;
    const end = Math.min(first + to, last);
    for (let i = first + from; i < end; i++) visit(times[i]!, values[i]!);
  }
}

function sorted(series: readonly ResultSeries[]): ResultSeries[] {
  return [...series].sort((left, right) => compareLabels(left.labels, right.labels));
}
