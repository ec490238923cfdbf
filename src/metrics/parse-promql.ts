/** PromQL from requests: to a syntax tree, with errors as those of a request. */
import { AppError } from '../model/errors.ts';
import type { Selector } from '../model/metric-plan.ts';
import { QueryError } from '../promql/errors.ts';
import type { Expr } from '../promql/parser/ast.ts';
import { matches } from '../promql/matchers.ts';
import { checkPatterns } from '../promql/parser/check.ts';
import { parseQuery, parseSyntax } from '../promql/parser/parser.ts';

/** @throws AppError `malformed` */
export function parsePromql(text: string): Expr {
  return withParameter('query', () => parseQuery(text));
}

/**
 * A series selector without a range, offset or other modifier. As in Prometheus it may, other than
 * that of a query, have several names. @throws AppError `malformed`
 */
export function parseSelector(text: string, parameter: string): Selector {
  const expr = withParameter(parameter, () => parseSyntax(text));
  if (expr.kind === 'selector' && (expr.offset ?? expr.at ?? expr.extension) === undefined) {
    const { matchers, start } = expr;
    withParameter(parameter, () => checkPatterns(text, matchers, start));
    if (matchers.some((matcher) => !matches(matcher, ''))) return matchers;
    const reason = `${parameter} must contain at least one non-empty matcher`;
    throw new AppError('malformed', `invalid parameter "${parameter}": ${reason}`, { parameter });
  }
  const shown = JSON.stringify(text.slice(0, 100));
  const message = `cannot read ${parameter} ${shown}: it must be a series selector`;
  throw new AppError('malformed', message, { parameter });
}

function withParameter<Result>(parameter: string, parse: () => Result): Result {
  try {
    return parse();
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
