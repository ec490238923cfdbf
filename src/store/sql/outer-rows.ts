/**
 * The body of an insert: each batch's prefix in RowBinary, then its rows as they are. Small batches are copied together
 * so that ten thousand of one row do not become ten thousand writes; large payloads pass through uncopied. Pure.
 */
import type { StampedBatch } from '../../model/batch.ts';

const chunkBytes = 256 * 1024;
/** 16 batch + 8 time + three strings of up to 127 bytes with their lengths + a varint of up to 5. */
const maxPrefixBytes = 16 + 8 + 3 * 128 + 5;

/** @returns chunks that together are the outer rows of `batches`, in order. */
export function* encodeOuterRows(batches: readonly StampedBatch[]): Generator<Uint8Array> {
  let chunk = Buffer.allocUnsafe(chunkBytes);
  let length = 0;
  for (const batch of batches) {
    if (length + maxPrefixBytes > chunkBytes) {
      yield chunk.subarray(0, length);
      chunk = Buffer.allocUnsafe(chunkBytes);
      length = 0;
    }
    length = writePrefix(chunk, length, batch);
    if (length + batch.payload.length <= chunkBytes) {
      chunk.set(batch.payload, length);
      length += batch.payload.length;
      continue;
    }
    yield chunk.subarray(0, length);
    yield batch.payload;
    chunk = Buffer.allocUnsafe(chunkBytes);
    length = 0;
  }
  if (length > 0) yield chunk.subarray(0, length);
}

/** UInt128 is little endian, so the sequence (low half) comes first. */
function writePrefix(chunk: Buffer, start: number, batch: StampedBatch): number {
  let at = chunk.writeBigUInt64LE(batch.id.sequence, start);
  at = chunk.writeBigUInt64LE(batch.id.writer, at);
  at = chunk.writeBigInt64LE(batch.receivedAtNanos, at);
  at = writeText(chunk, at, batch.owner.accountId);
  at = writeText(chunk, at, batch.owner.streamId);
  at = writeText(chunk, at, batch.owner.receiverId);
  return writeVarint(chunk, at, batch.rows);
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
