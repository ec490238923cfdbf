/** What may follow an expression: a range, `offset`, `@`, `anchored` and `smoothed`. */
import type {
  AtModifier,
  Duration,
  Expr,
  Extension,
  MatrixSelector,
  Subquery,
  VectorSelector,
} from './ast.ts';
import { parseNumber } from './numbers.ts';
import type { TokenReader } from './token-reader.ts';

/** @throws QueryError */
export function parseModifiers(reader: TokenReader, primary: Expr): Expr {
  let expr = primary;
  for (;;) {
    if (reader.take('[') !== undefined) expr = parseRange(reader, expr);
    else if (reader.takeWord('offset') !== undefined) expr = parseOffset(reader, expr);
    else if (reader.take('@') !== undefined) expr = parseAt(reader, expr);
    else if (isExtensible(expr) && reader.peeksWord('anchored', 'smoothed')) {
      expr = parseExtension(reader, expr);
    } else return expr;
  }
}

function isExtensible(expr: Expr): boolean {
  return expr.kind === 'selector' || expr.kind === 'range' || expr.kind === 'subquery';
}

function parseRange(reader: TokenReader, expr: Expr): Expr {
  const range = parseDuration(reader, 0);
  checkPositive(reader, range);
  const { start } = expr;
  if (reader.take(':') !== undefined) {
    const hasStep = reader.peek().text !== ']';
    const step = hasStep ? parseDuration(reader, 0) : undefined;
    if (step !== undefined) checkPositive(reader, step);
    const { end } = reader.expect(']', 'in subquery selector');
    return { kind: 'subquery', expr, range, step, offset: undefined, at: undefined, start, end };
  }
  const { end } = reader.expect(']', 'in matrix selector, expected ":" or "]"');
  if (expr.kind !== 'selector') {
    throw reader.error('ranges only allowed for vector selectors', start);
  }
  if (expr.offset !== undefined) {
    throw reader.error('no offset modifiers allowed before range', start);
  }
  if (expr.at !== undefined) throw reader.error('no @ modifiers allowed before range', start);
  return { kind: 'range', selector: expr, range, start, end };
}

function checkPositive(reader: TokenReader, duration: Duration): void {
  if (duration.kind === 'number' && duration.value <= 0) {
    throw reader.error('duration must be greater than 0', duration.start);
  }
}

function parseOffset(reader: TokenReader, expr: Expr): Expr {
  const offset = parseOffsetDuration(reader);
  const target = requireTarget(reader, expr, 'offset');
  if (target.offset !== undefined) {
    throw reader.error('offset may not be set multiple times', expr.start);
  }
  return withTarget(expr, { ...target, offset, end: offset.end });
}

function parseAt(reader: TokenReader, expr: Expr): Expr {
  const at = parseTime(reader);
  const target = requireTarget(reader, expr, '@');
  if (target.at !== undefined) {
    throw reader.error('@ <timestamp> may not be set multiple times', expr.start);
  }
  return withTarget(expr, { ...target, at, end: reader.lastEnd() });
}

function parseTime(reader: TokenReader): AtModifier {
  const word = reader.takeWord('start', 'end');
  if (word !== undefined) {
    reader.expect('(', 'in @');
    reader.expect(')', 'in @');
    return word === 'start' ? 'start' : 'end';
  }
  const at = reader.peek().start;
  const seconds = reader.signedNumber('in @, expected timestamp');
  const ms = Math.round(seconds * 1000);
  if (Math.abs(ms) < 2 ** 53) return ms;
  throw reader.error(`timestamp out of bounds for @ modifier: ${seconds}`, at);
}

function parseExtension(reader: TokenReader, expr: Expr): Expr {
  const extension = reader.takeWord('anchored', 'smoothed') as Extension;
  const target = targetOf(expr);
  if (target?.kind !== 'selector') {
    throw reader.error(`${extension} modifier is not supported for subqueries`, expr.start);
  }
  if (target.extension !== undefined && target.extension !== extension) {
    const reason = 'anchored and smoothed modifiers cannot be used together';
    throw reader.error(reason, expr.start);
  }
  return withTarget(expr, { ...target, extension, end: reader.lastEnd() });
}

/** The part of an expression that carries its modifiers. */
function targetOf(expr: Expr): VectorSelector | Subquery | undefined {
  if (expr.kind === 'range') return expr.selector;
  return expr.kind === 'selector' || expr.kind === 'subquery' ? expr : undefined;
}

function requireTarget(
  reader: TokenReader,
  expr: Expr,
  modifier: 'offset' | '@',
): VectorSelector | Subquery {
  const target = targetOf(expr);
  if (target !== undefined) return target;
  const where = 'an instant vector selector or range vector selector or a subquery';
  throw reader.error(`${modifier} modifier must be preceded by ${where}`, expr.start);
}

function withTarget(expr: Expr, target: VectorSelector | Subquery): Expr {
  if (expr.kind !== 'range' || target.kind !== 'selector') return target;
  return { ...expr, selector: target, end: target.end } satisfies MatrixSelector;
}

const precedences: Readonly<Record<string, number>> = {
  '+': 1,
  '-': 1,
  '*': 2,
  '/': 2,
  '%': 2,
  '^': 4,
};
const signPrecedence = 3;

function parseDuration(reader: TokenReader, above: number): Duration {
  let left = parseSigned(reader, () => parseDuration(reader, signPrecedence));
  for (;;) {
    const { kind, text } = reader.peek();
    const precedence = kind === 'symbol' ? precedences[text] : undefined;
    if (precedence === undefined || precedence <= above) return left;
    reader.next();
    const right = parseDuration(reader, text === '^' ? precedence - 1 : precedence);
    const op = text as '+' | '-' | '*' | '/' | '%' | '^';
    left = { kind: 'duration', op, left, right, start: left.start, end: right.end };
  }
}

/** Without parentheses it is one term, so that `a offset 5m + b` is a sum. */
function parseOffsetDuration(reader: TokenReader): Duration {
  return parseSigned(reader, () => parseOffsetDuration(reader));
}

function parseSigned(reader: TokenReader, parseOperand: () => Duration): Duration {
  const sign = reader.take('-') ?? reader.take('+');
  if (sign === undefined) return parseTerm(reader);
  const expr = parseOperand();
  const { start } = sign;
  if (sign.text === '+') return { ...expr, start };
  if (expr.kind === 'number') return { ...expr, start, value: -expr.value };
  return { kind: 'negative', expr, start, end: expr.end };
}

function parseTerm(reader: TokenReader): Duration {
  const token = reader.next();
  const { start } = token;
  if (token.kind === 'number') {
    const parsed = parseNumber(token.text);
    if (parsed === undefined) throw reader.unexpected(token, 'in duration expression');
    return { kind: 'number', ...parsed, start, end: token.end };
  }
  if (token.kind === 'symbol' && token.text === '(') {
    const expr = parseDuration(reader, 0);
    const { end } = reader.expect(')', 'in duration expression');
    return { kind: 'parens', expr, start, end };
  }
  const name = token.kind === 'word' ? token.text.toLowerCase() : '';
  if (name === 'step' || name === 'range') {
    reader.expect('(', 'in duration expression');
    const { end } = reader.expect(')', 'in duration expression');
    return { kind: name === 'step' ? 'step' : 'length', start, end };
  }
  if (name === 'min_of' || name === 'max_of') {
    reader.expect('(', 'in duration expression');
    const left = parseDuration(reader, 0);
    reader.expect(',', 'in duration expression');
    const right = parseDuration(reader, 0);
    const { end } = reader.expect(')', 'in duration expression');
    return { kind: 'duration', op: name, left, right, start, end };
  }
  throw reader.unexpected(token, 'in duration expression');
}
