/** Binary operators on single samples. */
import type { BinaryExpr, BinaryOp } from './parser/ast.ts';
import type { Evaluation } from './evaluation.ts';
import { add, MixedSchemasError, subtract } from './histogram/histogram-sum.ts';
import { trimHistogram } from './histogram/histogram-trim.ts';
import { divide, equals, type Histogram, multiply, withHint } from './histogram/histogram.ts';
import { type GridSeries, histogramAt } from './values.ts';

export type Operand = number | Histogram;

export interface Outcome {
  /** Undefined = not defined for these types. */
  readonly value: Operand | undefined;
  /** Whether a comparison holds. */
  readonly keep: boolean;
  readonly collision?: boolean;
  readonly reconciled?: boolean;
}

const undefinedOutcome: Outcome = { value: undefined, keep: false };

export function calculateScalar(op: BinaryOp, left: number, right: number): number {
  const compared = compare(op, left, right);
  if (compared !== undefined) return compared ? 1 : 0;
  return arithmetic(op, left, right) ?? Number.NaN;
}

function arithmetic(op: BinaryOp, left: number, right: number): number | undefined {
  switch (op) {
    case '+':
      return left + right;
    case '-':
      return left - right;
    case '*':
      return left * right;
    case '/':
      return left / right;
    case '%':
      return left % right;
    case '^':
      return power(left, right);
    case 'atan2':
      return Math.atan2(left, right);
    default:
      return undefined;
  }
}

/** IEEE 754, where a base of 1 or -1 makes 1 even with NaN or infinity. */
function power(base: number, exponent: number): number {
  if (base === 1) return 1;
  if (base === -1 && !Number.isFinite(exponent) && !Number.isNaN(exponent)) return 1;
  return base ** exponent;
}

function compare(op: BinaryOp, left: number, right: number): boolean | undefined {
  switch (op) {
    case '==':
      return left === right;
    case '!=':
      return left !== right;
    case '<':
      return left < right;
    case '<=':
      return left <= right;
    case '>':
      return left > right;
    case '>=':
      return left >= right;
    default:
      return undefined;
  }
}

/** @throws MixedSchemasError */
function calculate(op: BinaryOp, left: Operand, right: Operand): Outcome {
  if (typeof left === 'number') {
    if (typeof right === 'number') return calculateFloats(op, left, right);
    return op === '*' ? { value: multiply(right, left), keep: true } : undefinedOutcome;
  }
  return typeof right === 'number'
    ? calculateWithFloat(op, left, right)
    : calculateHistograms(op, left, right);
}

function calculateFloats(op: BinaryOp, left: number, right: number): Outcome {
  const keep = compare(op, left, right);
  if (keep !== undefined) return { value: left, keep };
  return { value: arithmetic(op, left, right), keep: true };
}

function calculateWithFloat(op: BinaryOp, left: Histogram, right: number): Outcome {
  switch (op) {
    case '*':
      return { value: multiply(left, right), keep: true };
    case '/':
      return { value: divide(left, right), keep: true };
    case '</':
      return { value: trimHistogram(left, right, 'upper'), keep: true };
    case '>/':
      return { value: trimHistogram(left, right, 'lower'), keep: true };
    default:
      return undefinedOutcome;
  }
}

function calculateHistograms(op: BinaryOp, left: Histogram, right: Histogram): Outcome {
  switch (op) {
    case '+': {
      const { histogram, ...notes } = add(left, right);
      return { value: histogram, keep: true, ...notes };
    }
    case '-': {
      const { histogram, ...notes } = subtract(left, right);
      return { value: withHint(histogram, 'gauge'), keep: true, ...notes };
    }
    case '==':
      return { value: left, keep: equals(left, right) };
    case '!=':
      return { value: left, keep: !equals(left, right) };
    default:
      return undefinedOutcome;
  }
}

/** Operators of arithmetic make another quantity of it. */
export function changesQuantity({ op }: BinaryExpr): boolean {
  return ['+', '-', '*', '/', '%', '^', 'atan2'].includes(op);
}

export function operandAt(series: GridSeries, step: number): Operand {
  return histogramAt(series, step) ?? series.floats[step]!;
}

/** @returns undefined where the operands do not go together, which is noted */
export function calculateNoted(
  ev: Evaluation,
  expr: BinaryExpr,
  left: Operand,
  right: Operand,
): { readonly value: number | Histogram; readonly keep: boolean } | undefined {
  try {
    const { value, keep, collision, reconciled } = calculate(expr.op, left, right);
    const operation = expr.op === '+' ? 'addition' : 'subtraction';
    if (collision === true) {
      ev.notes.warn(expr, `conflicting counter resets during histogram ${operation}`);
    }
    if (reconciled === true) {
      ev.notes.info(expr, `mismatched custom buckets were reconciled during ${operation}`);
    }
    if (value !== undefined) return { value, keep };
    const shown = `"${expr.op}": ${typeName(left)} ${expr.op} ${typeName(right)}`;
    ev.notes.info(expr, `incompatible sample types encountered for binary operator ${shown}`);
  } catch (error) {
    if (!(error instanceof MixedSchemasError)) throw error;
    const text = 'incompatible bucket layout encountered for binary operator';
    ev.notes.warn(expr, `${text} ${expr.op}`);
  }
  return undefined;
}

function typeName(operand: Operand): string {
  return typeof operand === 'number' ? 'float' : 'histogram';
}
