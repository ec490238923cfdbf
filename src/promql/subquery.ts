/**
 * Subqueries. One of many steps is evaluated in slices, so that no operator computes millions of
 * cells at once, which would hold up other requests and keep them all in memory.
 */
import type { Evaluate, Evaluation } from './evaluation.ts';
import { labelsKey } from './labels.ts';
import { childrenOf, type Expr, type Subquery } from './parser/ast.ts';
import { looksOf, type RangeSeries, toRangeSeries } from './selection.ts';
import { noTimes } from './source.ts';
import { duplicateLabels, type Grid, timeOf } from './values.ts';

/** Steps of a slice; an operator computes its cells of one series within milliseconds. */
const sliceSteps = 100_000;
/** Each slice looks up all series again. */
const mostStepsAtOnce = 250_000;

/** Steps of a subquery are multiples of its step, so that they do not depend on the time asked. */
export async function subquerySeries(
  ev: Evaluation,
  grid: Grid,
  { subquery, evaluate }: { subquery: Subquery; evaluate: Evaluate },
): Promise<readonly RangeSeries[]> {
  const { step, expr } = subquery;
  const stepMs = step === undefined ? ev.options.subqueryStepMs : ev.durationMs(step);
  const { first, last } = looksOf(ev, grid, subquery);
  const beginMs = first - ev.durationMs(subquery.range);
  const startMs = Math.floor(beginMs / stepMs) * stepMs + stepMs;
  const steps = Math.floor((last - startMs) / stepMs) + 1;
  if (steps <= 0) return [];
  const inner = { startMs, stepMs, steps };
  ev.checkCells(inner, 1);
  // The windows of a subquery in it overlap between slices.
  if (steps > mostStepsAtOnce && !hasSubquery(expr)) {
    return seriesInSlices(ev, inner, { expr, evaluate });
  }
  return seriesAtOnce(ev, inner, { expr, evaluate });
}

function hasSubquery(expr: Expr): boolean {
  return expr.kind === 'subquery' || childrenOf(expr).some(hasSubquery);
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
  { expr, evaluate }: { expr: Expr; evaluate: Evaluate },
): Promise<readonly RangeSeries[]> {
  const { stepMs, steps } = grid;
  // Its selectors read the samples of all slices.
  await evaluate(ev, { ...grid, stepMs: (steps - 1) * stepMs, steps: 2 }, expr);
  const parts = new Map<string, RangeSeries[]>();
  for (let from = 0; from < steps; from += sliceSteps) {
    const count = Math.min(sliceSteps, steps - from);
    const slice = { startMs: timeOf(grid, from), stepMs, steps: count };
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
