/**
 * A segment: one file of the log, named by its first sequence. A header says whose it is, frames
 * follow, and a finished segment ends with a seal that sums it up, so that opening a long backlog
 * need not read it.
 */
import { crc32c } from '@node-rs/crc32';
import {
  encodeFrameHeader,
  finishFrame,
  frameHeaderBytes,
  frameKinds,
  isBodyIntact,
  readFrameHeader,
} from '../frame.ts';

export const segmentHeaderBytes = 64;
export const segmentVersion = 1;
const segmentMagic = Buffer.from('WSEG', 'latin1').readUInt32LE(0);
const sealBodyBytes = 24;
export const sealBytes = frameHeaderBytes + sealBodyBytes;

const namePattern = /^(\d{20})\.segment$/;

export interface SegmentHeader {
  readonly version: number;
  readonly writer: bigint;
  readonly firstSequence: bigint;
  /** The last sequence of the segment before, by which a missing one is noticed. */
  readonly previousSequence: bigint;
  /** Batches ever appended to the log before this segment; undefined where it was not recorded. */
  readonly batchesBefore: bigint | undefined;
}

/** What is known of a segment's frames. */
export interface SegmentSummary {
  readonly firstSequence: bigint;
  readonly lastSequence: bigint;
  readonly firstReceivedAtNanos: bigint;
  readonly lastReceivedAtNanos: bigint;
  readonly batches: number;
  readonly rows: number;
  /** Offset behind the last frame. */
  readonly end: number;
  /**
   * Damage from this offset on may stem from an unclean stop: that data may never have been
   * acknowledged.
   */
  readonly tornFrom: number;
}

export function segmentName(firstSequence: bigint): string {
  return `${firstSequence.toString().padStart(20, '0')}.segment`;
}

/** @returns the first sequence, or undefined where the name is not one of ours. */
export function parseSegmentName(name: string): bigint | undefined {
  const digits = namePattern.exec(name)?.[1];
  return digits === undefined ? undefined : BigInt(digits);
}

export function encodeSegmentHeader(header: Omit<SegmentHeader, 'version'>): Buffer {
  const bytes = Buffer.alloc(segmentHeaderBytes);
  bytes.writeUInt32LE(segmentMagic, 0);
  bytes.writeUInt32LE(segmentVersion, 8);
  bytes.writeBigUInt64LE(header.writer, 16);
  bytes.writeBigUInt64LE(header.firstSequence, 24);
  bytes.writeBigUInt64LE(header.previousSequence, 32);
  writeOptional(bytes, header.batchesBefore, 40);
  bytes.writeUInt32LE(crc32c(bytes.subarray(8)), 4);
  return bytes;
}

/** @returns undefined where the header is short or damaged. */
export function decodeSegmentHeader(bytes: Buffer): SegmentHeader | undefined {
  if (bytes.length < segmentHeaderBytes) return undefined;
  if (bytes.readUInt32LE(0) !== segmentMagic) return undefined;
  if (crc32c(bytes.subarray(8, segmentHeaderBytes)) !== bytes.readUInt32LE(4)) return undefined;
  return {
    version: bytes.readUInt32LE(8),
    writer: bytes.readBigUInt64LE(16),
    firstSequence: bytes.readBigUInt64LE(24),
    previousSequence: bytes.readBigUInt64LE(32),
    batchesBefore: readOptional(bytes, 40),
  };
}

/** A field that earlier releases left zero: the number plus one, so that 0 is "not recorded". */
export function writeOptional(bytes: Buffer, value: bigint | undefined, offset: number): void {
  bytes.writeBigUInt64LE(value === undefined ? 0n : value + 1n, offset);
}

export function readOptional(bytes: Buffer, offset: number): bigint | undefined {
  const stored = bytes.readBigUInt64LE(offset);
  return stored === 0n ? undefined : stored - 1n;
}

export function encodeSeal(writer: bigint, summary: SegmentSummary): Buffer {
  const bytes = Buffer.alloc(sealBytes);
  encodeFrameHeader(bytes, 0, {
    kind: frameKinds.seal,
    length: sealBytes,
    groupOffset: 0,
    sequence: summary.lastSequence,
    receivedAtNanos: summary.lastReceivedAtNanos,
    rows: summary.rows,
    ownerBytes: 0,
    idempotencyBytes: 0,
    payloadBytes: sealBodyBytes,
    writer,
  });
  bytes.writeBigUInt64LE(summary.firstReceivedAtNanos, frameHeaderBytes);
  bytes.writeUInt32LE(summary.batches, frameHeaderBytes + 8);
  bytes.writeUInt32LE(summary.tornFrom, frameHeaderBytes + 12);
  finishFrame(bytes, 0, summary.end);
  return bytes;
}

/**
 * @param tail the last `sealBytes` of the file. @returns undefined where they are no intact seal of
 * this file.
 */
export function decodeSeal(
  tail: Buffer,
  firstSequence: bigint,
  fileBytes: number,
): SegmentSummary | undefined {
  const header = readFrameHeader(tail, 0);
  if (header === undefined || header.kind !== frameKinds.seal) return undefined;
  if (header.length !== sealBytes || !isBodyIntact(tail, 0, header)) return undefined;
  if (header.groupOffset !== fileBytes - sealBytes) return undefined;
  return {
    firstSequence,
    lastSequence: header.sequence,
    firstReceivedAtNanos: tail.readBigUInt64LE(frameHeaderBytes),
    lastReceivedAtNanos: header.receivedAtNanos,
    batches: tail.readUInt32LE(frameHeaderBytes + 8),
    rows: header.rows,
    end: fileBytes - sealBytes,
    tornFrom: tail.readUInt32LE(frameHeaderBytes + 12),
  };
}
