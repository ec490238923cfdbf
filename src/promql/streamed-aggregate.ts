/**
 * Aggregates selectors and functions of ranges series by series: the values of one series at a time
 * are in memory, where a sum over thousands would create arrays for each.
 */
import { metricNameLabel } from '../model/metric-plan.ts';
import type { Evaluate, Evaluation } from './evaluation.ts';
import { createFold, type FloatFold } from './float-folds.ts';
import { type Grouping, groupingBy, isOfOneMetric, type Labels, metadataLabels } from './labels.ts';
import { type Aggregation, type Call, withoutParens } from './parser/ast.ts';
import { computeRanges, keepsName, noteCounters, rangeArgument } from './range-call.ts';
import { rangeSeries } from './range-series.ts';
import { selectInto, seriesOfSelector } from './selection.ts';
import type { SampleSeries } from './source.ts';
import {
  type CellSink,
  type Grid,
  type GridSeries,
  isEmpty,
  newSeries,
  setCell,
} from './values.ts';

const streamed = new Set(['sum', 'avg', 'count', 'group', 'min', 'max', 'stddev', 'stdvar']);

/** @returns undefined where the series have to be computed first */
export async function aggregateStreamed(
  ev: Evaluation,
  grid: Grid,
  { expr, evaluate }: { expr: Aggregation; evaluate: Evaluate },
): Promise<readonly GridSeries[] | undefined> {
  if (!streamed.has(expr.op) || ev.options.delayedNameRemoval) return undefined;
  const inner = withoutParens(expr.expr);
  if (inner.kind === 'selector' && inner.extension === undefined) {
    const series = await seriesOfSelector(ev, grid, inner);
    if (series.some(hasHistograms)) return undefined;
    const groups = new Groups(grid, expr, false);
    await selectInto(ev, grid, { selector: inner, series, take: 'value' }, groups);
    return groups.results();
  }
  return inner.kind === 'call'
    ? aggregateCall(ev, grid, { expr, call: inner, evaluate })
    : undefined;
}

async function aggregateCall(
  ev: Evaluation,
  grid: Grid,
  { expr, call, evaluate }: { expr: Aggregation; call: Call; evaluate: Evaluate },
): Promise<readonly GridSeries[] | undefined> {
  const range = rangeArgument(call);
  if (range?.kind !== 'range' || call.name === 'absent_over_time') return undefined;
  const series = await rangeSeries(ev, grid, { range, evaluate });
  const drops = !keepsName(call);
  // Without their names, series of several metrics may be the same.
  if (series.some(hasHistograms) || (drops && !isOfOneMetric(series))) return undefined;
  const groups = new Groups(grid, expr, drops);
  await computeRanges(ev, grid, { call, range, series, evaluate }, groups);
  noteCounters(ev, call, { range, results: groups.firstTaken() });
  return groups.results();
}

function hasHistograms({ histograms }: SampleSeries): boolean {
  return histograms.length > 0;
}

/** Adds each series to the fold of its group, and reuses its cells for the next one. */
class Groups implements CellSink {
  readonly #grid: Grid;
  readonly #expr: Aggregation;
  readonly #cells: GridSeries;
  readonly #by: Grouping;
  readonly #groups = new Map<string, { labels: Labels; fold: FloatFold }>();
  #first: GridSeries | undefined;

  constructor(grid: Grid, expr: Aggregation, dropsNames: boolean) {
    this.#grid = grid;
    this.#expr = expr;
    this.#cells = newSeries([], grid.steps);
    const metadata = dropsNames ? metadataLabels : [metricNameLabel];
    const kept = expr.grouping.filter((name) => !dropsNames || !metadataLabels.includes(name));
    this.#by = groupingBy(expr.without ? [...expr.grouping, ...metadata] : kept, expr.without);
  }

  next(labels: Labels): GridSeries {
    this.#cells.labels = labels;
    this.#cells.kinds.fill(0);
    return this.#cells;
  }

  take(cells: GridSeries): void {
    if (isEmpty(cells)) return;
    this.#first ??= { ...cells, kinds: cells.kinds.slice() };
    this.#foldOf(cells.labels).add(cells);
  }

  firstTaken(): readonly GridSeries[] {
    return this.#first === undefined ? [] : [this.#first];
  }

  results(): readonly GridSeries[] {
    const results: GridSeries[] = [];
    for (const { labels, fold } of this.#groups.values()) {
      const result = newSeries(labels, this.#grid.steps);
      for (let step = 0; step < this.#grid.steps; step++) {
        if (fold.counts[step] !== 0) setCell(result, step, fold.result(step));
      }
      results.push(result);
    }
    return results;
  }

  #foldOf(labels: Labels): FloatFold {
    const key = this.#by.keyOf(labels);
    let group = this.#groups.get(key);
    if (group === undefined) {
      const fold = createFold(this.#expr, this.#grid.steps, new Float64Array());
      group = { labels: this.#by.labelsOf(labels), fold };
      this.#groups.set(key, group);
    }
    return group.fold;
  }
}
