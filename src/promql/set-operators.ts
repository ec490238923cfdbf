/** `and`, `or` and `unless`: series of one side, by what the other side has. */
import type { BinaryExpr } from './parser/ast.ts';
import type { Evaluation } from './evaluation.ts';
import {
  copyCell,
  type Grid,
  type GridSeries,
  isEmpty,
  kind,
  mergeEqual,
  newSeries,
} from './values.ts';
import type { Labels } from './labels.ts';
import { matchGrouping } from './vector-matching.ts';

/** @throws QueryError where `or` makes two series of equal labels */
export async function combineSets(
  ev: Evaluation,
  grid: Grid,
  {
    expr,
    left,
    right,
  }: { expr: BinaryExpr; left: readonly GridSeries[]; right: readonly GridSeries[] },
): Promise<readonly GridSeries[]> {
  const { keyOf } = matchGrouping(expr.matching);
  switch (expr.op) {
    case 'and':
      return filterBy(ev, grid, { series: left, others: right, keyOf, wanted: true });
    case 'unless':
      return filterBy(ev, grid, { series: left, others: right, keyOf, wanted: false });
    default: {
      const added = await filterBy(ev, grid, { series: right, others: left, keyOf, wanted: false });
      return mergeEqual([...left, ...added]);
    }
  }
}

/** Cells at steps where the other side has a match, or where it has none. */
async function filterBy(
  ev: Evaluation,
  grid: Grid,
  {
    series,
    others,
    keyOf,
    wanted,
  }: {
    series: readonly GridSeries[];
    others: readonly GridSeries[];
    keyOf: (labels: Labels) => string;
    wanted: boolean;
  },
): Promise<GridSeries[]> {
  const present = new Map<string, Uint8Array>();
  for (const other of others) {
    if (ev.isDue(grid.steps)) await ev.breathe();
    const key = keyOf(other.labels);
    const cells = present.get(key) ?? new Uint8Array(grid.steps);
    present.set(key, cells);
    for (let step = 0; step < grid.steps; step++) {
      if (other.kinds[step] !== kind.none) cells[step] = 1;
    }
  }
  const results: GridSeries[] = [];
  for (const one of series) {
    const cells = present.get(keyOf(one.labels));
    if (cells === undefined) {
      if (!wanted) results.push(one);
      continue;
    }
    if (ev.isDue(grid.steps)) await ev.breathe();
    const result = newSeries(one.labels, grid.steps, one.dropName);
    for (let step = 0; step < grid.steps; step++) {
      if ((cells[step] === 1) === wanted) copyCell(one, step, result);
    }
    if (!isEmpty(result)) results.push(result);
  }
  return results;
}
