/**
 * Mutates protobuf messages by field (https://protobuf.dev/programming-guides/encoding): removes,
 * duplicates, swaps and nests fields, and changes numbers, wire types and lengths. Treats all bytes
 * that parse as a message as one.
 */
import type { Random } from '../harness/random.ts';
import { varint } from '../harness/proto-wire.ts';

interface Field {
  number: number;
  /** Wire types: 0 varint, 1 eight bytes, 2 length-delimited, 5 four bytes. */
  kind: number;
  /** A number, bytes, or the fields of a nested message. */
  value: bigint | Buffer | Field[];
  /** Replaces the true length. */
  length?: bigint;
}

const numbers = [
  0n,
  1n,
  127n,
  128n,
  24n,
  25n,
  2n ** 31n - 1n,
  2n ** 31n,
  2n ** 32n - 1n,
  2n ** 32n,
  2n ** 53n + 1n,
  2n ** 63n - 1n,
  2n ** 63n,
  2n ** 64n - 1n,
  1_700_000_000n,
  1_700_000_000_000_000_000n,
  5_648_745_600_000_000_000n,
  0x7ff0_0000_0000_0002n,
] as const;

const texts = [
  Buffer.alloc(0),
  Buffer.from([0xff]),
  Buffer.from([0xed, 0xa0, 0x80]),
  Buffer.from([0xf0, 0x9f, 0x98]),
  Buffer.from([0xc0, 0x80]),
  Buffer.from('\0'),
  Buffer.from('\ufeffé\u{1f600}'),
  Buffer.alloc(300, 'x'),
  Buffer.from('__name__'),
  Buffer.from('service.name'),
] as const;

type Change = (random: Random, fields: Field[], other: Field[]) => void;

const changes: readonly [Change, ...Change[]] = [
  function remove(random, fields) {
    fields.splice(random.integer(0, fields.length - 1), 1);
  },
  function repeat(random, fields) {
    const at = random.integer(0, fields.length - 1);
    const times = random.integer(1, random.integer(1, 30));
    fields.splice(at, 0, ...Array.from({ length: times }, () => fields[at]!));
  },
  function move(random, fields) {
    const [moved] = fields.splice(random.integer(0, fields.length - 1), 1);
    fields.splice(random.integer(0, fields.length), 0, moved!);
  },
  function renumber(random, fields) {
    const number = random.pick([1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 15, 16, 2 ** 29 - 1, 0]);
    change(random, fields, { number });
  },
  function setKind(random, fields) {
    change(random, fields, { kind: random.integer(0, 7) });
  },
  function lieAboutLength(random, fields) {
    const delta = BigInt(random.integer(-3, 3));
    const length = random.pick([undefined, ...numbers]);
    const at = random.integer(0, fields.length - 1);
    const field = fields[at]!;
    if (typeof field.value === 'bigint') return;
    fields[at] = { ...field, length: length ?? BigInt(encodeValue(field.value).length) + delta };
  },
  function setNumber(random, fields) {
    change(random, fields, { kind: random.pick([0, 0, 1, 5]), value: random.pick(numbers) });
  },
  function setText(random, fields) {
    change(random, fields, { kind: 2, value: random.pick(texts) });
  },
  function nest(random, fields) {
    const at = random.integer(0, fields.length - 1);
    const depth = random.integer(1, random.pick([3, 20, 200]));
    for (let level = 0; level < depth; level += 1) {
      fields[at] = { number: fields[at]!.number, kind: 2, value: [fields[at]!] };
    }
  },
  function openGroup(random, fields) {
    const kind = random.pick([3, 3, 4]);
    const groups = Array.from({ length: random.pick([1, 2, 100]) }, () => ({
      number: random.integer(1, 20),
      kind,
      value: Buffer.alloc(0),
    }));
    fields.splice(random.integer(0, fields.length), 0, ...groups);
  },
  function splice(random, fields, other) {
    if (other.length === 0) return;
    const start = random.integer(0, other.length - 1);
    const taken = other.slice(start, start + random.integer(1, 3));
    fields.splice(random.integer(0, fields.length), random.integer(0, 1), ...taken);
  },
];

/** @param other another message of the same kind, to take fields from. */
export function damageProtobuf(random: Random, message: Buffer, other: Buffer): Buffer {
  const fields = parse(message, 0) ?? [];
  const others = parse(other, 0) ?? [];
  const lists = listsOf(fields);
  const target = lists[random.integer(0, lists.length - 1)]!;
  const sources = listsOf(others);
  if (target.length === 0) target.push({ number: 1, kind: 2, value: Buffer.alloc(0) });
  random.pick(changes)(random, target, sources[random.integer(0, sources.length - 1)]!);
  return encodeValue(fields);
}

function change(random: Random, fields: Field[], changed: Partial<Field>): void {
  const at = random.integer(0, fields.length - 1);
  fields[at] = { ...fields[at]!, ...changed };
}

/** Fields of a message and of all nested messages. */
function listsOf(fields: Field[]): Field[][] {
  return [fields, ...fields.flatMap(({ value }) => (Array.isArray(value) ? listsOf(value) : []))];
}

const maxDepth = 12;

/** @returns undefined unless the bytes plausibly are a message. */
function parse(bytes: Buffer, depth: number): Field[] | undefined {
  const fields: Field[] = [];
  let at = 0;
  const takeVarint = (): bigint | undefined => {
    let value = 0n;
    for (let shift = 0n; shift < 70n && at < bytes.length; shift += 7n) {
      const byte = bytes[at++]!;
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return BigInt.asUintN(64, value);
    }
    return undefined;
  };
  const take = (length: number): Buffer | undefined =>
    at + length > bytes.length ? undefined : bytes.subarray(at, (at += length));
  while (at < bytes.length) {
    const tag = takeVarint();
    if (tag === undefined || tag < 8n || tag > 2n ** 32n) return undefined;
    const kind = Number(tag & 7n);
    const value = takeValue(kind);
    if (value === undefined) return undefined;
    const inner = kind === 2 && depth < maxDepth ? parse(value as Buffer, depth + 1) : undefined;
    const isMessage = inner !== undefined && inner.length > 0;
    fields.push({ number: Number(tag >> 3n), kind, value: isMessage ? inner : value });
  }
  return fields;

  function takeValue(kind: number): bigint | Buffer | undefined {
    if (kind === 0) return takeVarint();
    if (kind === 1) return take(8)?.readBigUInt64LE();
    if (kind === 5) {
      const four = take(4)?.readUInt32LE();
      return four === undefined ? undefined : BigInt(four);
    }
    const length = kind === 2 ? takeVarint() : undefined;
    return length === undefined ? undefined : take(Number(length));
  }
}

function encodeField({ number, kind, value, length }: Field): Buffer {
  const tag = varint((BigInt(number) << 3n) | BigInt(kind));
  if (typeof value === 'bigint') return Buffer.concat([tag, encodeNumber(kind, value)]);
  const bytes = encodeValue(value);
  if (kind !== 2) return Buffer.concat([tag, bytes]);
  return Buffer.concat([tag, varint(length ?? BigInt(bytes.length)), bytes]);
}

function encodeNumber(kind: number, value: bigint): Buffer {
  const eight = Buffer.alloc(8);
  eight.writeBigUInt64LE(BigInt.asUintN(64, value));
  if (kind === 1) return eight;
  return kind === 5 ? eight.subarray(0, 4) : varint(value);
}

function encodeValue(value: Buffer | Field[]): Buffer {
  return Buffer.isBuffer(value) ? value : Buffer.concat(value.map(encodeField));
}
