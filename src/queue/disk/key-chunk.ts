/**
 * A chunk: the idempotency keys of one finished segment with digests and answers, under one
 * checksum. Little endian.
 *
 *  0 u32 magic "WKC1"   4 u32 CRC32C of bytes 8..length   8 u32 length   12 u32 keys
 * 16 u64 newest stamp, Unix ns
 * then per key: u64 stamp, 16-byte key, 16-byte body digest, u32 answer bytes, answer
 */
import { crc32c } from '@node-rs/crc32';
import { decodeFrameHeader, digestBytes, idempotencyOf } from '../frame.ts';
import type { IdempotencyRecord } from '../port.ts';

const chunkHeaderBytes = 24;
const chunkMagic = Buffer.from('WKC1', 'latin1').readUInt32LE(0);
const entryHeaderBytes = 8 + 2 * digestBytes + 4;

export interface ChunkHeader {
  readonly length: number;
  readonly keys: number;
  readonly newestNanos: bigint;
}

export interface KeyEntry extends IdempotencyRecord {
  readonly stampNanos: bigint;
}

/** Collects the keys of the segment being written, until they go to the key log. */
export class KeyCollector {
  #bytes: Buffer = Buffer.alloc(0);
  #length = chunkHeaderBytes;
  #keys = 0;
  #newestNanos = 0n;

  /** @param record key, digest and answer as in a frame; copied */
  add(stampNanos: bigint, record: Uint8Array): void {
    const end = this.#length + 8 + record.length + 4;
    this.#reserve(end);
    const digestsEnd = this.#length + 8 + 2 * digestBytes;
    this.#bytes.writeBigUInt64LE(stampNanos, this.#length);
    this.#bytes.set(record.subarray(0, 2 * digestBytes), this.#length + 8);
    this.#bytes.writeUInt32LE(record.length - 2 * digestBytes, digestsEnd);
    this.#bytes.set(record.subarray(2 * digestBytes), digestsEnd + 4);
    this.#length = end;
    this.#keys++;
    this.#newestNanos = stampNanos;
  }

  /** Adds the keys of consecutive frames. */
  addGroup(group: Buffer): void {
    for (let offset = 0; offset < group.length; ) {
      const header = decodeFrameHeader(group, offset);
      const record = idempotencyOf(group, offset, header);
      if (record.length > 0) this.add(header.receivedAtNanos, record);
      offset += header.length;
    }
  }

  /** The keys since the last `clear`; undefined where there are none. */
  toChunk(): Buffer | undefined {
    if (this.#keys === 0) return undefined;
    const chunk = this.#bytes.subarray(0, this.#length);
    chunk.writeUInt32LE(chunkMagic, 0);
    chunk.writeUInt32LE(this.#length, 8);
    chunk.writeUInt32LE(this.#keys, 12);
    chunk.writeBigUInt64LE(this.#newestNanos, 16);
    chunk.writeUInt32LE(crc32c(chunk.subarray(8)), 4);
    return chunk;
  }

  clear(): void {
    this.#bytes = Buffer.alloc(0);
    this.#length = chunkHeaderBytes;
    this.#keys = 0;
  }

  #reserve(length: number): void {
    if (length <= this.#bytes.length) return;
    const larger = Buffer.from(new ArrayBuffer(Math.max(length, 2 * this.#bytes.length, 4096)));
    larger.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = larger;
  }
}

/** @returns undefined where there is no intact chunk at `offset` */
export function readChunkHeader(source: Buffer, offset: number): ChunkHeader | undefined {
  if (offset + chunkHeaderBytes > source.length) return undefined;
  if (source.readUInt32LE(offset) !== chunkMagic) return undefined;
  const length = source.readUInt32LE(offset + 8);
  if (length < chunkHeaderBytes || offset + length > source.length) return undefined;
  const sum = crc32c(source.subarray(offset + 8, offset + length));
  if (sum !== source.readUInt32LE(offset + 4)) return undefined;
  return {
    length,
    keys: source.readUInt32LE(offset + 12),
    newestNanos: source.readBigUInt64LE(offset + 16),
  };
}

/** The keys of an intact chunk, oldest first, as views. */
export function* readKeyEntries(chunk: Buffer): Generator<KeyEntry> {
  let offset = chunkHeaderBytes;
  while (offset < chunk.length) {
    const answerStart = offset + entryHeaderBytes;
    const answerEnd = answerStart + chunk.readUInt32LE(answerStart - 4);
    const keyStart = offset + 8;
    yield {
      stampNanos: chunk.readBigUInt64LE(offset),
      key: chunk.subarray(keyStart, keyStart + digestBytes),
      bodyDigest: chunk.subarray(keyStart + digestBytes, keyStart + 2 * digestBytes),
      answer: chunk.subarray(answerStart, answerEnd),
    };
    offset = answerEnd;
  }
}
