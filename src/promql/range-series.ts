/**
 * The samples of ranges. A subquery of many steps is evaluated in slices, so that no operator
 * computes millions of cells at once, which would hold up other requests and keep them all in
 * memory.
 */
import type { Evaluate, Evaluation } from './evaluation.ts';
import { labelsKey } from './labels.ts';
import { childrenOf, type Expr, type MatrixSelector, type Subquery } from './parser/ast.ts';
import {
  looksOf,
  type RangeSeries,
  seriesOfSelector,
  toRangeSeries,
  withoutStale,
} from './selection.ts';
import { noTimes, type SampleSeries } from './source.ts';
import { duplicateLabels, type Grid, timeOf } from './values.ts';

/** All samples that the windows of a grid may contain. */
export async function rangeSeries(
  ev: Evaluation,
  grid: Grid,
  { range, evaluate }: { range: MatrixSelector | Subquery; evaluate: Evaluate },
): Promise<readonly RangeSeries[]> {
  if (range.kind === 'subquery') return subquerySeries(ev, grid, { subquery: range, evaluate });
  return (await seriesOfRange(ev, grid, range)).map(withoutStale);
}

function seriesOfRange(
  ev: Evaluation,
  grid: Grid,
  range: MatrixSelector,
): Promise<readonly SampleSeries[]> {
  const rangeMs = ev.durationMs(range.range);
  const { before, after } = extensionOf(ev, grid, range);
  const { first, last } = looksOf(ev, grid, range.selector);
  return ev.select(range.selector, first - rangeMs - before + 1, last + after);
}

/** How far samples outside of the range are looked for, in ms. */
export function extensionOf(
  ev: Evaluation,
  grid: Grid,
  range: MatrixSelector | Subquery,
): { before: number; after: number } {
  if (range.kind === 'subquery') return { before: 0, after: 0 };
  const { extension } = range.selector;
  const lookbackMs = ev.lookbackMs(looksOf(ev, grid, range.selector).first);
  return {
    before: extension === undefined ? 0 : lookbackMs,
    after: extension === 'smoothed' ? lookbackMs : 0,
  };
}

/** Steps of a slice; an operator computes its cells of one series within milliseconds. */
const sliceSteps = 100_000;
/** Each slice looks up all series again. */
const mostStepsAtOnce = 250_000;

/** @throws QueryError */
async function subquerySeries(
  ev: Evaluation,
  grid: Grid,
  { subquery, evaluate }: { subquery: Subquery; evaluate: Evaluate },
): Promise<readonly RangeSeries[]> {
  const inner = innerGrid(ev, grid, subquery);
  if (inner.steps <= 0) return [];
  ev.checkCells(inner, 1);
  const { expr } = subquery;
  if (inner.steps <= mostStepsAtOnce) return seriesAtOnce(ev, inner, { expr, evaluate });
  // What slices overlap by is computed twice: it is no longer than a slice.
  const overlap = Math.ceil(reach(ev, expr) / inner.stepMs);
  const count = Math.max(sliceSteps, overlap);
  if (count > mostStepsAtOnce) return seriesAtOnce(ev, inner, { expr, evaluate });
  return seriesInSlices(ev, inner, { expr, evaluate, count });
}

/** Steps of a subquery are multiples of its step, so that they do not depend on the time asked. */
function innerGrid(ev: Evaluation, grid: Grid, subquery: Subquery): Grid {
  const { step, range } = subquery;
  const stepMs = step === undefined ? ev.options.subqueryStepMs : ev.durationMs(step);
  const { first, last } = looksOf(ev, grid, subquery);
  const beginMs = first - ev.durationMs(range);
  const startMs = Math.floor(beginMs / stepMs) * stepMs + stepMs;
  return { startMs, stepMs, steps: Math.floor((last - startMs) / stepMs) + 1 };
}

/** How far the subqueries of an expression look back, in ms. */
function reach(ev: Evaluation, expr: Expr): number {
  const ofChildren = Math.max(0, ...childrenOf(expr).map((child) => reach(ev, child)));
  return expr.kind === 'subquery' ? ev.durationMs(expr.range) + ofChildren : ofChildren;
}

/** Reads what the selectors of an expression need for all steps at once. */
async function readAll(ev: Evaluation, grid: Grid, expr: Expr): Promise<void> {
  switch (expr.kind) {
    case 'selector':
      await seriesOfSelector(ev, grid, expr);
      return;
    case 'range':
      await seriesOfRange(ev, grid, expr);
      return;
    case 'subquery': {
      const inner = innerGrid(ev, grid, expr);
      if (inner.steps > 0) await readAll(ev, inner, expr.expr);
      return;
    }
    default:
      for (const child of childrenOf(expr)) await readAll(ev, grid, child);
  }
}

async function seriesAtOnce(
  ev: Evaluation,
  grid: Grid,
  { expr, evaluate }: { expr: Expr; evaluate: Evaluate },
): Promise<readonly RangeSeries[]> {
  const value = await evaluate(ev, grid, expr);
  if (value.kind !== 'vector') return [];
  const all: RangeSeries[] = [];
  for (const series of value.series) {
    if (ev.isDue(grid.steps)) await ev.breathe();
    all.push(toRangeSeries(series, grid));
  }
  return all;
}

async function seriesInSlices(
  ev: Evaluation,
  grid: Grid,
  { expr, evaluate, count }: { expr: Expr; evaluate: Evaluate; count: number },
): Promise<readonly RangeSeries[]> {
  const { stepMs, steps } = grid;
  await readAll(ev, grid, expr);
  const parts = new Map<string, RangeSeries[]>();
  for (let from = 0; from < steps; from += count) {
    const slice = { startMs: timeOf(grid, from), stepMs, steps: Math.min(count, steps - from) };
    const found = await seriesAtOnce(ev, slice, { expr, evaluate });
    const seen = new Set<string>();
    for (const series of found) {
      const key = labelsKey(series.labels);
      if (seen.has(key)) throw duplicateLabels();
      seen.add(key);
      const known = parts.get(key);
      if (known === undefined) parts.set(key, [series]);
      else known.push(series);
    }
  }
  const joined: RangeSeries[] = [];
  for (const ofSeries of parts.values()) {
    await ev.breathe();
    joined.push(join(ofSeries));
  }
  return joined;
}

function join(parts: readonly RangeSeries[]): RangeSeries {
  const histograms = parts.flatMap((part) => part.histograms);
  const times = concat(parts.map((part) => part.times));
  return {
    ...parts[0]!,
    times,
    values: concat(parts.map(({ values }) => values)),
    to: times.length,
    histogramTimes:
      histograms.length === 0 ? noTimes : concat(parts.map((part) => part.histogramTimes)),
    histograms,
  };
}

function concat(parts: readonly Float64Array[]): Float64Array {
  const all = new Float64Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
