/**
 * The body of an insert: for each batch a RowBinary prefix common to its rows, then its rows. Small
 * batches are copied into chunks, so that ten thousand of them do not become ten thousand writes;
 * large ones are not copied. Pure.
 */
import type { StampedBatch } from '../../model/batch.ts';

export interface OuterRow {
  readonly batch: Pick<StampedBatch, 'id' | 'receivedAtNanos' | 'owner'>;
  /** Number of rows, written before them; undefined where `rows` begins with it. */
  readonly count: number | undefined;
  readonly rows: Uint8Array;
}

const chunkBytes = 256 * 1024;
/** Larger payloads are not copied. */
const copiedBytes = 16 * 1024;
/**
 * 16 batch + 8 time + three strings of up to 127 bytes with their lengths + a varint of up to 5.
 */
const maxPrefixBytes = 16 + 8 + 3 * 128 + 5;

/** @returns chunks in order. */
export function* encodeOuterRows(outerRows: Iterable<OuterRow>): Generator<Uint8Array> {
  let chunk = Buffer.allocUnsafeSlow(chunkBytes);
  let start = 0;
  let end = 0;
  for (const { batch, count, rows } of outerRows) {
    if (end + maxPrefixBytes > chunkBytes) {
      yield chunk.subarray(start, end);
      chunk = Buffer.allocUnsafeSlow(chunkBytes);
      start = 0;
      end = 0;
    }
    end = writePrefix(chunk, end, batch);
    if (count !== undefined) end = writeVarint(chunk, end, count);
    if (rows.length <= copiedBytes && end + rows.length <= chunkBytes) {
      chunk.set(rows, end);
      end += rows.length;
      continue;
    }
    yield chunk.subarray(start, end);
    yield rows;
    start = end;
  }
  if (end > start) yield chunk.subarray(start, end);
}

/** UInt128 is little endian, so the sequence (low half) comes first. */
function writePrefix(chunk: Buffer, start: number, batch: OuterRow['batch']): number {
  let at = chunk.writeBigUInt64LE(batch.id.sequence, start);
  at = chunk.writeBigUInt64LE(batch.id.writer, at);
  at = chunk.writeBigInt64LE(batch.receivedAtNanos, at);
  at = writeText(chunk, at, batch.owner.accountId);
  at = writeText(chunk, at, batch.owner.streamId);
  return writeText(chunk, at, batch.owner.receiverId);
}

function writeText(chunk: Buffer, at: number, text: string): number {
  const bytes = Buffer.byteLength(text);
  if (bytes > 127) throw new RangeError(`cannot store an id of ${bytes} bytes: "${text}"`);
  chunk[at] = bytes;
  return at + 1 + chunk.write(text, at + 1, bytes, 'utf8');
}

function writeVarint(chunk: Buffer, start: number, value: number): number {
  let at = start;
  let rest = value;
  while (rest > 127) {
    chunk[at++] = (rest & 127) | 128;
    rest >>>= 7;
  }
  chunk[at++] = rest;
  return at;
}
