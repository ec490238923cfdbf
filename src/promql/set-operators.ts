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
import { signer } from './vector-matching.ts';

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
  const sign = signer(expr.matching);
  switch (expr.op) {
    case 'and':
      return filterBy(ev, grid, { series: left, others: right, sign, wanted: true });
    case 'unless':
      return filterBy(ev, grid, { series: left, others: right, sign, wanted: false });
    default: {
      const added = await filterBy(ev, grid, { series: right, others: left, sign, wanted: false });
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
    sign,
    wanted,
  }: {
    series: readonly GridSeries[];
    others: readonly GridSeries[];
    sign: (series: GridSeries) => string;
    wanted: boolean;
  },
): Promise<GridSeries[]> {
  const present = new Map<string, Uint8Array>();
  for (const other of others) {
    if (ev.isDue(grid.steps)) await ev.breathe();
    const key = sign(other);
    const cells = present.get(key) ?? new Uint8Array(grid.steps);
    present.set(key, cells);
    for (let step = 0; step < grid.steps; step++) {
      if (other.kinds[step] !== kind.none) cells[step] = 1;
    }
  }
  const results: GridSeries[] = [];
  for (const one of series) {
    const cells = present.get(sign(one));
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
