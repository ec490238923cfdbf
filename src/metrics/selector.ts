/** Series selectors in parameters: PromQL, of which selectors alone are taken. Pure. */
import { AppError } from '../model/errors.ts';
import type { Selector } from '../model/metric-plan.ts';
import { QueryError } from '../promql/errors.ts';
import type { Expr } from '../promql/parser/ast.ts';
import { parseQuery } from '../promql/parser/parser.ts';

/**
 * @param parameter name of the parameter, for the message.
 * @throws AppError `malformed`, with line and column of the fault
 */
export function parseSelector(text: string, parameter: string): Selector {
  const expr = parse(text, parameter);
  const isBare = expr.kind === 'selector' && expr.offset === undefined && expr.at === undefined;
  if (isBare && expr.extension === undefined) return expr.matchers;
  throw fault(parameter, 'it must be one series selector, without a range or modifiers');
}

/**
 * All selectors of an expression, without their ranges and modifiers.
 * @throws AppError `malformed`
 */
export function parseSelectors(text: string, parameter: string): Selector[] {
  return selectorsOf(parse(text, parameter));
}

function selectorsOf(expr: Expr): Selector[] {
  switch (expr.kind) {
    case 'selector':
      return [expr.matchers];
    case 'range':
      return [expr.selector.matchers];
    case 'binary':
      return [...selectorsOf(expr.left), ...selectorsOf(expr.right)];
    case 'call':
      return expr.args.flatMap(selectorsOf);
    case 'aggregation':
      return [...selectorsOf(expr.expr), ...(expr.param ? selectorsOf(expr.param) : [])];
    case 'number':
    case 'string':
      return [];
    default:
      return selectorsOf(expr.expr);
  }
}

function parse(text: string, parameter: string): Expr {
  try {
    return parseQuery(text);
  } catch (error) {
    throw error instanceof QueryError ? fault(parameter, error.message) : error;
  }
}

function fault(parameter: string, reason: string): AppError {
  const message = `cannot read the series selector in ${parameter}: ${reason}`;
  return new AppError('malformed', message, { parameter });
}
