/**
 * Writes the values of a read's parameters into its text, as literals of exactly their bytes: a
 * session binds values by one more statement. Pure.
 */
import { EngineException } from './exceptions.ts';
import { stringLiteral, tokenize } from './sql-tokens.ts';

/** By name, `param_` included, as the bytes of ClickHouse's escaped text format. */
type ParameterMap = ReadonlyMap<string, Uint8Array>;

export interface BoundStatement {
  readonly sql: string;
  /** For the session to bind: values of other types, and those that ClickHouse may refuse. */
  readonly parameters: ParameterMap;
}

/**
 * Checks that each `{name:Type}` placeholder has a value in `parameters`: a session still has the
 * values of earlier queries, and would use those.
 * @throws EngineException 456
 */
export function bindParameters(sql: string, parameters: ParameterMap): BoundStatement {
  const rest = new Map<string, Uint8Array>();
  let bound = '';
  let copied = 0;
  for (const { name, type, start, end } of placeholdersOf(sql)) {
    const parameter = `param_${name}`;
    const value = parameters.get(parameter);
    if (value === undefined) {
      throw new EngineException(456, `cannot bind ${name}: no value was sent for it`);
    }
    const literal = literalOf(type, value);
    if (literal === undefined) {
      rest.set(parameter, value);
      continue;
    }
    bound += sql.slice(copied, start) + literal;
    copied = end;
  }
  return { sql: bound + sql.slice(copied), parameters: rest };
}

interface Placeholder {
  readonly name: string;
  readonly type: string;
  readonly start: number;
  readonly end: number;
}

function* placeholdersOf(sql: string): Generator<Placeholder> {
  if (!sql.includes('{')) return;
  const tokens = [...tokenize(sql)];
  for (const [at, brace] of tokens.entries()) {
    if (brace.text !== '{') continue;
    const [name, colon, type] = tokens.slice(at + 1, at + 4);
    if (name?.kind !== 'word' || colon?.text !== ':') continue;
    const close = tokens.find(({ text }, later) => later > at && text === '}');
    yield {
      name: sql.slice(name.start, name.end),
      type: close === undefined ? '' : sql.slice(type?.start, close.start).trim(),
      start: brace.start,
      end: close?.end ?? sql.length,
    };
  }
}

const integers = '(?:U?Int(?:8|16|32|64|128|256))';
const quoted = String.raw`'(?:[^\\']|\\[^x])*'`;
/** What clients write for a type; ClickHouse parses it as it would a value of the session. */
const castForms: readonly (readonly [type: RegExp, value: RegExp])[] = [
  [new RegExp(`^${integers}$`), /^-?\d{1,39}$/],
  [new RegExp(`^Array\\(${integers}\\)$`), /^\[(?:-?\d{1,39}(?:,-?\d{1,39})*)?\]$/],
  [/^Array\(String\)$/, new RegExp(`^\\[(?:${quoted}(?:,${quoted})*)?\\]$`)],
];
/** Longer values would make the text too long. */
const maxBytes = 65_536;

/** @returns undefined where the session must bind the value */
function literalOf(type: string, value: Uint8Array): string | undefined {
  if (value.length > maxBytes) return undefined;
  if (type === 'String') {
    const plain = unescaped(value);
    return plain === undefined ? undefined : stringLiteral(plain);
  }
  const [, form] = castForms.find(([types]) => types.test(type)) ?? [];
  const isPlain = form?.test(Buffer.from(value).toString('latin1'));
  return isPlain ? `_CAST(${stringLiteral(value)}, '${type}')` : undefined;
}

const escapes: Readonly<Record<string, string>> = {
  '\\t': '\t',
  '\\n': '\n',
  '\\r': '\r',
  "\\'": "'",
  '\\\\': '\\',
};

/** @returns undefined with escapes beyond those that clients send, or with bytes they escape */
function unescaped(value: Uint8Array): Uint8Array | undefined {
  // In Latin-1 every byte is one character.
  const text = Buffer.from(value).toString('latin1');
  if (!/^(?:[^\\\t\n\r]|\\[tnr'\\])*$/.test(text)) return undefined;
  return Buffer.from(
    text.replace(/\\./g, (escape) => escapes[escape]!),
    'latin1',
  );
}
