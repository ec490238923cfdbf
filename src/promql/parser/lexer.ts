/** Splits a query into tokens. https://prometheus.io/docs/prometheus/latest/querying/basics */
import { parseError } from '../errors.ts';
import { readQuoted } from './quoted-text.ts';
import type { Span } from './ast.ts';

export interface Token extends Span {
  readonly kind: 'number' | 'string' | 'word' | 'symbol' | 'end';
  /** As written; of a string its content. */
  readonly text: string;
}

const blank = /(?:[ \t\r\n]|#[^\n]*)*/y;
const digits = String.raw`\d+(?:_\d+)*`;
const numerals = [
  '0[xX][0-9a-fA-F]+',
  String.raw`(?:\d+(?:ms|[smhdwy]))+`,
  String.raw`(?:${digits}\.?(?:${digits})?|\.${digits})(?:[eE][+-]?${digits})?`,
];
const number = new RegExp(numerals.join('|'), 'y');
const word = /[a-z_:][a-z0-9_:]*/iy;
/** In brackets a colon separates range and step. */
const wordInBrackets = /[a-z_][a-z0-9_]*/iy;
const symbol = /==|=~|!=|!~|<=|<\/|>=|>\/|[-+*/%^<>=(){}[\],@:]/y;
const wordCharacter = /[a-z0-9_]/i;

/** @throws QueryError */
export function tokenize(text: string): Token[] {
  const tokens: Token[] = [];
  let brackets = 0;
  for (let at = take(blank, text, 0).length; at < text.length; ) {
    const token = readToken(text, at, brackets > 0);
    if (token.kind === 'symbol') {
      if (token.text === '[') brackets += 1;
      else if (token.text === ']') brackets -= 1;
    }
    tokens.push(token);
    at = token.end + take(blank, text, token.end).length;
  }
  tokens.push({ kind: 'end', text: '', start: text.length, end: text.length });
  return tokens;
}

function readToken(text: string, start: number, inBrackets: boolean): Token {
  const quoted = readQuoted(text, start);
  if (quoted !== undefined) {
    if (quoted.fault !== undefined) throw parseError(text, quoted.end, quoted.fault);
    return { kind: 'string', text: quoted.value, start, end: quoted.end };
  }
  const numeral = take(number, text, start);
  if (numeral !== '') {
    const end = start + numeral.length;
    if (wordCharacter.test(text[end] ?? '')) {
      throw parseError(
        text,
        start,
        `bad number or duration syntax: "${text.slice(start, end + 1)}"`,
      );
    }
    return { kind: 'number', text: numeral, start, end };
  }
  const name = take(inBrackets ? wordInBrackets : word, text, start);
  // A lone colon is no name.
  if (name !== '' && name !== ':') {
    return { kind: 'word', text: name, start, end: start + name.length };
  }
  const sign = take(symbol, text, start);
  if (sign !== '') return { kind: 'symbol', text: sign, start, end: start + sign.length };
  const character = String.fromCodePoint(text.codePointAt(start)!);
  throw parseError(text, start, `unexpected character: '${character}'`);
}

function take(pattern: RegExp, text: string, at: number): string {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0] ?? '';
}
