/**
 * One segment file from outside: what it holds, by its seal where it has one and by reading it
 * where it has none.
 */
import { dirname, join } from 'node:path';
import type { FileId, FileSystem } from '../../files/file-system.ts';
import { isNoRoom } from '../../files/disk-failure.ts';
import { readRange, removeIfThere, temporarySuffix, writeFully } from '../../files/whole-file.ts';
import { decodeFrameHeader, finishFrame, idempotencyOf } from '../frame.ts';
import { FrameReader, type Gap } from './frame-reader.ts';
import type { KeyCollector } from './key-chunk.ts';
import {
  decodeSeal,
  decodeSegmentHeader,
  encodeSeal,
  encodeSegmentHeader,
  sealBytes,
  type SegmentHeader,
  segmentHeaderBytes,
  segmentName,
  type SegmentSummary,
  segmentVersion,
} from './segment.ts';

const scanWindowBytes = 4 * 1024 * 1024;

/** A segment as the log keeps it in mind. */
export interface Segment extends SegmentSummary {
  readonly path: string;
  readonly sealed: boolean;
  /** Bytes of the file, seal included. */
  readonly fileBytes: number;
  /** Undefined where the header is damaged; the frames are read all the same. */
  readonly header: SegmentHeader | undefined;
}

export interface Scan {
  readonly summary: SegmentSummary;
  /** Gaps among the frames; those from `summary.end` on are the tail. */
  readonly gaps: readonly Gap[];
}

/** Looks at header and seal alone; where there is no seal the summary is empty. */
export function inspectSegment(fs: FileSystem, directory: string, firstSequence: bigint): Segment {
  const path = join(directory, segmentName(firstSequence));
  const file = fs.open(path, 'read');
  try {
    const fileBytes = fs.size(file);
    const header = decodeSegmentHeader(readRange(fs, file, 0, segmentHeaderBytes));
    const tailStart = Math.max(segmentHeaderBytes, fileBytes - sealBytes);
    const seal = decodeSeal(readRange(fs, file, tailStart, sealBytes), firstSequence, fileBytes);
    const summary = seal ?? emptySummary(firstSequence);
    return { ...summary, path, sealed: seal !== undefined, fileBytes, header };
  } finally {
    fs.close(file);
  }
}

/** Reads the frames of a segment from its start; their idempotency keys go to `keys`. */
export function scanSegment(
  fs: FileSystem,
  segment: Pick<Segment, 'path' | 'firstSequence' | 'fileBytes' | 'header'>,
  writer: bigint,
  keys: KeyCollector,
): Scan {
  const file = fs.open(segment.path, 'read');
  try {
    const reader = readerOf(fs, file, segment, writer);
    let summary = emptySummary(segment.firstSequence);
    let frame = reader.next(segment.fileBytes);
    while (frame !== undefined) {
      const { header, offset, bytes } = frame;
      const record = idempotencyOf(bytes, 0, header);
      if (record.length > 0) keys.add(header.receivedAtNanos, record);
      summary = {
        firstSequence: summary.firstSequence,
        lastSequence: header.sequence,
        firstReceivedAtNanos:
          summary.batches === 0 ? header.receivedAtNanos : summary.firstReceivedAtNanos,
        lastReceivedAtNanos: header.receivedAtNanos,
        batches: summary.batches + 1,
        rows: summary.rows + header.rows,
        end: offset + header.length,
        tornFrom: header.groupOffset,
      };
      frame = reader.next(segment.fileBytes);
    }
    return { summary, gaps: reader.takeGaps() };
  } finally {
    fs.close(file);
  }
}

/** What of a segment is released already, and when its oldest batch beyond that was received. */
export function measureReleased(
  fs: FileSystem,
  segment: Segment,
  writer: bigint,
  released: bigint,
): { batches: number; rows: number; bytes: number; oldestNanos: bigint | undefined } {
  const file = fs.open(segment.path, 'read');
  try {
    const reader = readerOf(fs, file, segment, writer);
    const done = { batches: 0, rows: 0, bytes: 0 };
    for (;;) {
      const frame = reader.next(segment.end);
      if (frame === undefined) return { ...done, oldestNanos: undefined };
      const { header, offset } = frame;
      if (header.sequence > released) return { ...done, oldestNanos: header.receivedAtNanos };
      done.batches++;
      done.rows += header.rows;
      done.bytes = offset + header.length - segmentHeaderBytes;
    }
  } finally {
    fs.close(file);
  }
}

/** Begins a segment; its file is durable on return, and absent where there is no room for it. */
export function createSegment(
  fs: FileSystem,
  directory: string,
  fields: Omit<SegmentHeader, 'version'>,
): { file: FileId; segment: Segment } {
  const { firstSequence } = fields;
  const header = { version: segmentVersion, ...fields };
  const path = join(directory, segmentName(firstSequence));
  const file = fs.open(path, 'create');
  try {
    writeFully(fs, file, encodeSegmentHeader(header), 0);
    fs.sync(file);
    fs.syncDirectory(directory);
  } catch (error) {
    fs.close(file);
    if (isNoRoom(error)) removeIfThere(fs, path);
    throw error;
  }
  const fileBytes = segmentHeaderBytes;
  const segment = { ...emptySummary(firstSequence), path, header, sealed: false, fileBytes };
  return { file, segment };
}

/** Fills in the checksums of a group of frames. @returns the segment with the group at its end */
export function extendSegment(segment: Segment, group: Buffer): Segment {
  let { lastSequence, firstReceivedAtNanos, lastReceivedAtNanos, batches, rows } = segment;
  for (let offset = 0; offset < group.length; ) {
    finishFrame(group, offset, segment.end);
    const header = decodeFrameHeader(group, offset);
    if (batches === 0) firstReceivedAtNanos = header.receivedAtNanos;
    lastSequence = header.sequence;
    lastReceivedAtNanos = header.receivedAtNanos;
    rows += header.rows;
    batches++;
    offset += header.length;
  }
  const end = segment.end + group.length;
  const times = { firstReceivedAtNanos, lastReceivedAtNanos };
  return { ...segment, ...times, lastSequence, batches, rows, end, tornFrom: end, fileBytes: end };
}

/** Ends the segment being written with its seal, durably. @returns bytes of the file afterwards. */
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
 * Replaces a segment that a stopped process left unfinished by a sealed copy that ends at the
 * summary's end. A copy, because what is read back after a failed sync may be in memory alone, and
 * no later sync would bring it to disk.
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

/** @param writer of the directory, for a segment that does not say whose it is. */
export function readerOf(
  fs: FileSystem,
  file: FileId,
  segment: Pick<Segment, 'firstSequence' | 'header'>,
  writer: bigint,
): FrameReader {
  return new FrameReader(fs, file, {
    writer: segment.header?.writer ?? writer,
    start: segmentHeaderBytes,
    afterSequence: segment.firstSequence - 1n,
    windowBytes: scanWindowBytes,
  });
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
