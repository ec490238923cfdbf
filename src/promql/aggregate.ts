/** Aggregation operators: `sum by (job) (…)`, `topk(5, …)` and the others. */
import { metricNameLabel } from '../model/metric-plan.ts';
import { type Aggregation, withoutParens } from './parser/ast.ts';
import { executionError } from './errors.ts';
import type { Evaluation } from './evaluation.ts';
import { formatNumber, formatShort } from './parser/numbers.ts';
import { histogramText } from './histogram/histogram-text.ts';
import {
  compareText,
  groupingBy,
  type Labels,
  labelsKey,
  labelValue,
  withLabel,
} from './labels.ts';
import { createFold, type FloatFold } from './float-folds.ts';
import { totalOfHistograms } from './histogram-totals.ts';
import { pick, type SeriesGroup } from './pick.ts';
import { type Grid, type GridSeries, isEmpty, kind, newSeries, setCell } from './values.ts';

/** @param param of each step; empty where the operator has none. */
export async function aggregate(
  ev: Evaluation,
  grid: Grid,
  {
    expr,
    series,
    param,
  }: { expr: Aggregation; series: readonly GridSeries[]; param: Float64Array },
): Promise<readonly GridSeries[]> {
  noteParameter(ev, expr, param);
  const groups = groupSeries(series, expr);
  switch (expr.op) {
    case 'topk':
    case 'bottomk':
    case 'limitk':
    case 'limit_ratio':
      return pick(ev, grid, { expr, groups, param });
    default:
  }
  const results: GridSeries[] = [];
  for (const group of groups) {
    const result = await aggregateGroup(ev, grid, { expr, group, param });
    if (!isEmpty(result)) results.push(result);
  }
  return results;
}

async function aggregateGroup(
  ev: Evaluation,
  grid: Grid,
  { expr, group, param }: { expr: Aggregation; group: SeriesGroup; param: Float64Array },
): Promise<GridSeries> {
  const { labels, members } = group;
  const dropName = members.some((member) => member.dropName);
  const result = newSeries(labels, grid.steps, dropName);
  const fold = createFold(expr, grid.steps, param);
  for (const member of members) {
    if (ev.isDue(grid.steps)) await ev.breathe();
    fold.add(member);
  }
  for (let step = 0; step < grid.steps; step++) {
    if (fold.counts[step] === 0) continue;
    // A quantile looks at the members again.
    if (ev.isDue(expr.op === 'quantile' ? members.length : 1)) await ev.breathe();
    setCell(result, step, fold.result(step));
  }
  const withHistograms = members.filter(({ histograms }) => histograms !== undefined);
  if (withHistograms.length > 0) {
    await aggregateHistograms(ev, { expr, members: withHistograms, result, fold });
  }
  return result;
}

/** Adds the histograms of a group to the result of its floats. */
async function aggregateHistograms(
  ev: Evaluation,
  {
    expr,
    members,
    result,
    fold,
  }: { expr: Aggregation; members: readonly GridSeries[]; result: GridSeries; fold: FloatFold },
): Promise<void> {
  const { notes } = ev;
  if (expr.op === 'count' || expr.op === 'group') return;
  for (let step = 0; step < result.kinds.length; step++) {
    await ev.breathe();
    if (members.every(({ kinds }) => kinds[step] !== kind.histogram)) continue;
    const at = withoutParens(expr.expr);
    if (expr.op !== 'sum' && expr.op !== 'avg') {
      notes.info(at, `ignored histogram in ${expr.op} aggregation`);
      continue;
    }
    const hasFloats = fold.counts[step] !== 0;
    result.kinds[step] = kind.none;
    setCell(result, step, await totalOfHistograms(ev, { expr, members, step, hasFloats }));
  }
}

function groupSeries(
  series: readonly GridSeries[],
  { grouping, without }: Pick<Aggregation, 'grouping' | 'without'>,
): SeriesGroup[] {
  const by = groupingBy(without ? [...grouping, metricNameLabel] : grouping, without);
  const groups = new Map<string, { labels: Labels; members: GridSeries[] }>();
  for (const one of series) {
    const key = by.keyOf(one.labels);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, { labels: by.labelsOf(one.labels), members: [one] });
    else group.members.push(one);
  }
  return [...groups.values()];
}

function noteParameter(ev: Evaluation, { op, param: at }: Aggregation, param: Float64Array): void {
  if (at === undefined) return;
  for (const value of param) {
    if (op === 'quantile' && !(value >= 0 && value <= 1)) {
      const text = `quantile value should be between 0 and 1, got ${formatShort(value)}`;
      ev.notes.warn(at, text);
    }
    if (op === 'limit_ratio' && Math.abs(value) > 1) {
      const bounds = `got ${formatShort(value)}, capping to ${Math.sign(value)}`;
      ev.notes.warn(at, `ratio value should be between -1 and 1, ${bounds}`);
    }
  }
}

/** One series for each value: how many series have it. */
export async function countValues(
  ev: Evaluation,
  grid: Grid,
  {
    expr: { grouping, without },
    series,
    label,
  }: { expr: Aggregation; series: readonly GridSeries[]; label: string },
): Promise<readonly GridSeries[]> {
  if (!label.isWellFormed() || label === '') throw executionError(`invalid label name "${label}"`);
  const by = groupingBy([...grouping, without ? metricNameLabel : label], without);
  const counts = new Map<string, GridSeries>();
  for (const one of series) {
    for (let step = 0; step < grid.steps; step++) {
      // Its text takes as long as tens of other cells.
      if (ev.isDue(10)) await ev.breathe();
      const text = cellText(one, step);
      if (text === undefined) continue;
      const labels = by.labelsOf(withLabel(one.labels, label, text));
      const key = labelsKey(labels);
      let known = counts.get(key);
      if (known === undefined) {
        ev.checkCells(grid, counts.size + 1);
        known = newSeries(labels, grid.steps);
        counts.set(key, known);
      }
      setCell(known, step, known.kinds[step] === kind.none ? 1 : known.floats[step]! + 1);
    }
  }
  return [...counts.values()].sort((left, right) =>
    compareText(labelValue(left.labels, label), labelValue(right.labels, label)),
  );
}

function cellText(series: GridSeries, step: number): string | undefined {
  if (series.kinds[step] === kind.float) return formatNumber(series.floats[step]!);
  const histogram = series.histograms?.[step];
  return series.kinds[step] === kind.histogram ? histogramText(histogram!) : undefined;
}
