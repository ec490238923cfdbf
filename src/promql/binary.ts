/** Binary operators between scalars and vectors. */
import type { BinaryExpr } from './parser/ast.ts';
import { isComparison, isSetOperator } from './parser/ast.ts';
import type { Evaluation } from './evaluation.ts';
import { calculateNoted, calculateScalar, changesQuantity, operandAt } from './operators.ts';
import {
  type Grid,
  type GridSeries,
  isEmpty,
  kind,
  newSeries,
  setCell,
  type Value,
  withoutName,
} from './values.ts';
import { matchVectors } from './vector-matching.ts';
import { combineSets } from './set-operators.ts';

/** @throws QueryError where series match ambiguously */
export async function evaluateBinary(
  ev: Evaluation,
  grid: Grid,
  { expr, left, right }: { expr: BinaryExpr; left: Value; right: Value },
): Promise<Value> {
  if (left.kind === 'scalar' && right.kind === 'scalar') {
    const other = right.values;
    const values = left.values.map((value, step) => calculateScalar(expr.op, value, other[step]!));
    return { kind: 'scalar', values };
  }
  if (left.kind === 'vector' && right.kind === 'vector') {
    const sides = { expr, left: left.series, right: right.series };
    const combine = isSetOperator(expr.op) ? combineSets : matchVectors;
    const series = await combine(ev, grid, sides);
    return { kind: 'vector', series };
  }
  const series: GridSeries[] = [];
  for (const one of left.kind === 'vector' ? left.series : vectorOf(right)) {
    if (ev.isDue(grid.steps)) await ev.breathe();
    const result = withScalar(ev, grid, { expr, series: one, left, right });
    if (!isEmpty(result)) series.push(result);
  }
  return { kind: 'vector', series };
}

function vectorOf(value: Value): readonly GridSeries[] {
  return value.kind === 'vector' ? value.series : [];
}

function withScalar(
  ev: Evaluation,
  grid: Grid,
  {
    expr,
    series,
    left,
    right,
  }: { expr: BinaryExpr; series: GridSeries; left: Value; right: Value },
): GridSeries {
  const drops = changesQuantity(expr) || expr.returnBool;
  const named = drops ? withoutName(series, ev.options.delayedNameRemoval) : series;
  const result = newSeries(named.labels, grid.steps, named.dropName);
  for (let step = 0; step < grid.steps; step++) {
    if (series.kinds[step] === kind.none) continue;
    const own = operandAt(series, step);
    const a = left.kind === 'scalar' ? left.values[step]! : own;
    const b = right.kind === 'scalar' ? right.values[step]! : own;
    const outcome = calculateNoted(ev, expr, a, b);
    if (outcome === undefined) continue;
    // A comparison shows the vector, on whichever side it stands.
    const value = isComparison(expr.op) ? own : outcome.value;
    if (expr.returnBool) setCell(result, step, outcome.keep ? 1 : 0);
    else if (outcome.keep) setCell(result, step, value);
  }
  return result;
}
