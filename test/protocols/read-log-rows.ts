/** Reads `logs/1` rows from bytes, by `logRowFields`. Fails when the bytes end within a row. */
import assert from 'node:assert/strict';
import { logRowFields } from '../../src/codec/log-rows.ts';

type FieldName = (typeof logRowFields)[number][0];
export type LogRow = Record<FieldName, unknown>;

export function readLogRows(payload: Uint8Array): LogRow[] {
  const bytes = Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength);
  let at = 0;
  const take = (length: number): number => {
    if (at + length > bytes.length) assert.fail('a row must be complete');
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
  const map = (): Map<string, string> => {
    const entries = new Map<string, string>();
    for (let left = varint(); left > 0; left--) {
      const key = text();
      entries.set(key, text());
    }
    return entries;
  };
  const read = (type: (typeof logRowFields)[number][1]): unknown => {
    if (type === 'Int64') return bytes.readBigInt64LE(take(8));
    if (type === 'UInt8') return bytes[take(1)]!;
    return type === 'String' ? text() : map();
  };
  const rows: LogRow[] = [];
  while (at < bytes.length) {
    const row: Partial<LogRow> = {};
    for (const [name, type] of logRowFields) row[name] = read(type);
    rows.push(row as LogRow);
  }
  return rows;
}
