/** Parses PromQL into its syntax tree: precedence climbing over the tokens. */
import { type LabelMatcher, type MatcherType, metricNameLabel } from '../../model/metric-plan.ts';
import {
  type Aggregation,
  type AggregationOp,
  type BinaryOp,
  type Call,
  type Expr,
  type Matching,
  type VectorSelector,
  aggregationOps,
  binaryOps,
  unaryPrecedence,
} from './ast.ts';
import { checkExpr } from './check.ts';
import { parseModifiers } from './modifiers.ts';
import { parseNumber } from './numbers.ts';
import { signatureOf } from './signatures.ts';
import { TokenReader } from './token-reader.ts';

/** @throws QueryError `bad_data` with line and column */
export function parseQuery(text: string): Expr {
  const expr = parseSyntax(text);
  checkExpr(text, expr);
  return expr;
}

/** Without the check of types. @throws QueryError `bad_data` with line and column */
export function parseSyntax(text: string): Expr {
  const reader = new TokenReader(text);
  if (reader.peek().kind === 'end') throw reader.error('no expression found in input');
  const expr = parseExpr(reader, 0);
  if (reader.peek().kind !== 'end') throw reader.unexpected();
  return expr;
}

/** Nesting beyond this could exhaust the stack. */
const maxDepth = 500;
/** Each one nests what is left of it. */
const maxOperators = 1500;

const matcherTypes: Readonly<Record<string, MatcherType>> = {
  '=': 'equal',
  '!=': 'notEqual',
  '=~': 'matches',
  '!~': 'notMatches',
};

function parseExpr(reader: TokenReader, above: number): Expr {
  reader.depth += 1;
  if (reader.depth > maxDepth) throw reader.error(`expression nested deeper than ${maxDepth}`);
  let left = parseUnary(reader);
  for (;;) {
    const op = binaryOpOf(reader);
    if (op === undefined || binaryOps[op] <= above) break;
    reader.next();
    reader.operators += 1;
    if (reader.operators > maxOperators) {
      throw reader.error(`expression has more than ${maxOperators} operators`);
    }
    const { returnBool, matching } = parseBinaryModifiers(reader);
    const right = parseExpr(reader, op === '^' ? binaryOps[op] - 1 : binaryOps[op]);
    const { start } = left;
    const { end } = right;
    left = { kind: 'binary', op, left, right, returnBool, matching, start, end };
  }
  reader.depth -= 1;
  return left;
}

function binaryOpOf(reader: TokenReader): BinaryOp | undefined {
  const { kind, text } = reader.peek();
  if (kind !== 'symbol' && kind !== 'word') return undefined;
  const op = text.toLowerCase();
  return Object.hasOwn(binaryOps, op) ? (op as BinaryOp) : undefined;
}

function parseUnary(reader: TokenReader): Expr {
  const sign = reader.peek();
  if (sign.kind !== 'symbol' || (sign.text !== '-' && sign.text !== '+')) {
    return parseModifiers(reader, parsePrimary(reader));
  }
  reader.next();
  const expr = parseExpr(reader, unaryPrecedence);
  const { start } = sign;
  if (expr.kind === 'number') {
    return { ...expr, start, value: sign.text === '-' ? -expr.value : expr.value };
  }
  return { kind: 'unary', op: sign.text, expr, start, end: expr.end };
}

function parsePrimary(reader: TokenReader): Expr {
  const token = reader.peek();
  const { start, end } = token;
  if (token.kind === 'string') {
    reader.next();
    return { kind: 'string', value: token.text, start, end };
  }
  if (token.kind === 'number') {
    reader.next();
    const parsed = parseNumber(token.text);
    if (parsed === undefined) throw reader.error(`bad number or duration syntax: "${token.text}"`);
    return { kind: 'number', ...parsed, start, end };
  }
  if (token.kind === 'word') return parseWord(reader);
  if (token.text === '{') return parseSelector(reader, undefined, start);
  if (!reader.take('(')) throw reader.unexpected();
  const expr = parseExpr(reader, 0);
  const close = reader.expect(')', 'in paren expression');
  return { kind: 'paren', expr, start, end: close.end };
}

function parseWord(reader: TokenReader): Expr {
  const token = reader.next();
  const { start, end } = token;
  const lower = token.text.toLowerCase();
  if (lower === 'inf' || lower === 'nan') {
    const value = lower === 'inf' ? Infinity : Number.NaN;
    return { kind: 'number', value, isDuration: false, start, end };
  }
  const following = reader.peek();
  const isCall = following.kind === 'symbol' && following.text === '(';
  if (isAggregation(lower) && (isCall || reader.peeksWord('by', 'without'))) {
    return parseAggregation(reader, lower, start);
  }
  if (isCall) return parseCall(reader, token.text, start);
  if (reservedWords.has(lower)) throw reader.unexpected(token);
  return parseSelector(reader, token.text, start);
}

/** Of those that cannot be the name of a metric. */
const reservedWords = new Set(['bool', 'on', 'ignoring', 'group_left', 'group_right']);

function isAggregation(name: string): name is AggregationOp {
  return (aggregationOps as readonly string[]).includes(name);
}

function parseCall(reader: TokenReader, name: string, start: number): Call {
  if (signatureOf(name) === undefined) {
    throw reader.error(`unknown function with name "${name}"`, start);
  }
  const { args, end } = parseArguments(reader);
  return { kind: 'call', name, args, start, end };
}

function parseArguments(reader: TokenReader): { args: Expr[]; end: number } {
  reader.expect('(', 'in function call');
  const args: Expr[] = [];
  for (let close = reader.take(')'); ; close = reader.take(')')) {
    if (close !== undefined) return { args, end: close.end };
    if (args.length > 0) reader.expect(',', 'in function call, expected "," or ")"');
    args.push(parseExpr(reader, 0));
  }
}

const withParam = new Set<AggregationOp>([
  'topk',
  'bottomk',
  'count_values',
  'quantile',
  'limitk',
  'limit_ratio',
]);

function parseAggregation(reader: TokenReader, op: AggregationOp, start: number): Aggregation {
  let grouping = parseGrouping(reader);
  const { args, end } = parseArguments(reader);
  grouping ??= parseGrouping(reader);
  if (args.length === 0) {
    throw reader.error('no arguments for aggregate expression provided', start);
  }
  const wanted = withParam.has(op) ? 2 : 1;
  if (args.length !== wanted) {
    const reason = 'wrong number of arguments for aggregate expression provided';
    throw reader.error(`${reason}, expected ${wanted}, got ${args.length}`, start);
  }
  return {
    kind: 'aggregation',
    op,
    expr: args.at(-1)!,
    param: wanted === 2 ? args[0] : undefined,
    grouping: grouping?.labels ?? [],
    without: grouping?.without ?? false,
    start,
    end: grouping === undefined ? end : Math.max(end, grouping.end),
  };
}

function parseGrouping(reader: TokenReader) {
  const word = reader.takeWord('by', 'without');
  if (word === undefined) return undefined;
  return { without: word === 'without', ...parseLabelList(reader) };
}

function parseLabelList(reader: TokenReader): { labels: string[]; end: number } {
  reader.expect('(', 'in grouping opts');
  const labels: string[] = [];
  for (let close = reader.take(')'); ; close = reader.take(')')) {
    if (close !== undefined) return { labels, end: close.end };
    const { kind, text } = reader.peek();
    if (kind !== 'string' && (kind !== 'word' || text.includes(':'))) {
      throw reader.unexpected(undefined, 'in grouping opts, expected label');
    }
    reader.next();
    labels.push(text);
    if (reader.peek().text !== ')') reader.expect(',', 'in grouping opts, expected "," or ")"');
  }
}

function parseBinaryModifiers(reader: TokenReader): { returnBool: boolean; matching: Matching } {
  const returnBool = reader.takeWord('bool') !== undefined;
  const mode = reader.takeWord('on', 'ignoring');
  const labels = mode === undefined ? [] : parseLabelList(reader).labels;
  const group = mode === undefined ? undefined : reader.takeWord('group_left', 'group_right');
  const hasInclude = group !== undefined && reader.peek().text === '(';
  const include = hasInclude ? parseLabelList(reader).labels : [];
  const fills = parseFills(reader);
  const sides = { group_left: 'left', group_right: 'right' } as const;
  const many = group === undefined ? undefined : sides[group as keyof typeof sides];
  const isExplicit = mode !== undefined;
  return {
    returnBool,
    matching: { on: mode === 'on', labels, many, include, isExplicit, ...fills },
  };
}

function parseFills(reader: TokenReader): Pick<Matching, 'fillLeft' | 'fillRight'> {
  let fillLeft: number | undefined;
  let fillRight: number | undefined;
  // `fill` is a metric unless a value follows.
  while (reader.peekAfter().text === '(') {
    const word = reader.takeWord('fill', 'fill_left', 'fill_right');
    if (word === undefined) break;
    reader.expect('(', 'in fill modifier');
    const value = reader.signedNumber('in fill modifier');
    reader.expect(')', 'in fill modifier');
    if (word !== 'fill_right') fillLeft = value;
    if (word !== 'fill_left') fillRight = value;
  }
  return { fillLeft, fillRight };
}

function parseSelector(
  reader: TokenReader,
  name: string | undefined,
  start: number,
): VectorSelector {
  const matchers: LabelMatcher[] = [];
  let end = start + (name?.length ?? 0);
  if (reader.take('{') !== undefined) {
    for (let close = reader.take('}'); ; close = reader.take('}')) {
      if (close !== undefined) {
        ({ end } = close);
        break;
      }
      matchers.push(parseMatcher(reader));
      if (reader.peek().text !== '}') reader.expect(',', 'in label matching, expected "," or "}"');
    }
  }
  if (name !== undefined) matchers.push({ name: metricNameLabel, type: 'equal', value: name });
  const bare = { offset: undefined, at: undefined, extension: undefined };
  return { kind: 'selector', name, matchers, ...bare, start, end };
}

function parseMatcher(reader: TokenReader): LabelMatcher {
  const label = reader.next();
  const isName = label.kind === 'word' && !label.text.includes(':');
  if (label.kind !== 'string' && !isName) {
    throw reader.unexpected(label, 'in label matching, expected label name or "}"');
  }
  const sign = reader.peek();
  const type = matcherTypes[sign.kind === 'symbol' ? sign.text : ''];
  if (type === undefined) {
    // A quoted name alone is the name of the metric.
    if (label.kind === 'string') {
      return { name: metricNameLabel, type: 'equal', value: label.text };
    }
    throw reader.unexpected(undefined, 'in label matching, expected label matching operator');
  }
  reader.next();
  const value = reader.next();
  if (value.kind !== 'string') throw reader.unexpected(value, 'in label matching, expected string');
  return { name: label.text, type, value: value.text };
}
