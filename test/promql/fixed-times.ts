/** A query whose selectors all have `@`, so that it has one answer at any time. */
import type {
  Expr,
  MatrixSelector,
  Subquery,
  VectorSelector,
} from '../../src/promql/parser/ast.ts';

/** Their answer depends on the time of evaluation, too. */
const unsafe = new Set(
  (
    'days_in_month day_of_month day_of_week day_of_year end hour minute month year ' +
    'predict_linear range start step time timestamp'
  ).split(' '),
);

/** @returns undefined where a function depends on the time of evaluation. */
export function withFixedTimes(expr: Expr, timeMs: number): Expr | undefined {
  return isSafe(expr) ? fix(expr, timeMs) : undefined;
}

function isSafe(expr: Expr): boolean {
  if (expr.kind === 'call') return !unsafe.has(expr.name) && expr.args.every(isSafe);
  if (expr.kind === 'binary') return isSafe(expr.left) && isSafe(expr.right);
  if (expr.kind === 'aggregation') return isSafe(expr.expr) && isSafe(expr.param ?? expr.expr);
  return 'expr' in expr ? isSafe(expr.expr) : true;
}

function fix(expr: Expr, timeMs: number): Expr {
  switch (expr.kind) {
    case 'selector':
      return fixOne(expr, timeMs);
    case 'range':
      return { ...expr, selector: fixOne(expr.selector, timeMs) } satisfies MatrixSelector;
    case 'subquery':
      // Its time holds for all within.
      return { ...expr, at: expr.at ?? timeMs } satisfies Subquery;
    case 'call':
      return { ...expr, args: expr.args.map((arg) => fix(arg, timeMs)) };
    case 'binary':
      return { ...expr, left: fix(expr.left, timeMs), right: fix(expr.right, timeMs) };
    case 'aggregation': {
      const param = expr.param && fix(expr.param, timeMs);
      return { ...expr, expr: fix(expr.expr, timeMs), param };
    }
    case 'paren':
    case 'unary':
      return { ...expr, expr: fix(expr.expr, timeMs) };
    default:
      return expr;
  }
}

function fixOne(selector: VectorSelector, timeMs: number): VectorSelector {
  return { ...selector, at: selector.at ?? timeMs };
}
