/**
 * `info(v, {…})`: adds labels of info metrics to series of the same instance and job.
 * https://prometheus.io/docs/prometheus/latest/querying/functions/#info
 */
import { type LabelMatcher, metricNameLabel } from '../../model/metric-plan.ts';
import { type Expr, type Subquery, type VectorSelector } from '../parser/ast.ts';
import { executionError } from '../errors.ts';
import type { Evaluation } from '../evaluation.ts';
import {
  groupingBy,
  type Labels,
  labelsKey,
  labelsText,
  labelValue,
  metricName,
  withLabel,
} from '../labels.ts';
import { matches, quotePattern } from '../matchers.ts';
import { selectInstant } from '../selection.ts';
import {
  copyCell,
  type Grid,
  type GridSeries,
  isEmpty,
  kind,
  mergeEqual,
  newSeries,
} from '../values.ts';

const identifying = ['instance', 'job'];
const identity = groupingBy(identifying, false);

interface InfoCall {
  readonly series: readonly GridSeries[];
  /** The first argument; the first selector in it says at which time info metrics are read. */
  readonly expr: Expr;
  /** Which labels of which metrics; empty = all of `target_info`. */
  readonly wanted: readonly LabelMatcher[];
}

/** @throws QueryError where info metrics contradict each other */
export async function addInfo(
  ev: Evaluation,
  grid: Grid,
  { series, expr, wanted }: InfoCall,
): Promise<readonly GridSeries[]> {
  const names = nameMatchers(wanted);
  const labels = wanted.filter(({ name }) => name !== metricNameLabel);
  const isInfo = (one: GridSeries) =>
    names.every((matcher) => matches(matcher, metricName(one.labels)));
  const bases = series.filter((one) => !isInfo(one));
  const matchers = [...identifyingMatchers(bases), ...labels, ...names];
  const hasIdentity = matchers.length > labels.length + names.length;
  const infos = hasIdentity ? await selectInfo(ev, grid, { expr, matchers }) : [];
  const byIdentity = Map.groupBy(infos, (info) => identity.keyOf(info.labels));
  const results: GridSeries[] = [];
  for (const one of series) {
    await ev.breathe();
    if (isInfo(one)) results.push(one);
    else {
      const own = byIdentity.get(identity.keyOf(one.labels)) ?? [];
      results.push(...enrich(grid, { series: one, infos: own, labels }));
    }
  }
  return mergeEqual(results.filter((one) => !isEmpty(one)));
}

function nameMatchers(wanted: readonly LabelMatcher[]): readonly LabelMatcher[] {
  const names = wanted.filter(({ name }) => name === metricNameLabel);
  if (names.some(({ type }) => type === 'equal' || type === 'matches')) return names;
  if (names.length === 0) {
    return [{ name: metricNameLabel, type: 'equal', value: 'target_info' }];
  }
  return [{ name: metricNameLabel, type: 'matches', value: '.+_info' }, ...names];
}

function identifyingMatchers(series: readonly GridSeries[]): LabelMatcher[] {
  return identifying.flatMap((name) => {
    const values = new Set(series.map(({ labels }) => labelValue(labels, name)));
    values.delete('');
    if (values.size === 0) return [];
    const value = [...values].map(quotePattern).join('|');
    return [{ name, type: 'matches' as const, value }];
  });
}

/** Cells have the time of the sample in seconds. */
function selectInfo(
  ev: Evaluation,
  grid: Grid,
  { expr, matchers }: { expr: Expr; matchers: readonly LabelMatcher[] },
): Promise<readonly GridSeries[]> {
  const { at, offsetMs } = timing(ev, expr, []) ?? { at: undefined, offsetMs: 0 };
  const { start, end } = expr;
  const offset = { kind: 'number', value: offsetMs / 1000, isDuration: true, start, end } as const;
  const bare = { kind: 'selector', name: undefined, extension: undefined } as const;
  return selectInstant(ev, grid, { ...bare, matchers, at, offset, start, end }, 'float-time');
}

/** `@` and offset of the first selector, with the subqueries around it. */
function timing(
  ev: Evaluation,
  expr: Expr,
  around: readonly Subquery[],
): { at: VectorSelector['at']; offsetMs: number } | undefined {
  switch (expr.kind) {
    case 'selector': {
      let { at } = expr;
      let offsetMs = ev.offsetMs(expr);
      for (const subquery of around.toReversed()) {
        if (at !== undefined) break;
        offsetMs += ev.offsetMs(subquery);
        ({ at } = subquery);
      }
      return { at, offsetMs };
    }
    case 'range':
      return timing(ev, expr.selector, around);
    case 'subquery':
      return timing(ev, expr.expr, [...around, expr]);
    case 'paren':
    case 'unary':
    case 'aggregation':
      return timing(ev, expr.expr, around);
    case 'binary':
      return timing(ev, expr.left, around) ?? timing(ev, expr.right, around);
    case 'call':
      for (const arg of expr.args) {
        const found = timing(ev, arg, around);
        if (found !== undefined) return found;
      }
      return undefined;
    default:
      return undefined;
  }
}

/** The set of info series may change from step to step, hence the labels, too. */
function enrich(
  grid: Grid,
  {
    series,
    infos,
    labels,
  }: {
    series: GridSeries;
    infos: readonly GridSeries[];
    labels: readonly LabelMatcher[];
  },
): Iterable<GridSeries> {
  const results = new Map<string, GridSeries>();
  const wanted = new Set(labels.map(({ name }) => name));
  const mayLack = labels.every((matcher) => matches(matcher, ''));
  for (let step = 0; step < grid.steps; step++) {
    if (series.kinds[step] === kind.none) continue;
    const present = newestAt(infos, step);
    if (present.length === 0 && !mayLack) continue;
    const enriched = joinLabels(series.labels, present, wanted);
    const key = labelsKey(enriched);
    const result = results.get(key) ?? newSeries(enriched, grid.steps, series.dropName);
    results.set(key, result);
    copyCell(series, step, result);
  }
  return results.values();
}

/** Of each info metric the series with the newest sample. */
function newestAt(infos: readonly GridSeries[], step: number): readonly GridSeries[] {
  const newest = new Map<string, GridSeries>();
  for (const info of infos) {
    if (info.kinds[step] === kind.none) continue;
    const name = metricName(info.labels);
    const known = newest.get(name);
    const [time, knownTime] = [info.floats[step]!, known?.floats[step] ?? -Infinity];
    if (time === knownTime) {
      const existing = labelsText(known!.labels);
      const added = labelsText(info.labels);
      const at = Math.round(time * 1000);
      throw executionError(
        'found duplicate series for info metric: existing ' +
          `${existing} @ ${at}, new ${added} @ ${at}`,
      );
    }
    if (time > knownTime) newest.set(name, info);
  }
  return [...newest.values()];
}

function joinLabels(
  base: Labels,
  infos: readonly GridSeries[],
  wanted: ReadonlySet<string>,
): Labels {
  const added = new Map<string, string>();
  for (const { labels } of infos) {
    for (const [name, value] of labels) {
      if (name === metricNameLabel || (wanted.size > 0 && !wanted.has(name))) continue;
      if (added.has(name) && added.get(name) !== value) {
        throw executionError(`conflicting label: ${name}`);
      }
      if (labelValue(base, name) === '') added.set(name, value);
    }
  }
  let labels = base;
  for (const [name, value] of added) labels = withLabel(labels, name, value);
  return labels;
}
