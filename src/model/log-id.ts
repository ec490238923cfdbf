/**
 * `logId`: a UUIDv7-shaped value (RFC 9562), a pure function of (event time in ns, tie), which
 * sorts like the list. 48 bits Unix ms, 4 bits version, 12 + 8 bits ns within the ms, 2 bits
 * variant in between, 54 bits tie. The tie is a pure function of (writer, batch sequence, row).
 */

/** Event times are in [0, this), Unix ms: up to 2149-01-01. Others become the time of receipt. */
export const maxEventTimeMillis = 5_648_745_600_000;

export const tieBits = 54n;
const tieMask = (1n << tieBits) - 1n;
/** Rows of one batch are numbered in 20 bits. */
export const maxRowsPerBatch = 1 << 20;
export const maxTie = tieMask;

export interface LogPosition {
  /** Event time, Unix ns, 0 … 2^63-1. */
  readonly timeNanos: bigint;
  /** Tie-breaker among logs of the same time, 0 … 2^54-1. */
  readonly tie: bigint;
}

/** Same formula as in SQL: (writer + sequence * 2^20 + row) mod 2^54. */
export function toTie(writer: bigint, sequence: bigint, row: number): bigint {
  return (writer + (sequence << 20n) + BigInt(row)) & tieMask;
}

export function encodeLogId(position: LogPosition): string {
  const millis = position.timeNanos / 1_000_000n;
  const nanos = position.timeNanos % 1_000_000n;
  const high = (millis << 16n) | (0x7n << 12n) | (nanos >> 8n);
  const low = (0b10n << 62n) | ((nanos & 0xffn) << tieBits) | (position.tie & tieMask);
  const hex = ((high << 64n) | low).toString(16).padStart(32, '0');
  return [[0, 8], [8, 12], [12, 16], [16, 20], [20]].map((at) => hex.slice(...at)).join('-');
}

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export const nilLogId = '00000000-0000-0000-0000-000000000000';

/** @returns the position, or undefined unless `text` is a logId (the nil UUID is not) */
export function decodeLogId(text: string): LogPosition | undefined {
  if (!uuidPattern.test(text)) return undefined;
  const bits = BigInt(`0x${text.replaceAll('-', '')}`);
  const high = bits >> 64n;
  const low = bits & 0xffff_ffff_ffff_ffffn;
  if (((high >> 12n) & 0xfn) !== 0x7n || low >> 62n !== 0b10n) return undefined;
  const millis = high >> 16n;
  const nanos = ((high & 0xfffn) << 8n) | ((low >> tieBits) & 0xffn);
  // 48 bits of ms exceed the range of 64-bit nanoseconds.
  if (nanos >= 1_000_000n || millis > maxEventTimeMillis) return undefined;
  return { timeNanos: millis * 1_000_000n + nanos, tie: low & tieMask };
}
