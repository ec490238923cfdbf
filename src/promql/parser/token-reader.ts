/** A cursor over the tokens of a query, and the errors of its parser. */
import { parseError, type QueryError } from '../errors.ts';
import { type Token, tokenize } from './lexer.ts';
import { parseNumber } from './numbers.ts';

export class TokenReader {
  readonly text: string;
  /** Of nested expressions. */
  depth = 0;
  /** Binary operators so far. */
  operators = 0;
  readonly #tokens: readonly Token[];
  #at = 0;

  /** @throws QueryError */
  constructor(text: string) {
    this.text = text;
    this.#tokens = tokenize(text);
  }

  peek(): Token {
    return this.#tokens[this.#at]!;
  }

  peekAfter(): Token {
    return this.#tokens[this.#at + 1] ?? this.peek();
  }

  next(): Token {
    const token = this.peek();
    if (token.kind !== 'end') this.#at += 1;
    return token;
  }

  /** Offset after the last token read. */
  lastEnd(): number {
    return this.#tokens[this.#at - 1]?.end ?? 0;
  }

  take(symbol: string): Token | undefined {
    const { kind, text } = this.peek();
    return kind === 'symbol' && text === symbol ? this.next() : undefined;
  }

  /** @throws QueryError */
  expect(symbol: string, where: string): Token {
    const token = this.take(symbol);
    if (token === undefined) throw this.unexpected(undefined, where);
    return token;
  }

  peeksWord(...words: readonly string[]): boolean {
    const { kind, text } = this.peek();
    return kind === 'word' && words.includes(text.toLowerCase());
  }

  /** @returns the word in lower case. */
  takeWord(...words: readonly string[]): string | undefined {
    return this.peeksWord(...words) ? this.next().text.toLowerCase() : undefined;
  }

  /** @throws QueryError */
  signedNumber(where: string): number {
    const isNegative = this.take('-') !== undefined;
    if (!isNegative) this.take('+');
    const token = this.next();
    const value = numberOf(token);
    if (value === undefined) throw this.unexpected(token, where);
    return isNegative ? -value : value;
  }

  error(reason: string, at = this.peek().start): QueryError {
    return parseError(this.text, at, reason);
  }

  unexpected(token = this.peek(), where = ''): QueryError {
    const unclosed = token.kind === 'end' ? this.#lastUnclosed() : undefined;
    if (unclosed !== undefined) return this.error(unclosed, token.start);
    const names = { number: 'number', string: 'string', word: 'identifier', symbol: '', end: '' };
    const shown =
      token.kind === 'end' ? 'end of input' : `${names[token.kind]} "${token.text}"`.trimStart();
    return this.error(`unexpected ${shown} ${where}`.trimEnd(), token.start);
  }

  /** In the words of Prometheus; undefined in brackets, which name their place. */
  #lastUnclosed(): string | undefined {
    const open: string[] = [];
    for (const { kind, text } of this.#tokens) {
      if (kind !== 'symbol') continue;
      if (['(', '{', '['].includes(text)) open.push(text);
      else if ([')', '}', ']'].includes(text)) open.pop();
    }
    const last = open.at(-1);
    if (last === '(') return 'unclosed left parenthesis';
    return last === '{' ? 'unexpected end of input inside braces' : undefined;
  }
}

function numberOf({ kind, text }: Token): number | undefined {
  if (kind === 'number') return parseNumber(text)?.value;
  if (kind !== 'word') return undefined;
  return { inf: Infinity, nan: Number.NaN }[text.toLowerCase()];
}
