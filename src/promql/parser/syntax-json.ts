/** The syntax tree as Prometheus' `parse_query` shows it. */
import type { LabelMatcher } from '../../model/metric-plan.ts';
import {
  isSetOperator,
  type BinaryExpr,
  type Duration,
  type Expr,
  type VectorSelector,
} from './ast.ts';
import { typeOf } from './check.ts';
import { formatNumber } from './numbers.ts';
import { matcherSigns } from './print.ts';
import { signatureOf } from './signatures.ts';

type Json = Readonly<Record<string, unknown>>;

export function syntaxJson(expr: Expr): Json {
  switch (expr.kind) {
    case 'number':
      return { type: 'numberLiteral', val: formatNumber(expr.value) };
    case 'string':
      return { type: 'stringLiteral', val: expr.value };
    case 'selector':
      return { type: 'vectorSelector', ...selectorJson(expr) };
    case 'range': {
      const [range, rangeExpr] = durationJson(expr.range);
      return { type: 'matrixSelector', ...selectorJson(expr.selector), range, rangeExpr };
    }
    case 'subquery': {
      const [range, rangeExpr] = durationJson(expr.range);
      const [step, stepExpr] = durationJson(expr.step);
      const length = { range, rangeExpr, step, stepExpr };
      return { type: 'subquery', expr: syntaxJson(expr.expr), ...length, ...timesJson(expr) };
    }
    case 'call': {
      const { args, variadic, returns } = signatureOf(expr.name)!;
      const func = { name: expr.name, argTypes: args, variadic, returnType: returns };
      return { type: 'call', func, args: expr.args.map(syntaxJson) };
    }
    case 'aggregation': {
      const { op, grouping, without, param } = expr;
      const children = { expr: syntaxJson(expr.expr), param: param ? syntaxJson(param) : null };
      return { type: 'aggregation', op, ...children, grouping, without };
    }
    case 'binary':
      return binaryJson(expr);
    case 'unary':
      return { type: 'unaryExpr', op: expr.op, expr: syntaxJson(expr.expr) };
    case 'paren':
      return { type: 'parenExpr', expr: syntaxJson(expr.expr) };
  }
}

function binaryJson(expr: BinaryExpr): Json {
  const { op, left, right, returnBool, matching } = expr;
  const areVectors = typeOf(left) === 'vector' && typeOf(right) === 'vector';
  const { many, labels, on, include, fillLeft = null, fillRight = null } = matching;
  const cards = { left: 'many-to-one', right: 'one-to-many' } as const;
  const plain = isSetOperator(op) ? 'many-to-many' : 'one-to-one';
  const card = many === undefined ? plain : cards[many];
  const fillValues = { lhs: fillLeft, rhs: fillRight };
  return {
    type: 'binaryExpr',
    op,
    lhs: syntaxJson(left),
    rhs: syntaxJson(right),
    matching: areVectors ? { card, labels, on, include, fillValues } : null,
    bool: returnBool,
  };
}

function selectorJson(selector: VectorSelector): Json {
  const { name = '', matchers, extension } = selector;
  return {
    name,
    matchers: matchers.map(matcherJson),
    ...timesJson(selector),
    anchored: extension === 'anchored',
    smoothed: extension === 'smoothed',
  };
}

function matcherJson({ name, type, value }: LabelMatcher): Json {
  return { name, value, type: matcherSigns[type] };
}

function timesJson({ offset, at }: Pick<VectorSelector, 'offset' | 'at'>): Json {
  const [offsetMs, offsetExpr] = durationJson(offset);
  const isBound = at === 'start' || at === 'end';
  const times = { timestamp: isBound ? null : (at ?? null), startOrEnd: isBound ? at : null };
  return { offset: offsetMs, offsetExpr, ...times };
}

/** Milliseconds, and the expression where there is one. */
function durationJson(duration: Duration | undefined): readonly [number, Json | null] {
  if (duration === undefined) return [0, null];
  if (duration.kind === 'number') return [Math.round(duration.value * 1000), null];
  return [0, durationTree(duration, false)];
}

function durationTree(duration: Duration, wrapped: boolean): Json | null {
  const node = { type: 'durationExpr', lhs: null, rhs: null, wrapped };
  switch (duration.kind) {
    case 'number': {
      const { value, isDuration } = duration;
      return { type: 'numberLiteral', val: formatNumber(value), duration: isDuration };
    }
    case 'parens':
      return durationTree(duration.expr, true);
    case 'negative':
      return { ...node, op: '-', rhs: durationTree(duration.expr, false) };
    case 'step':
      return { ...node, op: 'step' };
    case 'length':
      return { ...node, op: 'range' };
    case 'duration': {
      const lhs = durationTree(duration.left, false);
      return { ...node, op: duration.op, lhs, rhs: durationTree(duration.right, false) };
    }
  }
}
