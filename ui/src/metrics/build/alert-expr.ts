/** The expression of an alert from a query. Pure. */
import { isComparison, isSetOperator } from '../../../../src/promql/parser/ast.ts';
import { parseSyntax } from '../../../../src/promql/parser/parser.ts';
import { printExpr } from '../../../../src/promql/parser/print.ts';

/**
 * A query that compares or combines series selects them already; any other one is compared with 0.
 * @param text PromQL that can be read
 */
export function alertExprOf(text: string): string {
  const expr = parseSyntax(text);
  // Printed, since the text may end with a comment.
  if (expr.kind !== 'binary') return `${printExpr(expr)} > 0`;
  return isComparison(expr.op) || isSetOperator(expr.op) ? text : `(${printExpr(expr)}) > 0`;
}
