/**
 * The two small files beside the segments: who writes this log (`identity`), and how far its
 * batches need no further work (`checkpoint`). Each is a checksummed record of 64 bytes, replaced
 * as a whole.
 */
import { randomBytes } from 'node:crypto';
import { crc32c } from '@node-rs/crc32';
import type { FileSystem } from '../../files/file-system.ts';
import { readWhole, replaceFile } from '../../files/whole-file.ts';
import { readOptional, writeOptional } from './segment.ts';

/** 2 where there are earlier writers; then a program that knows none of them must not open it. */
export const identityVersion = 2;
const plainIdentityVersion = 1;
const checkpointVersion = 1;
const recordBytes = 64;
/** As many as the record has room for. */
export const maxEarlierWriters = 5;
const identityMagic = Buffer.from('WQID', 'latin1').readUInt32LE(0);
const checkpointMagic = Buffer.from('WQCP', 'latin1').readUInt32LE(0);

export interface Identity {
  readonly version: number;
  /** 64 random bits made with the directory, or with its restoring. */
  readonly writer: bigint;
  /** Whose batches came with a restored directory; at most `maxEarlierWriters`. */
  readonly earlier: readonly bigint[];
}

export interface Checkpoint {
  readonly writer: bigint;
  /** All batches up to this sequence need no further work. */
  readonly released: bigint;
  /** The highest sequence known to be given out. */
  readonly lastSequence: bigint;
  /** No batch may be stamped at or before this; Unix ns. */
  readonly floorNanos: bigint;
  /** Batches ever appended up to `released`; undefined where it was not recorded. */
  readonly releasedBatches: bigint | undefined;
}

/** What a record file holds: its record, nothing at all, or bytes that no checksum vouches for. */
export type Found<T> = T | 'absent' | 'damaged';

export function createIdentity(earlier: readonly bigint[] = []): Identity {
  const version = earlier.length === 0 ? plainIdentityVersion : identityVersion;
  return { version, writer: randomBytes(8).readBigUInt64LE(0), earlier };
}

export function readIdentity(fs: FileSystem, path: string): Found<Identity> {
  const bytes = readRecord(fs, path, identityMagic);
  if (typeof bytes === 'string') return bytes;
  const earlier = Array.from({ length: maxEarlierWriters }, (_, index) =>
    bytes.readBigUInt64LE(24 + 8 * index),
  );
  return {
    version: bytes.readUInt32LE(8),
    writer: bytes.readBigUInt64LE(16),
    earlier: earlier.filter((writer) => writer !== 0n),
  };
}

export function writeIdentity(fs: FileSystem, path: string, identity: Identity): void {
  const bytes = Buffer.alloc(recordBytes);
  bytes.writeUInt32LE(identity.version, 8);
  bytes.writeBigUInt64LE(identity.writer, 16);
  for (const [index, writer] of identity.earlier.entries()) {
    bytes.writeBigUInt64LE(writer, 24 + 8 * index);
  }
  writeRecord(fs, path, identityMagic, bytes);
}

export function readCheckpoint(fs: FileSystem, path: string): Found<Checkpoint> {
  const bytes = readRecord(fs, path, checkpointMagic);
  if (typeof bytes === 'string') return bytes;
  return {
    writer: bytes.readBigUInt64LE(16),
    released: bytes.readBigUInt64LE(24),
    lastSequence: bytes.readBigUInt64LE(32),
    floorNanos: bytes.readBigUInt64LE(40),
    releasedBatches: readOptional(bytes, 48),
  };
}

export function writeCheckpoint(fs: FileSystem, path: string, checkpoint: Checkpoint): void {
  const bytes = Buffer.alloc(recordBytes);
  bytes.writeUInt32LE(checkpointVersion, 8);
  bytes.writeBigUInt64LE(checkpoint.writer, 16);
  bytes.writeBigUInt64LE(checkpoint.released, 24);
  bytes.writeBigUInt64LE(checkpoint.lastSequence, 32);
  bytes.writeBigUInt64LE(checkpoint.floorNanos, 40);
  writeOptional(bytes, checkpoint.releasedBatches, 48);
  writeRecord(fs, path, checkpointMagic, bytes);
}

function readRecord(fs: FileSystem, path: string, magic: number): Found<Buffer> {
  const bytes = readWhole(fs, path);
  if (bytes === undefined) return 'absent';
  if (bytes.length !== recordBytes || bytes.readUInt32LE(0) !== magic) return 'damaged';
  return crc32c(bytes.subarray(8)) === bytes.readUInt32LE(4) ? bytes : 'damaged';
}

function writeRecord(fs: FileSystem, path: string, magic: number, bytes: Buffer): void {
  bytes.writeUInt32LE(magic, 0);
  bytes.writeUInt32LE(crc32c(bytes.subarray(8)), 4);
  replaceFile(fs, path, bytes);
}
