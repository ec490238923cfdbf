/** PromQL from requests: to a syntax tree, with errors as those of a request. */
import { AppError } from '../model/errors.ts';
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
