/** The syntax tree of PromQL. Plain data; offsets are UTF-16 units of the query text. */
import type { LabelMatcher } from '../../model/metric-plan.ts';

export interface Span {
  readonly start: number;
  readonly end: number;
}

export type ValueType = 'scalar' | 'vector' | 'matrix' | 'string';

export type Expr =
  | NumberLiteral
  | StringLiteral
  | VectorSelector
  | MatrixSelector
  | Subquery
  | Call
  | Aggregation
  | BinaryExpr
  | UnaryExpr
  | ParenExpr;

export interface NumberLiteral extends Span {
  readonly kind: 'number';
  readonly value: number;
  /** Whether it was written as a duration, for printing. */
  readonly isDuration: boolean;
}

export interface StringLiteral extends Span {
  readonly kind: 'string';
  readonly value: string;
}

/** Unix ms, or a bound of the query. */
export type AtModifier = number | 'start' | 'end';

/** How samples beyond the range complete it; absent = as they are. */
export type Extension = 'anchored' | 'smoothed';

export interface VectorSelector extends Span {
  readonly kind: 'selector';
  /** Written before the braces; it is also among the matchers. */
  readonly name: string | undefined;
  readonly matchers: readonly LabelMatcher[];
  readonly offset: Duration | undefined;
  readonly at: AtModifier | undefined;
  readonly extension: Extension | undefined;
}

export interface MatrixSelector extends Span {
  readonly kind: 'range';
  readonly selector: VectorSelector;
  readonly range: Duration;
}

export interface Subquery extends Span {
  readonly kind: 'subquery';
  readonly expr: Expr;
  readonly range: Duration;
  /** Absent = the evaluation interval of the engine. */
  readonly step: Duration | undefined;
  readonly offset: Duration | undefined;
  readonly at: AtModifier | undefined;
}

export interface Call extends Span {
  readonly kind: 'call';
  readonly name: string;
  readonly args: readonly Expr[];
}

export interface Aggregation extends Span {
  readonly kind: 'aggregation';
  readonly op: AggregationOp;
  readonly expr: Expr;
  readonly param: Expr | undefined;
  readonly grouping: readonly string[];
  readonly without: boolean;
}

export interface BinaryExpr extends Span {
  readonly kind: 'binary';
  readonly op: BinaryOp;
  readonly left: Expr;
  readonly right: Expr;
  readonly returnBool: boolean;
  readonly matching: Matching;
}

/** How the sides of an operator are paired. */
export interface Matching {
  readonly on: boolean;
  readonly labels: readonly string[];
  /** The side with several series for one on the other. */
  readonly many: 'left' | 'right' | undefined;
  /** Labels copied from the other side. */
  readonly include: readonly string[];
  readonly fillLeft: number | undefined;
  readonly fillRight: number | undefined;
  /** Whether `on` or `ignoring` was written. */
  readonly isExplicit: boolean;
}

export interface UnaryExpr extends Span {
  readonly kind: 'unary';
  readonly op: '+' | '-';
  readonly expr: Expr;
}

export interface ParenExpr extends Span {
  readonly kind: 'paren';
  readonly expr: Expr;
}

/** A length of time, which may depend on the step and range of the query. */
export type Duration =
  | NumberLiteral
  | (Span & {
      readonly kind: 'duration';
      readonly op: '+' | '-' | '*' | '/' | '%' | '^' | 'min_of' | 'max_of';
      readonly left: Duration;
      readonly right: Duration;
    })
  | (Span & { readonly kind: 'negative'; readonly expr: Duration })
  | (Span & { readonly kind: 'parens'; readonly expr: Duration })
  | (Span & { readonly kind: 'step' | 'length' });

export const aggregationOps = [
  'avg',
  'bottomk',
  'count',
  'count_values',
  'group',
  'limitk',
  'limit_ratio',
  'max',
  'min',
  'quantile',
  'stddev',
  'stdvar',
  'sum',
  'topk',
] as const;

export type AggregationOp = (typeof aggregationOps)[number];

/** Operators with their precedence; `^` alone groups to the right. */
export const binaryOps = {
  or: 1,
  and: 2,
  unless: 2,
  '==': 3,
  '!=': 3,
  '<=': 3,
  '<': 3,
  '>=': 3,
  '>': 3,
  '</': 3,
  '>/': 3,
  '+': 4,
  '-': 4,
  '*': 5,
  '/': 5,
  '%': 5,
  atan2: 5,
  '^': 7,
} as const;

export type BinaryOp = keyof typeof binaryOps;

/** Of `+` and `-` before an expression. */
export const unaryPrecedence = 6;

export function isComparison(op: BinaryOp): boolean {
  return ['==', '!=', '<=', '<', '>=', '>'].includes(op);
}

export function isSetOperator(op: BinaryOp): boolean {
  return op === 'and' || op === 'or' || op === 'unless';
}

/** The expression inside of any parentheses. */
export function withoutParens(expr: Expr): Expr {
  return expr.kind === 'paren' ? withoutParens(expr.expr) : expr;
}

/** The expressions of which it consists, in order. */
export function childrenOf(node: Expr): readonly Expr[] {
  switch (node.kind) {
    case 'range':
      return [node.selector];
    case 'subquery':
    case 'unary':
    case 'paren':
      return [node.expr];
    case 'aggregation':
      return node.param === undefined ? [node.expr] : [node.expr, node.param];
    case 'binary':
      return [node.left, node.right];
    case 'call':
      return node.args;
    default:
      return [];
  }
}

export function selectorsIn(expr: Expr): VectorSelector[] {
  return expr.kind === 'selector' ? [expr] : childrenOf(expr).flatMap(selectorsIn);
}
