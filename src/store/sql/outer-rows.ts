/**
 * The body of an insert: each batch's prefix in RowBinary, then its rows as they are. Small batches
 * are copied together so that ten thousand of one row do not become ten thousand writes; large
 * payloads pass through uncopied. Pure.
 */
import type { StampedBatch } from '../../model/batch.ts';

const chunkBytes = 256 * 1024;
/** Larger payloads go out as they are. */
const copiedBytes = 16 * 1024;
/**
 * 16 batch + 8 time + three strings of up to 127 bytes with their lengths + a varint of up to 5.
 */
const maxPrefixBytes = 16 + 8 + 3 * 128 + 5;

/** @returns chunks that together are the outer rows of `batches`, in order. */
export function* encodeOuterRows(batches: readonly StampedBatch[]): Generator<Uint8Array> {
  let chunk = Buffer.allocUnsafeSlow(chunkBytes);
  let start = 0;
  let end = 0;
  for (const batch of batches) {
    if (end + maxPrefixBytes > chunkBytes) {
      yield chunk.subarray(start, end);
      chunk = Buffer.allocUnsafeSlow(chunkBytes);
      start = 0;
      end = 0;
    }
    end = writePrefix(chunk, end, batch);
    if (batch.payload.length <= copiedBytes && end + batch.payload.length <= chunkBytes) {
      chunk.set(batch.payload, end);
      end += batch.payload.length;
      continue;
    }
    yield chunk.subarray(start, end);
    yield batch.payload;
    start = end;
  }
  if (end > start) yield chunk.subarray(start, end);
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
