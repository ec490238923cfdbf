/**
 * The frame: one batch on disk or on the wire. A 64-byte header with its own checksum, then owner,
 * idempotency record and payload under a second one. Little endian; a released version never
 * changes.
 *
 *  0 u32 magic "WFR1"   4 u32 CRC32C of bytes 8..64   8 u32 CRC32C of the body   12 u32 length
 * 16 u8 version  17 u8 kind   20 u32 group offset   24 u64 sequence   32 u64 received, Unix ns
 * 40 u32 rows   44 u32 owner bytes   48 u32 idempotency bytes (0 = none)   52 u32 payload bytes
 * 56 u64 writer
 */
import { crc32c } from '@node-rs/crc32';
import type { BatchOwner, Layout, StampedBatch } from '../model/batch.ts';
import type { IdempotencyRecord } from './port.ts';

export const frameHeaderBytes = 64;
export const frameMagic: Uint8Array = Buffer.from('WFR1', 'latin1');
const frameVersion = 1;
/** A batch, or the summary that ends a finished segment. */
export const frameKinds = { batch: 1, seal: 2 } as const;
/** Length of an idempotency key, and of a body digest. */
export const digestBytes = 16;

const magicNumber = Buffer.from(frameMagic).readUInt32LE(0);

export interface FrameHeader {
  readonly kind: number;
  readonly length: number;
  /** Where in the file its group begins: everything before was synced before it was written. */
  readonly groupOffset: number;
  readonly sequence: bigint;
  readonly receivedAtNanos: bigint;
  readonly rows: number;
  readonly ownerBytes: number;
  readonly idempotencyBytes: number;
  readonly payloadBytes: number;
  readonly writer: bigint;
}

/** Length of the frame that will hold this batch. */
export function measureFrame(batch: StampedBatch, idempotency?: IdempotencyRecord): number {
  return frameHeaderBytes + measureOwner(batch) + measureRecord(idempotency) + batch.payload.length;
}

/** Writes the frame at `offset`, to be completed by `finishFrame`. @returns the offset after it */
export function encodeFrame(
  target: Buffer,
  offset: number,
  batch: StampedBatch,
  idempotency?: IdempotencyRecord,
): number {
  const ownerStart = offset + frameHeaderBytes;
  let end = writeText(target, ownerStart, batch.layout);
  end = writeText(target, end, batch.owner.accountId);
  end = writeText(target, end, batch.owner.streamId);
  end = writeText(target, end, batch.owner.receiverId);
  const ownerBytes = end - ownerStart;
  if (idempotency !== undefined) {
    target.set(idempotency.key, end);
    target.set(idempotency.bodyDigest, end + digestBytes);
    target.set(idempotency.answer, end + 2 * digestBytes);
  }
  const idempotencyBytes = measureRecord(idempotency);
  target.set(batch.payload, end + idempotencyBytes);
  end += idempotencyBytes + batch.payload.length;
  encodeFrameHeader(target, offset, {
    kind: frameKinds.batch,
    length: end - offset,
    groupOffset: 0,
    sequence: batch.id.sequence,
    receivedAtNanos: batch.receivedAtNanos,
    rows: batch.rows,
    ownerBytes,
    idempotencyBytes,
    payloadBytes: batch.payload.length,
    writer: batch.id.writer,
  });
  return end;
}

/** Writes the header without its checksums. */
export function encodeFrameHeader(target: Buffer, offset: number, header: FrameHeader): void {
  target.writeUInt32LE(magicNumber, offset);
  target.writeUInt32LE(header.length, offset + 12);
  target.writeUInt32LE(frameVersion | (header.kind << 8), offset + 16);
  target.writeUInt32LE(header.groupOffset, offset + 20);
  target.writeBigUInt64LE(header.sequence, offset + 24);
  target.writeBigUInt64LE(header.receivedAtNanos, offset + 32);
  target.writeUInt32LE(header.rows, offset + 40);
  target.writeUInt32LE(header.ownerBytes, offset + 44);
  target.writeUInt32LE(header.idempotencyBytes, offset + 48);
  target.writeUInt32LE(header.payloadBytes, offset + 52);
  target.writeBigUInt64LE(header.writer, offset + 56);
}

/** Fills in the group offset, known only when the frame is written, and both checksums. */
export function finishFrame(target: Buffer, offset: number, groupOffset: number): void {
  const length = target.readUInt32LE(offset + 12);
  const body = target.subarray(offset + frameHeaderBytes, offset + length);
  target.writeUInt32LE(crc32c(body), offset + 8);
  target.writeUInt32LE(groupOffset, offset + 20);
  target.writeUInt32LE(crc32c(target.subarray(offset + 8, offset + frameHeaderBytes)), offset + 4);
}

/** Reads a header without verifying it, for frames of this process. */
export function decodeFrameHeader(source: Buffer, offset: number): FrameHeader {
  return {
    kind: source.readUInt8(offset + 17),
    length: source.readUInt32LE(offset + 12),
    groupOffset: source.readUInt32LE(offset + 20),
    sequence: source.readBigUInt64LE(offset + 24),
    receivedAtNanos: source.readBigUInt64LE(offset + 32),
    rows: source.readUInt32LE(offset + 40),
    ownerBytes: source.readUInt32LE(offset + 44),
    idempotencyBytes: source.readUInt32LE(offset + 48),
    payloadBytes: source.readUInt32LE(offset + 52),
    writer: source.readBigUInt64LE(offset + 56),
  };
}

/** @returns undefined where there is no intact header at `offset` */
export function readFrameHeader(source: Buffer, offset: number): FrameHeader | undefined {
  if (offset + frameHeaderBytes > source.length) return undefined;
  if (source.readUInt32LE(offset) !== magicNumber) return undefined;
  const sum = crc32c(source.subarray(offset + 8, offset + frameHeaderBytes));
  if (sum !== source.readUInt32LE(offset + 4)) return undefined;
  if (source.readUInt8(offset + 16) !== frameVersion) return undefined;
  const header = decodeFrameHeader(source, offset);
  const parts = header.ownerBytes + header.idempotencyBytes + header.payloadBytes;
  return header.length === frameHeaderBytes + parts ? header : undefined;
}

/** Whether `source` begins with the whole frame and its checksum matches. */
export function isBodyIntact(source: Buffer, header: FrameHeader): boolean {
  if (header.length > source.length) return false;
  return crc32c(source.subarray(frameHeaderBytes, header.length)) === source.readUInt32LE(8);
}

/** Decodes an intact frame; the payload is a view of `frame`. */
export function decodeFrame(frame: Buffer): StampedBatch {
  const header = decodeFrameHeader(frame, 0);
  const [layout, accountId, streamId, receiverId] = readOwner(frame, header.ownerBytes);
  const owner: BatchOwner = { accountId, streamId, receiverId };
  return {
    id: { writer: header.writer, sequence: header.sequence },
    receivedAtNanos: header.receivedAtNanos,
    owner,
    // The store refuses a layout it does not know, and the drain quarantines the batch.
    layout: layout as Layout,
    rows: header.rows,
    payload: frame.subarray(header.length - header.payloadBytes, header.length),
  };
}

/** Key, digest and answer of an intact frame, concatenated; empty where it has none. */
export function idempotencyOf(source: Buffer, offset: number, header: FrameHeader): Buffer {
  const start = offset + frameHeaderBytes + header.ownerBytes;
  return source.subarray(start, start + header.idempotencyBytes);
}

function measureOwner(batch: StampedBatch): number {
  const { accountId, streamId, receiverId } = batch.owner;
  return (
    measureText(batch.layout) +
    measureText(accountId) +
    measureText(streamId) +
    measureText(receiverId)
  );
}

function measureRecord(idempotency: IdempotencyRecord | undefined): number {
  return idempotency === undefined ? 0 : 2 * digestBytes + idempotency.answer.length;
}

function measureText(text: string): number {
  return 2 + Buffer.byteLength(text);
}

function writeText(target: Buffer, offset: number, text: string): number {
  const length = target.write(text, offset + 2);
  target.writeUInt16LE(length, offset);
  return offset + 2 + length;
}

function readOwner(frame: Buffer, ownerBytes: number): [string, string, string, string] {
  const texts: [string, string, string, string] = ['', '', '', ''];
  let offset = frameHeaderBytes;
  for (let index = 0; index < texts.length && offset < frameHeaderBytes + ownerBytes; index++) {
    const length = frame.readUInt16LE(offset);
    texts[index] = frame.toString('utf8', offset + 2, offset + 2 + length);
    offset += 2 + length;
  }
  return texts;
}
