/** Calls of functions of a range: moves a window over each series. */
import type { Call, MatrixSelector, Subquery } from './parser/ast.ts';
import { withoutParens } from './parser/ast.ts';
import { executionError } from './errors.ts';
import type { Evaluate, Evaluation } from './evaluation.ts';
import { isOfOneMetric, labelsKey, metricName } from './labels.ts';
import { columns } from './functions/columns.ts';
import { ExactSums } from './functions/exact-sums.ts';
import { changesFunction, resetsFunction } from './functions/pairs.ts';
import { overTimeFunctions } from './functions/over-time.ts';
import { RangeContext, type RangeFunction } from './functions/range-context.ts';
import { rateFunctions } from './functions/rate.ts';
import { extensionOf, rangeSeries } from './range-series.ts';
import { looksOf, type RangeSeries, RangeWindow } from './selection.ts';
import {
  type CellSink,
  duplicateLabels,
  type Grid,
  type GridSeries,
  kind,
  SeriesList,
  setCell,
  timeOf,
  withoutName,
} from './values.ts';
import { SharedWindows, type WindowRanges, type Windows } from './windows.ts';

const functions: Readonly<Record<string, RangeFunction>> = {
  ...overTimeFunctions,
  ...rateFunctions,
  changes: changesFunction,
  resets: resetsFunction,
};

/** The argument that is a range, if the function has one. */
export function rangeArgument({ args }: Call): MatrixSelector | Subquery | undefined {
  for (const arg of args.map(withoutParens)) {
    if (arg.kind === 'range' || arg.kind === 'subquery') return arg;
  }
  return undefined;
}

export async function callOnRange(
  ev: Evaluation,
  grid: Grid,
  { call, range, evaluate }: { call: Call; range: MatrixSelector | Subquery; evaluate: Evaluate },
): Promise<readonly GridSeries[]> {
  const series = await rangeSeries(ev, grid, { range, evaluate });
  const list = new SeriesList(grid, (count) => ev.checkCells(grid, count));
  await computeRanges(ev, grid, { call, range, series, evaluate }, list);
  const results = list.series;
  noteCounters(ev, call, { range, results });
  return rename(ev, { call, range }, results);
}

export async function computeRanges(
  ev: Evaluation,
  grid: Grid,
  {
    call,
    range,
    series: all,
    evaluate,
  }: {
    call: Call;
    range: MatrixSelector | Subquery;
    series: readonly RangeSeries[];
    evaluate: Evaluate;
  },
  sink: CellSink,
): Promise<void> {
  checkExtension(call.name, range);
  const args = await scalarArguments(ev, grid, { call, evaluate });
  const rangeMs = ev.durationMs(range.range);
  const extension = range.kind === 'range' ? range.selector.extension : undefined;
  const { before, after } = extensionOf(ev, grid, range);
  const looks = looksOf(ev, grid, range.kind === 'range' ? range.selector : range);
  const context = new RangeContext(
    ev,
    { at: range, first: withoutParens(call.args[0]!) },
    { rangeMs, extension },
  );
  const compute: RangeFunction = functions[call.name]!;
  const column = extension === undefined ? columns.get(call.name) : undefined;
  const ranges = { looks, steps: grid.steps, beforeMs: rangeMs + before, afterMs: after };
  const shared = new SharedWindows(ranges);
  const exact = new ExactSums();
  for (const series of all) {
    if (ev.isDue(grid.steps)) await ev.breathe();
    const cells = sink.next(series.labels, series.dropName === true);
    const windows = shared.of(series);
    if (ev.isDue(windows.floats)) await ev.breathe();
    const target = { cells, rangeSeconds: context.rangeSeconds, exact };
    if (series.histograms.length === 0 && column?.(series, windows, target) === true) {
      ev.lookAtWindows(grid, windows);
    } else {
      await computeCells(ev, grid, { series, windows, ranges, compute, args, context }, cells);
    }
    sink.take(cells);
  }
}

async function computeCells(
  ev: Evaluation,
  grid: Grid,
  {
    series,
    windows,
    ranges: { looks, beforeMs, afterMs },
    compute,
    args,
    context,
  }: {
    series: RangeSeries;
    windows: Windows;
    ranges: WindowRanges;
    compute: RangeFunction;
    args: readonly Float64Array[];
    context: RangeContext;
  },
  cells: GridSeries,
): Promise<void> {
  const window = new RangeWindow(series);
  const cellArgs = args.map(() => 0);
  for (let step = 0; step < grid.steps; step++) {
    window.endMs = looks.first + step * looks.stepMs;
    window.startMs = window.endMs - context.rangeMs;
    window.stepMs = timeOf(grid, step);
    window.from = windows.from[step]!;
    window.to = windows.to[step]!;
    window.moveHistograms(window.endMs - beforeMs, window.endMs + afterMs);
    if (window.isEmpty()) continue;
    const samples = window.floats() + window.histogramCount();
    // A step may look at months of samples, and a histogram takes as long as a thousand floats.
    if (window.histogramCount() > 0 ? ev.isTurnOver() : ev.isDue(samples)) await ev.breathe();
    ev.look(grid, step, samples);
    for (let i = 0; i < args.length; i++) cellArgs[i] = args[i]![step]!;
    const cell = compute(window, cellArgs, context);
    setCell(cells, step, cell instanceof Promise ? await cell : cell);
  }
}

export function keepsName({ name }: Call): boolean {
  return name === 'first_over_time' || name === 'last_over_time';
}

function rename(
  ev: Evaluation,
  { call, range }: { call: Call; range: MatrixSelector | Subquery },
  results: GridSeries[],
): GridSeries[] {
  const { delayedNameRemoval: delayed } = ev.options;
  // Stored series of one metric stay distinct without its name.
  const areDistinct = range.kind === 'range' && isOfOneMetric(results);
  const named = results.map((series) => {
    const drops = !keepsName(call) || series.dropName;
    return drops ? withoutName(series, delayed) : series;
  });
  if (delayed || call.name === 'absent_over_time' || areDistinct) return named;
  const keys = new Set(named.map(({ labels }) => labelsKey(labels)));
  if (keys.size < named.length) throw duplicateLabels();
  return named;
}

async function scalarArguments(
  ev: Evaluation,
  grid: Grid,
  { call, evaluate }: { call: Call; evaluate: Evaluate },
): Promise<Float64Array[]> {
  const values: Float64Array[] = [];
  // Most have the range alone.
  if (call.args.length === 1) return values;
  for (const arg of call.args.map(withoutParens)) {
    if (arg.kind === 'range' || arg.kind === 'subquery') continue;
    const value = await evaluate(ev, grid, arg);
    if (value.kind === 'scalar') values.push(value.values);
  }
  return values;
}

const extensible: Readonly<Record<string, readonly string[]>> = {
  anchored: ['changes', 'delta', 'increase', 'rate', 'resets'],
  smoothed: ['delta', 'increase', 'rate'],
};

function checkExtension(name: string, range: MatrixSelector | Subquery): void {
  const extension = range.kind === 'range' ? range.selector.extension : undefined;
  if (extension === undefined || extensible[extension]!.includes(name)) return;
  const allowed = extensible[extension]!.join(', ');
  throw executionError(
    `${extension} modifier can only be used with: ${allowed} - not with ${name}`,
  );
}

const counterSuffix = /_(?:total|sum|count|bucket)$/;

export function noteCounters(
  ev: Evaluation,
  { name, args }: Call,
  { range, results }: { range: MatrixSelector | Subquery; results: readonly GridSeries[] },
): void {
  if (name !== 'rate' && name !== 'increase') return;
  let noted = '';
  for (const { labels, kinds } of results) {
    const metric = metricName(labels);
    if (metric === noted || counterSuffix.test(metric) || !kinds.includes(kind.float)) continue;
    noted = metric;
    const text = 'metric might not be a counter, name does not end in _total/_sum/_count/_bucket';
    ev.notes.info(withoutParens(args[0] ?? range), `${text}: ${JSON.stringify(metric)}`);
  }
}
