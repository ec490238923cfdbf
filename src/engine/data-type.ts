/**
 * Reads the type of a `{name:Type}` placeholder into a tree, accepting only types whose values can
 * be bound.
 */
import { EngineException } from './exceptions.ts';

export type DataType =
  | { readonly kind: 'string' }
  | { readonly kind: 'identifier' }
  | { readonly kind: 'fixedString'; readonly bytes: number }
  | { readonly kind: 'integer'; readonly min: bigint; readonly max: bigint }
  | { readonly kind: 'float' }
  | { readonly kind: 'decimal' }
  | { readonly kind: 'bool' }
  | { readonly kind: 'date' }
  | { readonly kind: 'dateTime' }
  | { readonly kind: 'uuid' }
  | { readonly kind: 'nullable'; readonly inner: DataType }
  | { readonly kind: 'lowCardinality'; readonly inner: DataType }
  | { readonly kind: 'array'; readonly inner: DataType }
  | { readonly kind: 'map'; readonly key: DataType; readonly value: DataType }
  | { readonly kind: 'tuple'; readonly items: readonly DataType[] };

const maxDepth = 16;
const piece = /\s*([A-Za-z]\w*|\d+|'[A-Za-z0-9_+\-/:]*'|[(),])\s*/y;

/**
 * The tree of a type such as `Map(String, Array(Nullable(UInt64)))`. Names are case-sensitive, as
 * in ClickHouse.
 * @throws EngineException 457 for anything that is no such type
 */
export function parseDataType(text: string): DataType {
  const pieces = split(text);
  let at = 0;

  function next(): string {
    const found = pieces[at++];
    if (found === undefined) throw badType(text);
    return found;
  }

  function expect(mark: string): void {
    if (next() !== mark) throw badType(text);
  }

  function list<Item>(item: () => Item): Item[] {
    expect('(');
    const items = [item()];
    for (;;) {
      const mark = next();
      if (mark === ')') return items;
      if (mark !== ',') throw badType(text);
      items.push(item());
    }
  }

  function argument(): string {
    const found = next();
    if (!/^\d+$|^'/.test(found)) throw badType(text);
    return found;
  }

  function type(depth: number): DataType {
    if (depth > maxDepth) throw badType(text);
    const name = next();
    const nested = () => type(depth + 1);
    if (isCompound(name)) return compound(name, list(nested), text);
    const args = pieces[at] === '(' ? list(argument) : [];
    return scalar(name, args, text);
  }

  const parsed = type(0);
  if (at !== pieces.length) throw badType(text);
  return parsed;
}

type CompoundName = 'Nullable' | 'LowCardinality' | 'Array' | 'Map' | 'Tuple';

function isCompound(name: string): name is CompoundName {
  return ['Nullable', 'LowCardinality', 'Array', 'Map', 'Tuple'].includes(name);
}

function compound(name: CompoundName, items: readonly DataType[], text: string): DataType {
  const [first, second] = items;
  if (items.some((item) => item.kind === 'identifier')) throw badType(text);
  if (name === 'Tuple') return { kind: 'tuple', items };
  if (name === 'Map' && first !== undefined && second !== undefined && items.length === 2) {
    return { kind: 'map', key: first, value: second };
  }
  if (name === 'Map' || first === undefined || items.length !== 1) throw badType(text);
  if (name === 'Array') return { kind: 'array', inner: first };
  if (name === 'Nullable') return { kind: 'nullable', inner: first };
  return { kind: 'lowCardinality', inner: first };
}

function scalar(name: string, args: readonly string[], text: string): DataType {
  const integer = /^(U?)Int(8|16|32|64|128|256)$/.exec(name);
  if (integer !== null && args.length === 0) {
    const bits = BigInt(integer[2] as string);
    return integer[1] === 'U'
      ? { kind: 'integer', min: 0n, max: 2n ** bits - 1n }
      : { kind: 'integer', min: -(2n ** (bits - 1n)), max: 2n ** (bits - 1n) - 1n };
  }
  const numbers = args.filter((arg) => !arg.startsWith("'")).length;
  const zones = args.length - numbers;
  const shape = `${name}/${numbers}/${zones}`;
  switch (shape) {
    case 'String/0/0':
      return { kind: 'string' };
    case 'Identifier/0/0':
      return { kind: 'identifier' };
    case 'FixedString/1/0':
      return { kind: 'fixedString', bytes: Number(args[0]) };
    case 'Float32/0/0':
    case 'Float64/0/0':
      return { kind: 'float' };
    case 'Decimal/2/0':
    case 'Decimal32/1/0':
    case 'Decimal64/1/0':
    case 'Decimal128/1/0':
    case 'Decimal256/1/0':
      return { kind: 'decimal' };
    case 'Bool/0/0':
      return { kind: 'bool' };
    case 'Date/0/0':
    case 'Date32/0/0':
      return { kind: 'date' };
    case 'DateTime/0/0':
    case 'DateTime/0/1':
    case 'DateTime64/1/0':
    case 'DateTime64/1/1':
      return { kind: 'dateTime' };
    case 'UUID/0/0':
      return { kind: 'uuid' };
    default:
      throw badType(text);
  }
}

function split(text: string): string[] {
  const pieces: string[] = [];
  piece.lastIndex = 0;
  while (piece.lastIndex < text.length) {
    const found = piece.exec(text);
    if (found === null) throw badType(text);
    pieces.push(found[1] as string);
  }
  return pieces;
}

function badType(text: string): EngineException {
  return new EngineException(457, `cannot bind a parameter of type ${text.trim().slice(0, 100)}`);
}
