/**
 * The queries that the builder can say, to and from PromQL. The text is the state: any other query
 * stays text. Pure.
 */
import { isPlainMetricName, quoteName } from '../../../../src/promql/labels.ts';
import type { Aggregation, Expr, VectorSelector } from '../../../../src/promql/parser/ast.ts';
import { formatDuration } from '../../../../src/promql/parser/numbers.ts';
import { parseSyntax } from '../../../../src/promql/parser/parser.ts';
import { matcherSigns, printExpr } from '../../../../src/promql/parser/print.ts';

export interface BuiltQuery {
  readonly metric: string;
  readonly filters: readonly LabelFilter[];
  readonly calculation: Calculation;
  /** Duration such as `5m`; unused with `value`. */
  readonly window: string;
  /** From 0 to 1, of a histogram; undefined = none. */
  readonly quantile: number | undefined;
  /** undefined = every series by itself. */
  readonly combine: Combination | undefined;
  /** Labels that remain; without `le`, which a quantile of buckets adds. */
  readonly by: readonly string[];
  readonly top: Top | undefined;
}

export interface LabelFilter {
  readonly name: string;
  readonly op: FilterOp;
  readonly value: string;
}

export interface Top {
  readonly order: 'topk' | 'bottomk';
  readonly count: number;
}

export const filterOps = Object.values(matcherSigns);
export type FilterOp = (typeof filterOps)[number];
export const calculations = ['value', 'rate', 'increase'] as const;
export type Calculation = (typeof calculations)[number];
export const combinations = ['sum', 'avg', 'min', 'max', 'count'] as const;
export type Combination = (typeof combinations)[number];

const bucketLabel = 'le';

/** Whether the series of this metric are buckets of a classic histogram. */
export function isBuckets(metric: string): boolean {
  return metric.endsWith('_bucket');
}

export function printBuilt(built: BuiltQuery): string {
  const { metric, calculation, window, quantile, combine, by, top } = built;
  let text = printSelector(built);
  if (calculation !== 'value') text = `${calculation}(${text}[${window}])`;
  if (combine !== undefined) {
    const labels = quantile !== undefined && isBuckets(metric) ? [bucketLabel, ...by] : by;
    const grouping = labels.length === 0 ? '' : ` by (${labels.map(quoteName).join(', ')}) `;
    text = `${combine}${grouping}(${text})`;
  }
  if (quantile !== undefined) text = `histogram_quantile(${quantile}, ${text})`;
  return top === undefined ? text : `${top.order}(${top.count}, ${text})`;
}

/** `up{job="api"}`, or `{"a metric",job="api"}` for a name that is no plain word. */
export function printSelector({ metric, filters }: Pick<BuiltQuery, 'metric' | 'filters'>): string {
  const isPlain = isPlainMetricName(metric);
  const matchers = filters.map(({ name, op, value }) => quoteName(name) + op + quote(value));
  const inner = [...(isPlain ? [] : [quote(metric)]), ...matchers].join(',');
  return `${isPlain ? metric : ''}${inner === '' ? '' : `{${inner}}`}`;
}

/** @returns undefined for a text that the builder cannot say, or that cannot be read */
export function parseBuilt(text: string): BuiltQuery | undefined {
  const expr = syntaxOf(text);
  const built = expr && fromTop(expr);
  // The printed form is compared, so that nothing of the text is lost.
  return built && normalized(printBuilt(built)) === printExpr(expr) ? built : undefined;
}

/** Texts with the same syntax have the same normal form; undefined if it cannot be read. */
function normalized(text: string): string | undefined {
  const expr = syntaxOf(text);
  return expr && printExpr(expr);
}

function syntaxOf(text: string): Expr | undefined {
  try {
    return parseSyntax(text);
  } catch {
    // `faultOf` says why.
    return undefined;
  }
}

function fromTop(expr: Expr): BuiltQuery | undefined {
  if (expr.kind !== 'aggregation' || (expr.op !== 'topk' && expr.op !== 'bottomk')) {
    return fromQuantile(expr);
  }
  const count = expr.param?.kind === 'number' ? expr.param.value : Number.NaN;
  const inner = fromQuantile(expr.expr);
  return inner && count >= 1 ? { ...inner, top: { order: expr.op, count } } : undefined;
}

function fromQuantile(expr: Expr): BuiltQuery | undefined {
  if (expr.kind !== 'call' || expr.name !== 'histogram_quantile') return fromAggregation(expr);
  const [quantile, of] = expr.args;
  const inner = quantile?.kind === 'number' && of && fromAggregation(of);
  if (!inner) return undefined;
  const by = isBuckets(inner.metric) ? inner.by.filter((name) => name !== bucketLabel) : inner.by;
  return { ...inner, quantile: quantile.value, by };
}

function fromAggregation(expr: Expr): BuiltQuery | undefined {
  if (expr.kind !== 'aggregation') return fromCalculation(expr);
  const combine = combinationOf(expr);
  const inner = combine && fromCalculation(expr.expr);
  return inner && { ...inner, combine, by: expr.grouping };
}

function combinationOf({ op, without }: Aggregation): Combination | undefined {
  return without ? undefined : combinations.find((name) => name === op);
}

function fromCalculation(expr: Expr): BuiltQuery | undefined {
  if (expr.kind === 'selector') return fromSelector(expr);
  if (expr.kind !== 'call') return undefined;
  const calculation = calculations.find((name) => name === expr.name);
  const [of] = expr.args;
  if (of?.kind !== 'range' || of.range.kind !== 'number') return undefined;
  const inner = calculation && fromSelector(of.selector);
  return inner && { ...inner, calculation, window: formatDuration(of.range.value) };
}

function fromSelector({ matchers }: VectorSelector): BuiltQuery | undefined {
  const [named, ...more] = matchers.filter(({ name }) => name === '__name__');
  if (named?.type !== 'equal' || more.length > 0) return undefined;
  const filters = matchers
    .filter((matcher) => matcher !== named)
    .map(({ name, type, value }) => ({ name, op: matcherSigns[type], value }));
  return { ...plainQuery, metric: named.value, filters };
}

/** The samples of a metric as they are. */
export const plainQuery: BuiltQuery = {
  metric: '',
  filters: [],
  calculation: 'value',
  window: '5m',
  quantile: undefined,
  combine: undefined,
  by: [],
  top: undefined,
};

function quote(text: string): string {
  return JSON.stringify(text);
}
