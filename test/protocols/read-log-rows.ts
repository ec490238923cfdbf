/** Reads `logs/1` rows from bytes, by `logRowFields`. Fails when the bytes end within a row. */
import assert from 'node:assert/strict';
import { logRowFields } from '../../src/codec/log-rows.ts';

type FieldName = (typeof logRowFields)[number][0];
export type LogRow = Record<FieldName, unknown>;

export function readLogRows(payload: Uint8Array): LogRow[] {
  const bytes = Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength);
  let at = 0;
  const take = (length: number): number => {
    assert.ok(at + length <= bytes.length, 'a row must be complete');
    at += length;
    return at - length;
  };
  const varint = (): number => {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[take(1)]!;
      value += (byte & 127) * 2 ** shift;
      if (byte < 128) return value;
    }
  };
  const text = (): string => {
    const start = take(varint());
    return bytes.toString('utf8', start, at);
  };
  const readers: Record<(typeof logRowFields)[number][1], () => unknown> = {
    Int64: () => bytes.readBigInt64LE(take(8)),
    UInt8: () => bytes[take(1)]!,
    String: text,
    'Map(String, String)': () => new Map(Array.from({ length: varint() }, () => [text(), text()])),
  };
  const rows: LogRow[] = [];
  while (at < bytes.length) {
    rows.push(
      Object.fromEntries(logRowFields.map(([name, type]) => [name, readers[type]()])) as LogRow,
    );
  }
  return rows;
}
