/** Evaluates expressions on a grid of times: one case for each kind of expression. */
import {
  type Aggregation,
  type BinaryExpr,
  type Call,
  type Expr,
  type UnaryExpr,
  withoutParens,
} from './parser/ast.ts';
import { typeOf } from './parser/check.ts';
import { aggregate, countValues } from './aggregate.ts';
import { evaluateBinary } from './binary.ts';
import type { Evaluation } from './evaluation.ts';
import { callOnHistograms } from './functions/histogram-calls.ts';
import { multiply } from './histogram/histogram.ts';
import { addInfo } from './functions/info.ts';
import { labelJoin, labelReplace } from './functions/label-functions.ts';
import { noLabels } from './labels.ts';
import { absent } from './functions/absent.ts';
import { callOnRange, rangeArgument } from './range-call.ts';
import { selectInstant } from './selection.ts';
import { aggregateStreamed } from './streamed-aggregate.ts';
import { selectSmoothed } from './functions/smoothed.ts';
import { sortSeries } from './functions/sorting.ts';
import { floatFunctions, histogramFunctions } from './functions/vector-functions.ts';
import {
  countCells,
  type Grid,
  type GridSeries,
  isEmpty,
  kind,
  mergeEqual,
  newSeries,
  setCell,
  timeOf,
  type Value,
  withoutName,
} from './values.ts';

/** @throws QueryError */
export async function evaluate(ev: Evaluation, grid: Grid, expr: Expr): Promise<Value> {
  if (ev.isTurnOver()) await ev.breathe();
  const value = await evaluateKind(ev, grid, expr);
  if (value.kind === 'vector') ev.charge(countCells(value.series));
  return value;
}

function evaluateKind(ev: Evaluation, grid: Grid, expr: Expr): Value | Promise<Value> {
  switch (expr.kind) {
    case 'number':
      return constant(grid, expr.value);
    case 'string':
      return { kind: 'string', value: expr.value };
    case 'paren':
      return evaluate(ev, grid, expr.expr);
    case 'selector':
      return expr.extension === 'smoothed'
        ? selectSmoothed(ev, grid, expr).then((series) => vector(series))
        : selectInstant(ev, grid, expr).then((series) => vector(series));
    case 'unary':
      return evaluateUnary(ev, grid, expr);
    case 'binary':
      return evaluateSides(ev, grid, expr);
    case 'aggregation':
      return evaluateAggregation(ev, grid, expr);
    case 'call':
      return evaluateCall(ev, grid, expr);
    case 'range':
    case 'subquery':
      throw new Error(`cannot evaluate a ${expr.kind} outside of a function`);
  }
}

function constant(grid: Grid, value: number): Value {
  return { kind: 'scalar', values: new Float64Array(grid.steps).fill(value) };
}

function vector(series: readonly GridSeries[], isDistinct = false): Value {
  return { kind: 'vector', series, isDistinct };
}

async function evaluateSides(ev: Evaluation, grid: Grid, expr: BinaryExpr): Promise<Value> {
  const left = await evaluate(ev, grid, expr.left);
  const right = await evaluate(ev, grid, expr.right);
  return evaluateBinary(ev, grid, { expr, left, right });
}

async function seriesOf(
  ev: Evaluation,
  grid: Grid,
  expr: Expr | undefined,
): Promise<readonly GridSeries[]> {
  const value = expr && (await evaluate(ev, grid, withoutParens(expr)));
  return value?.kind === 'vector' ? value.series : [];
}

async function scalarOf(ev: Evaluation, grid: Grid, expr: Expr): Promise<Float64Array> {
  const value = await evaluate(ev, grid, withoutParens(expr));
  return value.kind === 'scalar' ? value.values : new Float64Array(grid.steps);
}

function textOf(expr: Expr): string {
  const inner = withoutParens(expr);
  return inner.kind === 'string' ? inner.value : '';
}

async function evaluateUnary(ev: Evaluation, grid: Grid, expr: UnaryExpr): Promise<Value> {
  const value = await evaluate(ev, grid, expr.expr);
  if (expr.op === '+' || value.kind === 'string') return value;
  if (value.kind === 'scalar') return { kind: 'scalar', values: value.values.map((one) => -one) };
  const { delayedNameRemoval: delayed } = ev.options;
  const negated: GridSeries[] = [];
  for (const one of value.series) {
    if (ev.isDue(grid.steps)) await ev.breathe();
    negated.push({
      ...withoutName(one, delayed),
      floats: one.floats.map((float) => -float),
      histograms: one.histograms?.map((histogram) => histogram && multiply(histogram, -1)),
    });
  }
  return vector(delayed ? negated : mergeEqual(negated));
}

async function evaluateAggregation(ev: Evaluation, grid: Grid, expr: Aggregation): Promise<Value> {
  if (expr.op === 'count_values') {
    const series = await seriesOf(ev, grid, expr.expr);
    return vector(await countValues(ev, grid, { expr, series, label: textOf(expr.param!) }));
  }
  const streamed = await aggregateStreamed(ev, grid, { expr, evaluate });
  if (streamed !== undefined) return vector(streamed, true);
  const { param: given } = expr;
  const param = given === undefined ? new Float64Array() : await scalarOf(ev, grid, given);
  const series = await seriesOf(ev, grid, expr.expr);
  return vector(await aggregate(ev, grid, { expr, series, param }));
}

async function evaluateCall(ev: Evaluation, grid: Grid, call: Call): Promise<Value> {
  if (typeOf(call) === 'scalar') {
    return { kind: 'scalar', values: await evaluateScalarCall(ev, grid, call) };
  }
  const range = rangeArgument(call);
  if (range !== undefined) {
    const series = await callOnRange(ev, grid, { call, range, evaluate });
    if (call.name === 'absent_over_time') return vector(absent(grid, series, range));
    return vector(series, !ev.options.delayedNameRemoval);
  }
  return vector(await evaluateVectorCall(ev, grid, call));
}

async function evaluateScalarCall(
  ev: Evaluation,
  grid: Grid,
  { name, args }: Call,
): Promise<Float64Array> {
  const { startMs, endMs, stepMs } = ev.times;
  const fill = (value: number) => new Float64Array(grid.steps).fill(value);
  switch (name) {
    case 'pi':
      return fill(Math.PI);
    case 'time':
      return fill(0).map((_, step) => timeOf(grid, step) / 1000);
    case 'start':
      return fill(startMs / 1000);
    case 'end':
      return fill(endMs / 1000);
    case 'range':
      return fill((endMs - startMs) / 1000);
    case 'step':
      return fill(startMs === endMs ? 0 : stepMs / 1000);
    case 'max_of':
    case 'min_of': {
      const left = await scalarOf(ev, grid, args[0]!);
      const right = await scalarOf(ev, grid, args[1]!);
      const choose = name === 'max_of' ? Math.max : Math.min;
      return left.map((value, step) => choose(value, right[step]!));
    }
    default:
      return onlyValues(grid, await seriesOf(ev, grid, args[0]));
  }
}

/** NaN where there is not exactly one float. */
function onlyValues(grid: Grid, series: readonly GridSeries[]): Float64Array {
  const values = new Float64Array(grid.steps).fill(Number.NaN);
  for (let step = 0; step < grid.steps; step++) {
    const floats = series.filter(({ kinds }) => kinds[step] === kind.float);
    if (floats.length === 1) values[step] = floats[0]!.floats[step]!;
  }
  return values;
}

async function evaluateVectorCall(
  ev: Evaluation,
  grid: Grid,
  call: Call,
): Promise<readonly GridSeries[]> {
  const { name, args } = call;
  const first = args[0] && withoutParens(args[0]);
  switch (name) {
    case 'vector': {
      const series = newSeries(noLabels, grid.steps);
      series.floats.set(await scalarOf(ev, grid, first!));
      series.kinds.fill(kind.float);
      return [series];
    }
    case 'absent':
      return absent(grid, await seriesOf(ev, grid, first), first!);
    case 'timestamp':
      return timestamps(ev, grid, first!);
    case 'label_replace':
      return labelReplace(await seriesOf(ev, grid, first), args.slice(1).map(textOf));
    case 'label_join':
      return labelJoin(await seriesOf(ev, grid, first), args.slice(1).map(textOf));
    case 'info': {
      const second = args[1] && withoutParens(args[1]);
      const wanted = second?.kind === 'selector' ? second.matchers : [];
      return addInfo(ev, grid, { series: await seriesOf(ev, grid, first), expr: first!, wanted });
    }
    case 'sort':
    case 'sort_desc':
    case 'sort_by_label':
    case 'sort_by_label_desc':
      if (grid.steps > 1) {
        const text = 'sort is ineffective for range queries since results are always ordered by';
        ev.notes.warn(call, `${text} labels`);
      }
      return sortSeries(name, await seriesOf(ev, grid, first), args.slice(1).map(textOf));
    default:
      return callOnSamples(ev, grid, call);
  }
}

async function callOnSamples(
  ev: Evaluation,
  grid: Grid,
  call: Call,
): Promise<readonly GridSeries[]> {
  const { name, args } = call;
  const scalars: Float64Array[] = [];
  let series: readonly GridSeries[] = [];
  let label = '';
  for (const arg of args.map(withoutParens)) {
    const value = await evaluate(ev, grid, arg);
    if (value.kind === 'vector') ({ series } = value);
    else if (value.kind === 'scalar') scalars.push(value.values);
    else label = value.value;
  }
  if (['histogram_quantile', 'histogram_quantiles', 'histogram_fraction'].includes(name)) {
    return callOnHistograms(ev, grid, { call, series, scalars, label });
  }
  // Of a date function: parts of the time of each step.
  if (args.length === 0) series = [timeSeries(grid)];
  const ofFloat = floatFunctions[name];
  const ofHistogram = histogramFunctions[name];
  return mapSeries(ev, series, (one, step) => {
    if (one.kinds[step] === kind.float) {
      return ofFloat?.(
        one.floats[step]!,
        scalars.map((values) => values[step]!),
      );
    }
    return ofHistogram?.(one.histograms![step]!);
  });
}

function timeSeries(grid: Grid): GridSeries {
  const series = newSeries(noLabels, grid.steps);
  for (let step = 0; step < grid.steps; step++) setCell(series, step, timeOf(grid, step) / 1000);
  return series;
}

async function mapSeries(
  ev: Evaluation,
  series: readonly GridSeries[],
  map: (series: GridSeries, step: number) => number | undefined,
): Promise<readonly GridSeries[]> {
  const { delayedNameRemoval: delayed } = ev.options;
  const results: GridSeries[] = [];
  for (const one of series) {
    if (ev.isDue(one.kinds.length)) await ev.breathe();
    const named = withoutName(one, delayed);
    const result = newSeries(named.labels, one.kinds.length, named.dropName);
    for (let step = 0; step < one.kinds.length; step++) {
      if (one.kinds[step] !== kind.none) setCell(result, step, map(one, step));
    }
    if (!isEmpty(result)) results.push(result);
  }
  return mergeEqual(results);
}

/** Of a selector the times of its samples, else those of the steps. */
async function timestamps(ev: Evaluation, grid: Grid, expr: Expr): Promise<readonly GridSeries[]> {
  if (expr.kind === 'selector') {
    const times = await selectInstant(ev, grid, expr, 'time');
    return mapSeries(ev, times, (one, step) => one.floats[step]!);
  }
  const series = await seriesOf(ev, grid, expr);
  return mapSeries(ev, series, (_, step) => timeOf(grid, step) / 1000);
}
