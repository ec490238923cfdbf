/**
 * A segment: one file of the log, named by its first sequence. A header, frames, and in a finished
 * segment a seal with a summary, so that opening a long backlog need not read it.
 */
import { dirname, join } from 'node:path';
import { defineRecord } from '../../codec/record.ts';
import { isNoRoom } from '../../files/disk-failure.ts';
import type { FileId, FileSystem } from '../../files/file-system.ts';
import {
  reading,
  readRange,
  removeIfThere,
  temporarySuffix,
  writeFully,
} from '../../files/atomic-file.ts';
import {
  decodeFrameHeader,
  encodeFrameHeader,
  finishFrame,
  type FrameHeader,
  frameHeaderBytes,
  frameKinds,
  idempotencyOf,
  isBodyIntact,
  readFrameHeader,
} from '../frame.ts';
import { FrameReader, type Gap } from './frame-reader.ts';
import type { KeyCollector } from './key-chunk.ts';

export const segmentVersion = 1;
const scanWindowBytes = 4 * 1024 * 1024;
const sealBodyBytes = 24;
const sealBytes = frameHeaderBytes + sealBodyBytes;
const namePattern = /^(\d{20})\.segment$/;

const headerFormat = defineRecord('WSEG', 64, {
  version: [8, 'u32'],
  writer: [16, 'u64'],
  firstSequence: [24, 'u64'],
  /** The last sequence of the segment before, by which a missing one is noticed. */
  previousSequence: [32, 'u64'],
  /** Batches ever appended to the log before this segment, where that was recorded. */
  batchesBefore: [40, 'optional'],
});
export const segmentHeaderBytes = headerFormat.bytes;
type SegmentHeader = NonNullable<ReturnType<typeof headerFormat.decode>>;

/** What is known of a segment's frames. */
export interface SegmentSummary {
  readonly firstSequence: bigint;
  readonly lastSequence: bigint;
  readonly firstReceivedAtNanos: bigint;
  readonly lastReceivedAtNanos: bigint;
  readonly batches: number;
  readonly rows: number;
  /** Offset after the last frame. */
  readonly end: number;
  /** Data from this offset on may never have been acknowledged: damage there may be a torn end. */
  readonly tornFrom: number;
}

export interface Segment extends SegmentSummary {
  readonly path: string;
  readonly sealed: boolean;
  /** Seal included. */
  readonly fileBytes: number;
  /** Undefined where the header is damaged; the frames are read all the same. */
  readonly header: SegmentHeader | undefined;
  /** Of the header or the first frame; undefined where both are damaged. */
  readonly writer: bigint | undefined;
}

export interface Scan {
  readonly summary: SegmentSummary;
  /** Gaps among the frames; those from `summary.end` on are the tail. */
  readonly gaps: readonly Gap[];
}

export function segmentName(firstSequence: bigint): string {
  return `${firstSequence.toString().padStart(20, '0')}.segment`;
}

/** @returns the first sequence, or undefined where this is not the name of a segment */
export function parseSegmentName(name: string): bigint | undefined {
  const digits = namePattern.exec(name)?.[1];
  return digits === undefined ? undefined : BigInt(digits);
}

/** Reads header, first frame's header and seal; without a seal the summary is empty. */
export function inspectSegment(fs: FileSystem, directory: string, firstSequence: bigint): Segment {
  const path = join(directory, segmentName(firstSequence));
  return reading(fs, path, (file) => {
    const fileBytes = fs.size(file);
    const start = readRange(fs, file, 0, segmentHeaderBytes + frameHeaderBytes);
    const header = headerFormat.decode(start.subarray(0, segmentHeaderBytes));
    const writer = (header ?? readFrameHeader(start, segmentHeaderBytes))?.writer;
    const tailStart = Math.max(segmentHeaderBytes, fileBytes - sealBytes);
    const seal = decodeSeal(readRange(fs, file, tailStart, sealBytes), firstSequence, fileBytes);
    const summary = seal ?? emptySummary(firstSequence);
    return { ...summary, path, sealed: seal !== undefined, fileBytes, header, writer };
  });
}

/** Reads all frames; their idempotency keys go to `keys`. */
export function scanSegment(
  fs: FileSystem,
  segment: Segment,
  writer: bigint,
  keys: KeyCollector,
): Scan {
  return withReader(fs, segment, writer, (reader) => {
    let summary = emptySummary(segment.firstSequence);
    for (let frame = reader.next(segment.fileBytes); frame !== undefined; ) {
      const { header, offset, bytes } = frame;
      const record = idempotencyOf(bytes, 0, header);
      if (record.length > 0) keys.add(header.receivedAtNanos, record);
      const end = offset + header.length;
      summary = { ...withFrame(summary, header), end, tornFrom: header.groupOffset };
      frame = reader.next(segment.fileBytes);
    }
    return { summary, gaps: reader.takeGaps() };
  });
}

/** Begins a segment; its file is durable on return, and absent where there is no room for it. */
export function createSegment(
  fs: FileSystem,
  directory: string,
  fields: Omit<SegmentHeader, 'version'>,
): { file: FileId; segment: Segment } {
  const { firstSequence, writer } = fields;
  const header = { version: segmentVersion, ...fields };
  const path = join(directory, segmentName(firstSequence));
  const file = fs.open(path, 'create');
  try {
    writeFully(fs, file, headerFormat.encode(header), 0);
    fs.sync(file);
    fs.syncDirectory(directory);
  } catch (error) {
    fs.close(file);
    if (isNoRoom(error)) removeIfThere(fs, path);
    throw error;
  }
  const fileBytes = segmentHeaderBytes;
  const summary = emptySummary(firstSequence);
  const segment = { ...summary, path, header, writer, sealed: false, fileBytes };
  return { file, segment };
}

/** Fills in the checksums of a group of frames. @returns the segment with the group at its end */
export function extendSegment(segment: Segment, group: Buffer): Segment {
  let summary: SegmentSummary = segment;
  for (let offset = 0; offset < group.length; ) {
    finishFrame(group, offset, segment.end);
    const header = decodeFrameHeader(group, offset);
    summary = withFrame(summary, header);
    offset += header.length;
  }
  const end = segment.end + group.length;
  return { ...segment, ...summary, end, tornFrom: end, fileBytes: end };
}

/** Writes the seal durably. @returns bytes of the file */
export function sealSegment(
  fs: FileSystem,
  file: FileId,
  writer: bigint,
  summary: SegmentSummary,
): number {
  writeFully(fs, file, encodeSeal(writer, summary), summary.end);
  fs.sync(file);
  return summary.end + sealBytes;
}

/**
 * Replaces the unfinished segment of a stopped process by a sealed copy, cut at the summary's end.
 * A copy, because data read back after a failed sync may be in memory only, and no later sync would
 * write it to disk.
 */
export function finishSegment(
  fs: FileSystem,
  segment: Segment,
  summary: SegmentSummary,
  writer: bigint,
): Segment {
  const temporary = segment.path + temporarySuffix;
  const source = fs.open(segment.path, 'read');
  const copy = fs.open(temporary, 'create');
  let fileBytes = 0;
  try {
    for (let offset = 0; offset < summary.end; offset += scanWindowBytes) {
      const length = Math.min(scanWindowBytes, summary.end - offset);
      writeFully(fs, copy, readRange(fs, source, offset, length), offset);
    }
    fileBytes = sealSegment(fs, copy, writer, summary);
  } finally {
    fs.close(copy);
    fs.close(source);
  }
  fs.rename(temporary, segment.path);
  fs.syncDirectory(dirname(segment.path));
  return { ...segment, ...summary, sealed: true, fileBytes };
}

/** @param writer assumed where the segment does not tell its own */
export function readerOf(
  fs: FileSystem,
  file: FileId,
  segment: Pick<Segment, 'firstSequence' | 'writer'>,
  writer: bigint,
): FrameReader {
  return new FrameReader(fs, file, {
    writer: segment.writer ?? writer,
    start: segmentHeaderBytes,
    afterSequence: segment.firstSequence - 1n,
    windowBytes: scanWindowBytes,
  });
}

export function withReader<Result>(
  fs: FileSystem,
  segment: Segment,
  writer: bigint,
  use: (reader: FrameReader) => Result,
): Result {
  return reading(fs, segment.path, (file) => use(readerOf(fs, file, segment, writer)));
}

function emptySummary(firstSequence: bigint): SegmentSummary {
  return {
    firstSequence,
    lastSequence: firstSequence - 1n,
    firstReceivedAtNanos: 0n,
    lastReceivedAtNanos: 0n,
    batches: 0,
    rows: 0,
    end: segmentHeaderBytes,
    tornFrom: segmentHeaderBytes,
  };
}

function withFrame(summary: SegmentSummary, header: FrameHeader): SegmentSummary {
  const { sequence: lastSequence, receivedAtNanos: lastReceivedAtNanos } = header;
  const isFirst = summary.batches === 0;
  return {
    ...summary,
    lastSequence,
    firstReceivedAtNanos: isFirst ? lastReceivedAtNanos : summary.firstReceivedAtNanos,
    lastReceivedAtNanos,
    batches: summary.batches + 1,
    rows: summary.rows + header.rows,
  };
}

function encodeSeal(writer: bigint, summary: SegmentSummary): Buffer {
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

/** @param tail the last `sealBytes` of the file. @returns undefined without an intact seal */
function decodeSeal(
  tail: Buffer,
  firstSequence: bigint,
  fileBytes: number,
): SegmentSummary | undefined {
  const header = readFrameHeader(tail, 0);
  if (header === undefined || header.kind !== frameKinds.seal) return undefined;
  if (header.length !== sealBytes || !isBodyIntact(tail, header)) return undefined;
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
