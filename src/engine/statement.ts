/**
 * Classifies a statement before chDB runs it: read or write, format of the result, whether it can
 * be streamed, and where the data of an INSERT begin. Pure.
 */
import { EngineException } from './exceptions.ts';
import { stringLiteral, type Token, tokenize } from './sql-tokens.ts';

export type Statement =
  | {
      readonly kind: 'read';
      readonly sql: string;
      readonly format: string;
      readonly canStream: boolean;
    }
  /** A change, with its data, if any, in its text. */
  | { readonly kind: 'write'; readonly sql: string; readonly isInsert: boolean }
  /** An INSERT followed by its data: `inlineData` from its text, then the request's body. */
  | { readonly kind: 'insertData'; readonly insert: DataInsert; readonly inlineData: string };

/** The text before and after the name of the data's file. */
export interface DataInsert {
  readonly head: string;
  readonly tail: string;
  /** Structure literal of `input('…')`, as written; undefined for a plain INSERT. */
  readonly structure: string | undefined;
  readonly format: string;
}

const readWords = new Set(['SELECT', 'WITH', 'SHOW', 'DESCRIBE', 'DESC', 'EXISTS', 'EXPLAIN']);

/** Formats without header and footer: chDB formats each chunk of a stream as if it were whole. */
const chunkableFormats = new Set([
  'JSONEachRow',
  'JSONLines',
  'NDJSON',
  'JSONStringsEachRow',
  'JSONCompactEachRow',
  'JSONCompactStringsEachRow',
  'TabSeparated',
  'TSV',
  'TabSeparatedRaw',
  'TSVRaw',
  'CSV',
  'RowBinary',
  'Native',
]);

/**
 * @param defaultFormat of the result when the text names none
 * @throws EngineException 62 for nothing or more than one statement, 48 for INTO OUTFILE
 */
export function parseStatement(sql: string, defaultFormat: string): Statement {
  const tokens = tokenize(sql);
  const first = tokens.next().value;
  if (first === undefined) throw new EngineException(62, 'cannot run an empty query');
  if (first.text === 'INSERT') return parseInsert(sql, tokens);
  const all = [first, ...single(tokens)];
  const end = all.at(-1)?.text === ';' ? (all.pop() as Token).start : sql.length;
  const text = sql.slice(0, end);
  if (!readWords.has(first.text) && first.text !== '(') {
    return { kind: 'write', sql: text, isInsert: false };
  }
  if (all.some((token) => token.text === 'OUTFILE')) {
    throw new EngineException(48, 'cannot write to a file: INTO OUTFILE is not available');
  }
  const format = namedFormat(sql, all) ?? defaultFormat;
  return { kind: 'read', sql: text, format, canStream: canStream(all, format) };
}

/** The INSERT with its data read from this file, relative to the working directory. */
export function insertFromFile(insert: DataInsert, path: string): string {
  const { head, tail, structure, format } = insert;
  const file = stringLiteral(path);
  return structure === undefined
    ? `${head} FROM INFILE ${file} ${tail} FORMAT ${format}`
    : `${head}file(${file},'${format}',${structure})${tail}`;
}

/**
 * Only without subqueries: planning runs them, and chDB plans a stream on the main thread, which
 * serves all requests.
 */
function canStream(tokens: readonly Token[], format: string): boolean {
  const [first] = tokens;
  if (first === undefined || !['SELECT', 'WITH'].includes(first.text)) return false;
  const selects = tokens.filter((token) => token.text === 'SELECT').length;
  return selects === 1 && chunkableFormats.has(format);
}

/** `FORMAT Name` at the end, or before a last SETTINGS clause. */
function namedFormat(sql: string, tokens: readonly Token[]): string | undefined {
  const at = formatClause(tokens);
  return at < 0 ? undefined : textOf(sql, tokens[at + 1] as Token);
}

function formatClause(tokens: readonly Token[]): number {
  return tokens.findLastIndex((token, index) => {
    const after = tokens[index + 2];
    const isLast = after === undefined || after.text === 'SETTINGS' || after.text === ';';
    return token.text === 'FORMAT' && tokens[index + 1]?.kind === 'word' && isLast;
  });
}

/** Without SELECT, the text after FORMAT or VALUES is data and must not be tokenized. */
function parseInsert(sql: string, tokens: Generator<Token, void, void>): Statement {
  const seen: Token[] = [];
  for (const token of tokens) {
    seen.push(token);
    if (token.text === 'SELECT') return parseInsertSelect(sql, [...seen, ...single(tokens)]);
    if (token.text === 'VALUES') return { kind: 'write', sql, isInsert: true };
    if (token.text !== 'FORMAT') continue;
    const name = tokens.next().value;
    if (name?.kind !== 'word') {
      throw new EngineException(62, 'cannot read the INSERT: FORMAT has no name');
    }
    const inlineData = sql.slice(name.end).replace(/^[ \t]*(?:\r?\n)?/, '');
    return { kind: 'insertData', insert: plainInsert(sql, seen, textOf(sql, name)), inlineData };
  }
  throw new EngineException(62, 'cannot read the INSERT: no VALUES, FORMAT or SELECT');
}

function parseInsertSelect(sql: string, tokens: readonly Token[]): Statement {
  const end = tokens.at(-1)?.text === ';' ? tokens.at(-1)?.start : sql.length;
  const input = tokens.findIndex((token, at) => {
    return token.text === 'INPUT' && tokens[at + 1]?.text === '(';
  });
  if (input < 0) return { kind: 'write', sql: sql.slice(0, end), isInsert: true };
  const format = formatClause(tokens);
  const [word, , structure, close] = tokens.slice(input);
  if (structure?.kind !== 'string' || close?.text !== ')' || format < 0) {
    throw new EngineException(48, "cannot read input(): write input('structure') … FORMAT name");
  }
  const insert: DataInsert = {
    head: sql.slice(0, word?.start),
    tail: sql.slice(close.end, tokens[format]?.start),
    structure: structure.text,
    format: textOf(sql, tokens[format + 1] as Token),
  };
  return { kind: 'insertData', insert, inlineData: '' };
}

/** FROM INFILE goes before SETTINGS. @param seen ends with FORMAT */
function plainInsert(sql: string, seen: readonly Token[], format: string): DataInsert {
  const end = seen.at(-1)?.start ?? sql.length;
  const at = seen.find((token) => token.text === 'SETTINGS')?.start ?? end;
  return { head: sql.slice(0, at), tail: sql.slice(at, end), structure: undefined, format };
}

/** The tokens of one statement; a semicolon may only be the last. */
function* single(tokens: Generator<Token, void, void>): Generator<Token> {
  let hasEnded = false;
  for (const token of tokens) {
    if (hasEnded) {
      throw new EngineException(62, 'cannot run more than one statement in a query');
    }
    hasEnded = token.text === ';';
    yield token;
  }
}

function textOf(sql: string, token: Token): string {
  return sql.slice(token.start, token.end);
}
