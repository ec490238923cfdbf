/** `absent` and `absent_over_time`. */
import { type LabelMatcher, metricNameLabel } from '../../model/metric-plan.ts';
import { noLabels, toLabels } from '../labels.ts';
import type { Expr } from '../parser/ast.ts';
import { type Grid, type GridSeries, isEmpty, kind, newSeries, setCell } from '../values.ts';

/** 1 at each step without a value, under the labels that the selector asks for. */
export function absent(
  grid: Grid,
  series: readonly GridSeries[],
  expr: Expr,
): readonly GridSeries[] {
  const result = newSeries(absentLabels(expr), grid.steps);
  for (let step = 0; step < grid.steps; step++) {
    if (series.every(({ kinds }) => kinds[step] === kind.none)) setCell(result, step, 1);
  }
  return isEmpty(result) ? [] : [result];
}

function absentLabels(expr: Expr) {
  const selector = expr.kind === 'range' ? expr.selector : expr;
  if (selector.kind !== 'selector') return noLabels;
  const byName = Map.groupBy(selector.matchers, ({ name }) => name);
  byName.delete(metricNameLabel);
  const isOnly = (matchers: readonly LabelMatcher[]) =>
    matchers.length === 1 && matchers[0]!.type === 'equal';
  return toLabels(
    [...byName].filter(([, all]) => isOnly(all)).map(([name, all]) => [name, all[0]!.value]),
  );
}
