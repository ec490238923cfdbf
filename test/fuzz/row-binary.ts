/**
 * Writes RowBinary (https://clickhouse.com/docs/interfaces/formats/RowBinary), for round-trip
 * comparison: a difference means invalid text or a non-canonical encoding.
 */
import { varint } from '../harness/proto-wire.ts';

export function toText(text: string | Buffer): Buffer {
  const bytes = Buffer.from(text as string);
  return Buffer.concat([varint(BigInt(bytes.length)), bytes]);
}

export function toMap(entries: readonly (readonly [string, string])[]): Buffer {
  const texts = entries.flatMap(([key, value]) => [toText(key), toText(value)]);
  return Buffer.concat([toCount(entries.length), ...texts]);
}

export function toCount(count: number): Buffer {
  return varint(BigInt(count));
}

/** Little endian, two's complement. */
export function toInteger(value: bigint, bytes: 1 | 2 | 8 | 16): Buffer {
  const out = Buffer.alloc(16);
  const bits = BigInt.asUintN(128, value);
  out.writeBigUInt64LE(BigInt.asUintN(64, bits));
  out.writeBigUInt64LE(bits >> 64n, 8);
  return out.subarray(0, bytes);
}
