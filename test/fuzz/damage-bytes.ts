/**
 * Format-agnostic mutations: flips, cuts, repeats, inserts and splices. A pure function of its
 * random numbers.
 */
import type { Random } from '../harness/random.ts';

/** Bytes with a special meaning in many formats. */
const telling = [
  0x00, 0x01, 0x09, 0x0a, 0x0d, 0x20, 0x22, 0x23, 0x2c, 0x2d, 0x30, 0x3a, 0x5b, 0x5c, 0x5d, 0x7b,
  0x7d, 0x7f, 0x80, 0xbf, 0xc0, 0xe2, 0xed, 0xef, 0xf0, 0xf5, 0xfe, 0xff,
] as const;

type Damage = (random: Random, bytes: Buffer, other: Buffer) => Buffer;

const damages: readonly [Damage, ...Damage[]] = [
  function flip(random, bytes) {
    const flipped = Buffer.from(bytes);
    const at = random.integer(0, bytes.length - 1);
    flipped[at] = flipped[at]! ^ (1 << random.integer(0, 7));
    return flipped;
  },
  function replace(random, bytes) {
    const replaced = Buffer.from(bytes);
    replaced[random.integer(0, bytes.length - 1)] = random.pick(telling);
    return replaced;
  },
  function cut(random, bytes) {
    return bytes.subarray(0, random.integer(0, bytes.length));
  },
  function insert(random, bytes) {
    const at = random.integer(0, bytes.length);
    const inserted = Buffer.from(
      Array.from({ length: random.integer(1, 4) }, () => random.pick(telling)),
    );
    return Buffer.concat([bytes.subarray(0, at), inserted, bytes.subarray(at)]);
  },
  function remove(random, bytes) {
    const [start, end] = rangeOf(random, bytes);
    return Buffer.concat([bytes.subarray(0, start), bytes.subarray(end)]);
  },
  function repeat(random, bytes) {
    const [start, end] = rangeOf(random, bytes);
    const times = random.integer(1, random.integer(1, 20));
    const again = Array.from({ length: times }, () => bytes.subarray(start, end));
    return Buffer.concat([bytes.subarray(0, end), ...again, bytes.subarray(end)]);
  },
  function splice(random, bytes, other) {
    const [start, end] = rangeOf(random, bytes);
    const [from, to] = rangeOf(random, other);
    return Buffer.concat([bytes.subarray(0, start), other.subarray(from, to), bytes.subarray(end)]);
  },
];

/** @param other another input of the same format, to splice from. */
export function damageBytes(random: Random, bytes: Buffer, other: Buffer): Buffer {
  return bytes.length === 0 ? Buffer.from(other) : random.pick(damages)(random, bytes, other);
}

/** Short lengths far more often than long ones. */
function rangeOf(random: Random, bytes: Buffer): [start: number, end: number] {
  const start = random.integer(0, Math.max(bytes.length - 1, 0));
  const length = Math.ceil((bytes.length - start) * random.next() ** 3);
  return [start, start + length];
}
