/** `and`, `or` and `unless`: series of one side, by what the other side has. */
import type { BinaryExpr } from './parser/ast.ts';
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
export function combineSets(
  grid: Grid,
  {
    expr,
    left,
    right,
  }: { expr: BinaryExpr; left: readonly GridSeries[]; right: readonly GridSeries[] },
): readonly GridSeries[] {
  const sign = signer(expr.matching);
  switch (expr.op) {
    case 'and':
      return filterBy(grid, { series: left, others: right, sign, wanted: true });
    case 'unless':
      return filterBy(grid, { series: left, others: right, sign, wanted: false });
    default: {
      const added = filterBy(grid, { series: right, others: left, sign, wanted: false });
      return mergeEqual([...left, ...added]);
    }
  }
}

/** Cells at steps where the other side has a match, or where it has none. */
function filterBy(
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
): GridSeries[] {
  const present = new Map<string, Uint8Array>();
  for (const other of others) {
    const key = sign(other);
    const cells = present.get(key) ?? new Uint8Array(grid.steps);
    present.set(key, cells);
    for (let step = 0; step < grid.steps; step++) {
      if (other.kinds[step] !== kind.none) cells[step] = 1;
    }
  }
  return series.flatMap((one) => {
    const cells = present.get(sign(one));
    if (cells === undefined) return wanted ? [] : [one];
    const result = newSeries(one.labels, grid.steps, one.dropName);
    for (let step = 0; step < grid.steps; step++) {
      if ((cells[step] === 1) === wanted) copyCell(one, step, result);
    }
    return isEmpty(result) ? [] : [result];
  });
}
