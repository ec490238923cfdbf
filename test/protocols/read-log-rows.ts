/**
 * Reads `logs/1` rows back from bytes, field by field as `logRowFields` lists them, for tests of
 * decoders.
 */
import { logRowFields } from '../../src/model/log-rows.ts';

type FieldName = (typeof logRowFields)[number][0];
export type LogRow = Record<FieldName, unknown>;

export function readLogRows(payload: Uint8Array): LogRow[] {
  const bytes = Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength);
  let at = 0;
  const varint = (): number => {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[at++]!;
      value += (byte & 127) * 2 ** shift;
      if (byte < 128) return value;
    }
  };
  const text = (): string => {
    const length = varint();
    at += length;
    return bytes.toString('utf8', at - length, at);
  };
  const readers: Record<(typeof logRowFields)[number][1], () => unknown> = {
    Int64: () => bytes.readBigInt64LE((at += 8) - 8),
    UInt8: () => bytes[at++]!,
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
