/**
 * Lexes SQL and writes string literals. Splits tokens as ClickHouse's own lexer does, so that
 * text inside a string, a quoted name or a comment is never taken for SQL.
 */
import { EngineException } from './exceptions.ts';

export type TokenKind = 'word' | 'number' | 'string' | 'name' | 'mark';

export interface Token {
  readonly kind: TokenKind;
  /** Offsets into the SQL text, end exclusive. */
  readonly start: number;
  readonly end: number;
  /** The text as written; of a word in upper case. */
  readonly text: string;
}

const patterns = {
  space: /[\s\u00a0\u2000-\u200b\u3000\ufeff]+/y,
  lineComment: /(?:--|\/\/|#[ !])[^\n]*/y,
  word: /[A-Za-z_][\w$]*/y,
  number: /\d[\w.]*/y,
  heredocTag: /\$\w*\$/y,
};

/**
 * The tokens of one text, lazily and without comments.
 * @throws EngineException 62 for a string, quoted name or comment without an end
 */
export function* tokenize(sql: string): Generator<Token, void, void> {
  let at = 0;
  while (at < sql.length) {
    const skipped = endOfGap(sql, at);
    if (skipped > at) {
      at = skipped;
      continue;
    }
    const token = tokenAt(sql, at);
    yield token;
    at = token.end;
  }
}

function endOfGap(sql: string, at: number): number {
  if (sql.startsWith('/*', at)) return endOfBlockComment(sql, at);
  return match(patterns.space, sql, at) ?? match(patterns.lineComment, sql, at) ?? at;
}

/** Block comments nest, as in the SQL standard. */
function endOfBlockComment(sql: string, start: number): number {
  const edge = /\/\*|\*\//g;
  edge.lastIndex = start;
  let depth = 0;
  for (let found = edge.exec(sql); found !== null; found = edge.exec(sql)) {
    depth += found[0] === '/*' ? 1 : -1;
    if (depth === 0) return edge.lastIndex;
  }
  throw unterminated('comment', start);
}

function tokenAt(sql: string, start: number): Token {
  const wordEnd = match(patterns.word, sql, start);
  if (wordEnd !== undefined) {
    return { kind: 'word', start, end: wordEnd, text: sql.slice(start, wordEnd).toUpperCase() };
  }
  const numberEnd = match(patterns.number, sql, start);
  if (numberEnd !== undefined) return cut('number', sql, start, numberEnd);
  return quotedAt(sql, start) ?? cut('mark', sql, start, start + 1);
}

function quotedAt(sql: string, start: number): Token | undefined {
  switch (sql[start]) {
    case "'":
      return cut('string', sql, start, endOfQuoted(sql, start, "'"));
    case '"':
    case '`':
      return cut('name', sql, start, endOfQuoted(sql, start, sql[start]));
    case '\u2018':
      return cut('string', sql, start, endOfPlain(sql, start, '\u2019'));
    case '\u201c':
      return cut('name', sql, start, endOfPlain(sql, start, '\u201d'));
    case '$': {
      const tagEnd = match(patterns.heredocTag, sql, start);
      if (tagEnd === undefined) return undefined;
      const tag = sql.slice(start, tagEnd);
      const close = sql.indexOf(tag, tagEnd);
      return close < 0 ? undefined : cut('string', sql, start, close + tag.length);
    }
    default:
      return undefined;
  }
}

/** Inside, a quote is escaped by a backslash or by doubling. */
function endOfQuoted(sql: string, start: number, quote: string): number {
  for (let at = start + 1; at < sql.length; at++) {
    if (sql[at] === '\\') at++;
    else if (sql[at] === quote) {
      if (sql[at + 1] !== quote) return at + 1;
      at++;
    }
  }
  throw unterminated('quoted text', start);
}

function endOfPlain(sql: string, start: number, close: string): number {
  const at = sql.indexOf(close, start + 1);
  if (at < 0) throw unterminated('quoted text', start);
  return at + 1;
}

function cut(kind: TokenKind, sql: string, start: number, end: number): Token {
  return { kind, start, end, text: sql.slice(start, end) };
}

function match(pattern: RegExp, text: string, at: number): number | undefined {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : undefined;
}

function unterminated(what: string, at: number): EngineException {
  return new EngineException(62, `cannot read the query: ${what} at position ${at + 1} has no end`);
}

/**
 * A string literal of exactly these bytes. Every byte but plain printable ASCII is written as
 * `\xHH`, so that no encoding can be misread.
 */
export function stringLiteral(bytes: Uint8Array | string): string {
  // In Latin-1 every byte is one character.
  const text = Buffer.from(bytes as Uint8Array).toString('latin1');
  const escaped = text.replace(/[^ !#-&(-[\]-_a-~]/g, (byte) => {
    return `\\x${byte.charCodeAt(0).toString(16).padStart(2, '0')}`;
  });
  return `'${escaped}'`;
}
