/**
 * Operators between two vectors: pairs series with equal matching labels.
 * https://prometheus.io/docs/prometheus/latest/querying/operators/#vector-matching
 */
import { metricNameLabel } from '../model/metric-plan.ts';
import { type BinaryExpr, type Matching } from './parser/ast.ts';
import { calculateNoted, changesQuantity, operandAt } from './operators.ts';
import { executionError } from './errors.ts';
import type { Evaluation } from './evaluation.ts';
import {
  compareText,
  type Grouping,
  groupingBy,
  type Labels,
  labelsKey,
  labelsText,
  labelValue,
  withLabel,
  withoutMetadata,
} from './labels.ts';
import {
  type Grid,
  type GridSeries,
  isEmpty,
  kind,
  mergeEqual,
  newSeries,
  setCell,
} from './values.ts';

/** The labels by which series are matched. */
export function matchGrouping({ on, labels }: Matching): Grouping {
  return groupingBy(on ? labels : [...labels, metricNameLabel], !on);
}

interface Sides {
  readonly expr: BinaryExpr;
  readonly left: readonly GridSeries[];
  readonly right: readonly GridSeries[];
}

/** The series of one group of matching labels. */
interface MatchGroup {
  readonly many: GridSeries[];
  readonly one: GridSeries[];
}

/** @throws QueryError where several series match at one step */
export async function matchVectors(
  ev: Evaluation,
  grid: Grid,
  { expr, left, right }: Sides,
): Promise<readonly GridSeries[]> {
  const isSwapped = expr.matching.many === 'right';
  const [many, one] = isSwapped ? [right, left] : [left, right];
  const { keyOf } = matchGrouping(expr.matching);
  const groups = new Map<string, MatchGroup>();
  const groupOf = (series: GridSeries) => {
    const key = keyOf(series.labels);
    const group = groups.get(key) ?? { many: [], one: [] };
    groups.set(key, group);
    return group;
  };
  for (const series of many) groupOf(series).many.push(series);
  for (const series of one) groupOf(series).one.push(series);
  const results: GridSeries[] = [];
  const steps = stepsToMatch(grid, { expr, left, right });
  for (const group of groups.values()) {
    const matcher = new GroupMatcher(ev, grid, { expr, group, steps });
    for (const series of await matcher.match()) if (!isEmpty(series)) results.push(series);
  }
  return mergeEqual(results);
}

/** Where one side is empty nothing matches, so that duplicates of the other one are no error. */
function stepsToMatch({ steps }: Grid, { expr, left, right }: Sides): readonly number[] {
  const all = Array.from({ length: steps }, (_, step) => step);
  const { fillLeft, fillRight } = expr.matching;
  if (fillLeft !== undefined || fillRight !== undefined) return all;
  const filled = [left, right].map((side) => {
    const isFilled = new Uint8Array(steps);
    for (const { kinds } of side) {
      for (let step = 0; step < steps; step++) if (kinds[step] !== kind.none) isFilled[step] = 1;
    }
    return isFilled;
  });
  return all.filter((step) => filled.every((isFilled) => isFilled[step] === 1));
}

class GroupMatcher {
  readonly #ev: Evaluation;
  readonly #grid: Grid;
  readonly #steps: readonly number[];
  readonly #expr: BinaryExpr;
  readonly #group: MatchGroup;
  readonly #isSwapped: boolean;
  readonly #results = new Map<string, GridSeries>();
  /** Results by the pair of series they are made of. */
  readonly #pairs = new Map<GridSeries | undefined, Map<GridSeries | undefined, GridSeries>>();

  constructor(
    ev: Evaluation,
    grid: Grid,
    parts: { expr: BinaryExpr; group: MatchGroup; steps: readonly number[] },
  ) {
    this.#ev = ev;
    this.#grid = grid;
    this.#steps = parts.steps;
    this.#expr = parts.expr;
    this.#group = parts.group;
    this.#isSwapped = parts.expr.matching.many === 'right';
  }

  async match(): Promise<Iterable<GridSeries>> {
    const cells = this.#group.many.length + this.#group.one.length;
    for (const step of this.#steps) {
      if (this.#ev.isDue(cells)) await this.#ev.breathe();
      this.#matchAt(step);
    }
    return this.#results.values();
  }

  #matchAt(step: number): void {
    const isPresent = ({ kinds }: GridSeries) => kinds[step] !== kind.none;
    // With group_right, too, Prometheus takes `fill_left` for the side with several series.
    const { fillLeft: fillMany, fillRight: fillOne } = this.#expr.matching;
    const one = this.#oneAt(step);
    const matched = new Set<GridSeries>();
    for (const series of this.#group.many) {
      if (!isPresent(series) || (one === undefined && fillOne === undefined)) continue;
      this.#combine(step, matched, { many: series, one, fillMany, fillOne });
    }
    if (one !== undefined && matched.size === 0 && fillMany !== undefined) {
      this.#combine(step, matched, { many: undefined, one, fillMany, fillOne });
    }
  }

  /** @throws QueryError where there are several */
  #oneAt(step: number): GridSeries | undefined {
    let found: GridSeries | undefined;
    for (const series of this.#group.one) {
      if (series.kinds[step] === kind.none) continue;
      if (found !== undefined) throw this.#duplicates(found, series);
      found = series;
    }
    return found;
  }

  #duplicates(first: GridSeries, second: GridSeries) {
    const shown = [first, second].map(({ labels }) => labelsText(labels)).sort(compareText);
    const group = labelsText(matchGrouping(this.#expr.matching).labelsOf(second.labels));
    return executionError(
      `found duplicate series for the match group ${group} on the ` +
        `${this.#isSwapped ? 'left' : 'right'} hand-side of the operation: ` +
        `[${shown.join(', ')}];many-to-many matching not allowed: matching labels must be unique ` +
        'on one side',
    );
  }

  #combine(
    step: number,
    matched: Set<GridSeries>,
    {
      many,
      one,
      fillMany,
      fillOne,
    }: {
      many: GridSeries | undefined;
      one: GridSeries | undefined;
      fillMany: number | undefined;
      fillOne: number | undefined;
    },
  ): void {
    const { returnBool, matching } = this.#expr;
    const manyValue = many === undefined ? fillMany! : operandAt(many, step);
    const oneValue = one === undefined ? fillOne! : operandAt(one, step);
    const [left, right] = this.#isSwapped ? [oneValue, manyValue] : [manyValue, oneValue];
    const outcome = calculateNoted(this.#ev, this.#expr, left, right);
    if (outcome === undefined) return;
    const result = this.#resultOf(many, one);
    if (matching.many === undefined && matched.size > 0) {
      throw executionError(
        'multiple matches for labels: many-to-one matching must be explicit ' +
          '(group_left/group_right)',
      );
    }
    if (matched.has(result)) {
      throw executionError(
        'multiple matches for labels: grouping labels must ensure unique matches',
      );
    }
    matched.add(result);
    if (returnBool) setCell(result, step, outcome.keep ? 1 : 0);
    else if (outcome.keep) setCell(result, step, outcome.value);
  }

  #resultOf(many: GridSeries | undefined, one: GridSeries | undefined): GridSeries {
    const byOne = this.#pairs.get(many) ?? new Map<GridSeries | undefined, GridSeries>();
    this.#pairs.set(many, byOne);
    const known = byOne.get(one);
    if (known !== undefined) return known;
    const { matching, returnBool } = this.#expr;
    const manyLabels = many?.labels ?? matchGrouping(matching).labelsOf(one!.labels);
    const oneLabels = one?.labels ?? matchGrouping(matching).labelsOf(many!.labels);
    const labels = this.#resultLabels(manyLabels, oneLabels);
    const key = labelsKey(labels);
    const result = this.#results.get(key) ?? newSeries(labels, this.#grid.steps, returnBool);
    this.#results.set(key, result);
    byOne.set(one, result);
    return result;
  }

  #resultLabels(many: Labels, one: Labels): Labels {
    const { matching, returnBool } = this.#expr;
    const dropsName =
      changesQuantity(this.#expr) || (returnBool && !this.#ev.options.delayedNameRemoval);
    let labels = dropsName ? withoutMetadata(many) : many;
    if (matching.many === undefined) {
      labels = groupingBy(matching.labels, !matching.on).labelsOf(labels);
    }
    for (const name of matching.include) labels = withLabel(labels, name, labelValue(one, name));
    return labels;
  }
}
