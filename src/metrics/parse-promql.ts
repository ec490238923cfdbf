/** PromQL from requests: to a syntax tree, with errors as those of a request. */
import { AppError } from '../model/errors.ts';
import type { Selector } from '../model/metric-plan.ts';
import { QueryError } from '../promql/errors.ts';
import type { Expr } from '../promql/parser/ast.ts';
import { parseQuery } from '../promql/parser/parser.ts';

/** @throws AppError `malformed` */
export function parsePromql(text: string, parameter = 'query'): Expr {
  try {
    return parseQuery(text);
  } catch (error) {
    throw error instanceof QueryError ? toAppError(error, parameter) : error;
  }
}

/** A series selector without a range, offset or other modifier. @throws AppError `malformed` */
export function parseSelector(text: string, parameter: string): Selector {
  const expr = parsePromql(text, parameter);
  if (expr.kind === 'selector' && (expr.offset ?? expr.at ?? expr.extension) === undefined) {
    return expr.matchers;
  }
  const shown = JSON.stringify(text.slice(0, 100));
  const message = `cannot read ${parameter} ${shown}: it must be a series selector`;
  throw new AppError('malformed', message, { parameter });
}

/** Dashboards repeat their queries. Trees of long ones take megabytes. */
const mostKept = 500;
const longestKept = 1000;

/** Keeps syntax trees. What it returns throws as `parsePromql` does. */
export function createPromqlParser(): (text: string) => Expr {
  const kept = new Map<string, Expr>();
  return (text) => {
    const known = kept.get(text);
    if (known !== undefined) return known;
    const expr = parsePromql(text);
    if (kept.size >= mostKept) kept.clear();
    if (text.length <= longestKept) kept.set(text, expr);
    return expr;
  };
}

export function toAppError(error: QueryError, parameter = 'query'): AppError {
  const options = { cause: error };
  switch (error.failure) {
    case 'bad_data': {
      const message = `invalid parameter "${parameter}": ${error.message}`;
      return new AppError('malformed', message, { ...options, parameter });
    }
    case 'execution':
      return new AppError('execution', error.message, options);
    case 'timeout':
    case 'canceled':
      return new AppError('query_timeout', error.message, options);
  }
}
