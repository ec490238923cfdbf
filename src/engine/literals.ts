/**
 * The one place where values become SQL text: binds `{name:Type}` placeholders with `param_*`
 * values as literals. chDB binds parameters for the whole process at once, so concurrent queries
 * would wait for each other, hence this encoder. Whatever the value, it writes only printable ASCII
 * inside one pair of quotes per scalar.
 */
import { type DataType, parseDataType } from './data-type.ts';
import { EngineException } from './exceptions.ts';
import { type Token, tokenize } from './sql-tokens.ts';
import { openValueText, type ValueText, unescapeText } from './value-text.ts';

/**
 * Values by name, without `param_`, as bytes in ClickHouse's escaped text form (as clients send
 * them).
 */
export type Parameters = ReadonlyMap<string, Uint8Array>;

/**
 * SQL with every placeholder replaced. Placeholders inside strings, quoted names, comments and
 * values are left alone.
 * @throws EngineException 456 for a missing parameter, 457 for an unknown type or a value that is
 * not of its type, 62 for text that cannot be cut into tokens
 */
export function bindParameters(sql: string, parameters: Parameters): string {
  if (!sql.includes('{')) return sql;
  let bound = '';
  let copied = 0;
  for (const placeholder of placeholders(sql)) {
    const value = parameters.get(placeholder.name);
    if (value === undefined) {
      throw new EngineException(456, `cannot bind ${placeholder.name}: no value was sent for it`);
    }
    bound += sql.slice(copied, placeholder.start) + encodeValue(placeholder, value);
    copied = placeholder.end;
  }
  return bound + sql.slice(copied);
}

/** A string literal of exactly these bytes. */
export function stringLiteral(bytes: Uint8Array | string): string {
  const text = typeof bytes === 'string' ? Buffer.from(bytes).toString('latin1') : latin1(bytes);
  return quote(text);
}

interface Placeholder {
  readonly name: string;
  readonly type: string;
  readonly start: number;
  readonly end: number;
}

/**
 * `{`, a word, `:`, anything up to `}`: a map literal such as `{'a': 1}` does not start with a bare
 * word.
 */
function* placeholders(sql: string): Generator<Placeholder> {
  let open: Token | undefined;
  let name: Token | undefined;
  let colon: Token | undefined;
  for (const token of tokenize(sql)) {
    if (open !== undefined && name !== undefined && colon !== undefined) {
      if (token.text !== '}') continue;
      const type = sql.slice(colon.end, token.start);
      yield { name: sql.slice(name.start, name.end), type, start: open.start, end: token.end };
      open = name = colon = undefined;
    } else if (token.text === '{') {
      open = token;
      name = undefined;
    } else if (open !== undefined && name === undefined && token.kind === 'word') name = token;
    else if (name !== undefined && token.text === ':') colon = token;
    else open = name = undefined;
  }
}

function encodeValue(placeholder: Placeholder, value: Uint8Array): string {
  const type = parseDataType(placeholder.type);
  const text = latin1(value);
  try {
    if (type.kind === 'identifier') return identifier(unescapeText(text));
    const literal = encodeOuter(type, text);
    return type.kind === 'string' ? literal : `CAST(${literal} AS ${placeholder.type.trim()})`;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    const why = `its value is no ${placeholder.type.trim()}: ${error.message}`;
    throw new EngineException(457, `cannot bind ${placeholder.name}: ${why}`);
  }
}

/** Outermost, a scalar stands bare and escaped, and NULL is `\N`. */
function encodeOuter(type: DataType, text: string): string {
  switch (type.kind) {
    case 'nullable':
      return text === '\\N' ? 'NULL' : encodeOuter(type.inner, text);
    case 'lowCardinality':
      return encodeOuter(type.inner, text);
    case 'array':
    case 'map':
    case 'tuple': {
      const reader = openValueText(text);
      const literal = encodeInner(type, reader);
      reader.end();
      return literal;
    }
    default:
      return quote(checkScalar(type, unescapeText(text)));
  }
}

/** Inside of arrays, maps and tuples, strings stand in quotes and NULL is `NULL`. */
function encodeInner(type: DataType, reader: ValueText): string {
  switch (type.kind) {
    case 'nullable':
      return reader.takeNull() ? 'NULL' : encodeInner(type.inner, reader);
    case 'lowCardinality':
      return encodeInner(type.inner, reader);
    case 'array':
      return `[${reader.list('[', ']', () => encodeInner(type.inner, reader)).join(',')}]`;
    case 'map': {
      const entries = reader.list('{', '}', () => {
        const key = encodeInner(type.key, reader);
        reader.take(':');
        return `${key},${encodeInner(type.value, reader)}`;
      });
      return `map(${entries.join(',')})`;
    }
    case 'tuple': {
      const items = reader.list('(', ')', (index) => {
        const item = type.items[index];
        if (item === undefined) throw new RangeError('too many items');
        return encodeInner(item, reader);
      });
      if (items.length !== type.items.length) throw new RangeError('too few items');
      return `tuple(${items.join(',')})`;
    }
    case 'string':
    case 'fixedString':
      return quote(checkScalar(type, reader.string()));
    default:
      return quote(checkScalar(type, reader.scalar()));
  }
}

const numberText = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,5})?$/;
const specialNumber = /^[+-]?(?:nan|inf|infinity)$/i;
const dateText = /^\d{4}-\d\d-\d\d$/;
const dateTimeText = /^\d{4}-\d\d-\d\d(?:[ T]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?Z?)?$/;
const unixTimeText = /^-?\d{1,12}(?:\.\d{1,9})?$/;
const uuidText = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** The value's text, known to be of its type. @throws RangeError */
function checkScalar(type: DataType, text: string): string {
  switch (type.kind) {
    case 'string':
      return text;
    case 'fixedString':
      return must(text.length <= type.bytes, text, text);
    case 'integer': {
      const isInteger = /^[+-]?\d{1,78}$/.test(text);
      const value = isInteger ? BigInt(text.replace('+', '')) : type.min - 1n;
      return must(value >= type.min && value <= type.max, value.toString(), text);
    }
    case 'float':
      return must(numberText.test(text) || specialNumber.test(text), text, text);
    case 'decimal':
      return must(numberText.test(text), text, text);
    case 'bool':
      return must(/^(?:0|1|true|false)$/i.test(text), text.toLowerCase(), text);
    case 'date':
      return must(dateText.test(text), text, text);
    case 'dateTime':
      // ClickHouse takes fewer than ten digits for a year.
      if (unixTimeText.test(text)) {
        return text.replace(/^\d+/, (digits) => digits.padStart(10, '0'));
      }
      return must(dateTimeText.test(text), text, text);
    case 'uuid':
      return must(uuidText.test(text), text, text);
    default:
      throw new RangeError('a list where one value belongs');
  }
}

function must(isValid: boolean, canonical: string, given: string): string {
  if (!isValid) throw new RangeError(quote(given.slice(0, 40)));
  return canonical;
}

/** Up to two plain names joined by a dot, back-quoted. @throws RangeError */
function identifier(text: string): string {
  const isPlain = /^[A-Za-z_]\w{0,127}(?:\.[A-Za-z_]\w{0,127})?$/.test(text);
  const parts = must(isPlain, text, text).split('.');
  return parts.map((part) => `\`${part}\``).join('.');
}

const hexEscapes = Array.from({ length: 256 }, (_, byte) => {
  return `\\x${byte.toString(16).padStart(2, '0')}`;
});

/** Every byte but plain printable ASCII is written as `\xHH`, so no encoding can be misread. */
function quote(bytes: string): string {
  const escaped = bytes.replace(/[^ !#-&(-[\]-_a-~]/g, (byte) => {
    return hexEscapes[byte.charCodeAt(0)] as string;
  });
  return `'${escaped}'`;
}

/** One character per byte, so that no sequence of bytes is changed on the way. */
function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
}
