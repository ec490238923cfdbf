/** Expressions as text: in one line, or split where they are long. */
import { isPlainMetricName, quoteName } from '../labels.ts';
import { type LabelMatcher, metricNameLabel } from '../../model/metric-plan.ts';
import type {
  Aggregation,
  BinaryExpr,
  Duration,
  Expr,
  Matching,
  Subquery,
  VectorSelector,
} from './ast.ts';
import { formatDuration, formatNumber } from './numbers.ts';

const maxColumns = 100;
const indent = '  ';

/** Splits expressions of more than 100 characters. */
export function prettyExpr(expr: Expr): string {
  // Each level prints its expression to know whether it fits in a line.
  const lines = new Map<Expr, string>();
  const print = (one: Expr): string => {
    const line = lines.get(one) ?? printExpr(one, print);
    lines.set(one, line);
    return line;
  };
  return splitExpr(expr, 0, print);
}

type Print = (expr: Expr) => string;

function splitExpr(expr: Expr, level: number, print: Print): string {
  const margin = indent.repeat(level);
  const line = print(expr);
  if (line.length <= maxColumns) return margin + line;
  const inner = (child: Expr) => splitExpr(child, level + 1, print);
  switch (expr.kind) {
    case 'aggregation': {
      const args = expr.param === undefined ? [expr.expr] : [expr.param, expr.expr];
      return `${margin}${headOf(expr)}(\n${args.map(inner).join(',\n')}\n${margin})`;
    }
    case 'call':
      return `${margin}${expr.name}(\n${expr.args.map(inner).join(',\n')}\n${margin})`;
    case 'paren':
      return `${margin}(\n${inner(expr.expr)}\n${margin})`;
    case 'binary':
      return `${inner(expr.left)}\n${margin}${operatorOf(expr)}\n${inner(expr.right)}`;
    case 'unary':
      return `${margin}${expr.op}${splitExpr(expr.expr, level, print).trimStart()}`;
    case 'subquery':
      return splitExpr(expr.expr, level, print) + subquerySuffix(expr);
    default:
      return margin + line;
  }
}

/** @param print of the expressions within it */
export function printExpr(expr: Expr, print: Print = printExpr): string {
  switch (expr.kind) {
    case 'number':
      return expr.isDuration ? formatDuration(expr.value) : formatNumber(expr.value);
    case 'string':
      return JSON.stringify(expr.value);
    case 'selector':
      return printSelector(expr) + modifiersOf(expr);
    case 'range': {
      const range = printDuration(expr.range);
      return `${printSelector(expr.selector)}[${range}]${modifiersOf(expr.selector)}`;
    }
    case 'subquery':
      return print(expr.expr) + subquerySuffix(expr);
    case 'call':
      return `${expr.name}(${expr.args.map((arg) => print(arg)).join(', ')})`;
    case 'aggregation': {
      const param = expr.param === undefined ? '' : `${print(expr.param)}, `;
      return `${headOf(expr)}(${param}${print(expr.expr)})`;
    }
    case 'binary':
      return `${print(expr.left)} ${operatorOf(expr)} ${print(expr.right)}`;
    case 'unary':
      return expr.op + print(expr.expr);
    case 'paren':
      return `(${print(expr.expr)})`;
  }
}

function headOf({ op, grouping, without }: Aggregation): string {
  if (!without && grouping.length === 0) return op;
  return `${op} ${without ? 'without' : 'by'} ${printLabels(grouping)} `;
}

function printLabels(labels: readonly string[]): string {
  return `(${labels.map(quoteName).join(', ')})`;
}

function operatorOf({ op, returnBool, matching }: BinaryExpr): string {
  return `${op}${returnBool ? ' bool' : ''}${printMatching(matching)}`;
}

function printMatching({ on, labels, many, include, isExplicit, fillLeft, fillRight }: Matching) {
  let text = '';
  if (isExplicit && (on || labels.length > 0 || many !== undefined)) {
    text += ` ${on ? 'on' : 'ignoring'} ${printLabels(labels)}`;
  }
  if (many !== undefined) text += ` group_${many} ${printLabels(include)}`;
  if (fillLeft !== undefined && fillLeft === fillRight) {
    return `${text} fill (${formatNumber(fillLeft)})`;
  }
  if (fillLeft !== undefined) text += ` fill_left (${formatNumber(fillLeft)})`;
  if (fillRight !== undefined) text += ` fill_right (${formatNumber(fillRight)})`;
  return text;
}

function printSelector({ name, matchers }: VectorSelector): string {
  const quoted = name !== undefined && !isPlainMetricName(name);
  const shown = matchers.filter(
    (matcher) => name === undefined || quoted || !isName(matcher, name),
  );
  const texts = shown.map(printMatcher);
  const braces = texts.length > 0 ? `{${texts.join(',')}}` : '';
  return `${quoted ? '' : (name ?? '')}${braces || (name === undefined ? '{}' : '')}`;
}

function isName({ name, type, value }: LabelMatcher, metric: string): boolean {
  return name === metricNameLabel && type === 'equal' && value === metric;
}

export const matcherSigns = {
  equal: '=',
  notEqual: '!=',
  matches: '=~',
  notMatches: '!~',
} as const;

function printMatcher({ name, type, value }: LabelMatcher): string {
  if (name === metricNameLabel && type === 'equal') return JSON.stringify(value);
  return `${quoteName(name)}${matcherSigns[type]}${JSON.stringify(value)}`;
}

function subquerySuffix(expr: Subquery): string {
  const step = expr.step === undefined ? '' : printDuration(expr.step);
  return `[${printDuration(expr.range)}:${step}]${modifiersOf(expr)}`;
}

function modifiersOf(expr: VectorSelector | Subquery): string {
  let text = '';
  if (typeof expr.at === 'number') text += ` @ ${(expr.at / 1000).toFixed(3)}`;
  else if (expr.at !== undefined) text += ` @ ${expr.at}()`;
  if (expr.kind === 'selector' && expr.extension !== undefined) text += ` ${expr.extension}`;
  if (expr.offset !== undefined) text += ` offset ${printDuration(expr.offset)}`;
  return text;
}

function printDuration(duration: Duration): string {
  return duration.kind === 'number' ? formatDuration(duration.value) : printTerm(duration);
}

/** Within an expression plain numbers are factors. */
function printTerm(duration: Duration): string {
  switch (duration.kind) {
    case 'number':
      return printExpr(duration);
    case 'negative':
      return `-${printTerm(duration.expr)}`;
    case 'parens':
      return `(${printTerm(duration.expr)})`;
    case 'step':
      return 'step()';
    case 'length':
      return 'range()';
    case 'duration': {
      const { op, left, right } = duration;
      const [a, b] = [printTerm(left), printTerm(right)] as const;
      return op === 'min_of' || op === 'max_of' ? `${op}(${a}, ${b})` : `${a} ${op} ${b}`;
    }
  }
}
