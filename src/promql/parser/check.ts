/** The rules of PromQL that its grammar does not express: types, arguments and modifiers. */
import { type LabelMatcher, metricNameLabel } from '../../model/metric-plan.ts';
import {
  type BinaryExpr,
  type Call,
  type Expr,
  isComparison,
  isSetOperator,
  type ValueType,
  type VectorSelector,
} from './ast.ts';
import { parseError } from '../errors.ts';
import { matches } from '../matchers.ts';
import { signatureOf } from './signatures.ts';

export function typeOf(expr: Expr): ValueType {
  switch (expr.kind) {
    case 'number':
      return 'scalar';
    case 'string':
      return 'string';
    case 'range':
    case 'subquery':
      return 'matrix';
    case 'selector':
    case 'aggregation':
      return 'vector';
    case 'paren':
    case 'unary':
      return typeOf(expr.expr);
    case 'call':
      return signatureOf(expr.name)!.returns;
    case 'binary':
      return typeOf(expr.left) === 'scalar' && typeOf(expr.right) === 'scalar'
        ? 'scalar'
        : 'vector';
  }
}

const typeNames: Readonly<Record<ValueType, string>> = {
  scalar: 'scalar',
  vector: 'instant vector',
  matrix: 'range vector',
  string: 'string',
};

/** @throws QueryError `bad_data` */
export function checkExpr(text: string, expr: Expr): void {
  const check = (inner: Expr) => checkExpr(text, inner);
  switch (expr.kind) {
    case 'number':
    case 'string':
      return;
    case 'paren':
      return check(expr.expr);
    case 'selector':
      return checkSelector(text, expr);
    case 'range':
      return checkSelector(text, expr.selector);
    case 'subquery':
      check(expr.expr);
      if (typeOf(expr.expr) !== 'vector') {
        const got = `got ${typeNames[typeOf(expr.expr)]} instead`;
        throw parseError(text, expr.start, `subquery is only allowed on instant vector, ${got}`);
      }
      return;
    case 'unary':
      check(expr.expr);
      if (!isScalarOrVector(expr.expr)) {
        const only =
          'unary expression only allowed on expressions of type scalar or instant vector';
        throw parseError(text, expr.start, `${only}, got "${typeNames[typeOf(expr.expr)]}"`);
      }
      return;
    case 'aggregation': {
      check(expr.expr);
      expectType(text, expr.expr, 'vector', 'aggregation expression');
      if (expr.param === undefined) return;
      check(expr.param);
      const wanted = expr.op === 'count_values' ? 'string' : 'scalar';
      return expectType(text, expr.param, wanted, 'aggregation parameter');
    }
    case 'call':
      return checkCall(text, expr);
    case 'binary':
      return checkBinary(text, expr);
  }
}

function isScalarOrVector(expr: Expr): boolean {
  return typeOf(expr) === 'scalar' || typeOf(expr) === 'vector';
}

function expectType(text: string, expr: Expr, wanted: ValueType, where: string): void {
  const got = typeOf(expr);
  if (got === wanted) return;
  const reason = `expected type ${typeNames[wanted]} in ${where}, got ${typeNames[got]}`;
  throw parseError(text, expr.start, reason);
}

function checkSelector(text: string, { name, matchers, start }: VectorSelector): void {
  checkPatterns(text, matchers, start);
  if (name !== undefined) {
    const other = matchers.slice(0, -1).find((matcher) => matcher.name === metricNameLabel);
    if (other === undefined) return;
    const reason = `metric name must not be set twice: "${name}" or "${other.value}"`;
    throw parseError(text, start, reason);
  }
  if (matchers.some((matcher) => !matches(matcher, ''))) return;
  throw parseError(text, start, 'vector selector must contain at least one non-empty matcher');
}

/** @throws QueryError */
export function checkPatterns(
  text: string,
  matchers: readonly LabelMatcher[],
  start: number,
): void {
  for (const matcher of matchers) {
    try {
      matches(matcher, '');
    } catch (error) {
      const why = error instanceof Error ? error.message : 'invalid';
      const prefix = 'error parsing regexp: ';
      throw parseError(text, start, why.startsWith(prefix) ? why : prefix + why);
    }
  }
}

function checkCall(text: string, { name, args, start }: Call): void {
  const { args: types, variadic } = signatureOf(name)!;
  const fail = (bound: string) =>
    parseError(
      text,
      start,
      `expected ${bound} argument(s) in call to "${name}", got ${args.length}`,
    );
  if (variadic === 0 && args.length !== types.length) throw fail(String(types.length));
  if (variadic !== 0) {
    const least = types.length - 1;
    if (args.length < least) throw fail(`at least ${least}`);
    if (variadic > 0 && args.length > least + variadic) throw fail(`at most ${least + variadic}`);
  }
  for (const [index, arg] of args.entries()) {
    if (name === 'info' && index === 1) {
      checkInfoSelector(text, arg);
      continue;
    }
    checkExpr(text, arg);
    const wanted = types[Math.min(index, types.length - 1)]!;
    expectType(text, arg, wanted, `call to function "${name}"`);
  }
}

/** It selects labels, so it may match everything. */
function checkInfoSelector(text: string, arg: Expr): void {
  expectType(text, arg, 'vector', 'call to function "info"');
  if (arg.kind !== 'selector') {
    throw parseError(text, arg.start, 'expected label selectors only');
  }
  if (arg.name !== undefined) {
    const reason = 'expected label selectors only, got vector selector instead';
    throw parseError(text, arg.start, reason);
  }
  checkPatterns(text, arg.matchers, arg.start);
}

function checkBinary(text: string, expr: BinaryExpr): void {
  const { op, left, right, returnBool, matching } = expr;
  checkExpr(text, left);
  checkExpr(text, right);
  const fail = (reason: string, at = expr.start) => parseError(text, at, reason);
  for (const side of [left, right]) {
    if (isScalarOrVector(side)) continue;
    const only = 'binary expression must contain only scalar and instant vector types';
    throw fail(only, side.start);
  }
  if (returnBool && !isComparison(op)) {
    throw fail('bool modifier can only be used on comparison operators');
  }
  const areVectors = typeOf(left) === 'vector' && typeOf(right) === 'vector';
  if (isComparison(op) && !returnBool && typeOf(expr) === 'scalar') {
    throw fail('comparisons between scalars must use BOOL modifier');
  }
  const fills = matching.fillLeft !== undefined || matching.fillRight !== undefined;
  if (!areVectors) {
    if (isSetOperator(op)) {
      throw fail(`set operator "${op}" not allowed in binary scalar expression`);
    }
    if (matching.labels.length > 0) {
      throw fail('vector matching only allowed between instant vectors');
    }
    if (fills) throw fail('filling in missing series only allowed between instant vectors');
  }
  if (isSetOperator(op) && matching.many !== undefined) {
    throw fail(`no grouping allowed for "${op}" operation`);
  }
  if (isSetOperator(op) && fills) {
    throw fail('filling in missing series not allowed for set operators');
  }
  const twice = matching.on && matching.labels.find((label) => matching.include.includes(label));
  if (typeof twice === 'string') {
    throw fail(`label "${twice}" must not occur in ON and GROUP clause at once`);
  }
}
