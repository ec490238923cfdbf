/**
 * The log itself: appends groups of frames to the newest segment, reads batches back, and frees
 * what is released. Synchronous and single-threaded; it knows nothing of threads, promises, memory
 * tails or clocks.
 */
import { basename, join } from 'node:path';
import type { BatchId } from '../../model/batch.ts';
import type { FileId, FileSystem } from '../../files/file-system.ts';
import { createFile, writeFully } from '../../files/whole-file.ts';
import { decodeFrameHeader, finishFrame, type FrameHeader, idempotencyOf } from '../frame.ts';
import { KeyCollector } from './key-chunk.ts';
import type { KeyLog } from './key-log.ts';
import { LogCursor } from './log-cursor.ts';
import { countQuarantined } from './log-directory.ts';
import {
  type LogOptions,
  type LogPaths,
  pathsOf,
  type ReadRequest,
  type ReadResult,
  type Recovery,
} from './log-options.ts';
import { type Checkpoint, writeCheckpoint } from './records.ts';
import { recover, type Recovered } from './recovery.ts';
import { encodeSegmentHeader, segmentHeaderBytes, segmentName, segmentVersion } from './segment.ts';
import { sealSegment, type Segment } from './segment-file.ts';

/** @throws Error where the directory cannot be used; nothing of its data is changed then. */
export function openLog(
  fs: FileSystem,
  options: LogOptions,
): { log: SegmentLog; recovery: Recovery } {
  const recovered = recover(fs, options);
  return { log: new SegmentLog(fs, options, recovered), recovery: recovered.recovery };
}

export class SegmentLog {
  readonly #fs: FileSystem;
  readonly #options: LogOptions;
  readonly #paths: LogPaths;
  readonly #keyLog: KeyLog;
  readonly #cursor: LogCursor;
  readonly #keys = new KeyCollector();
  /** Oldest first; the last one is being written while `#active` is set. */
  readonly #segments: Segment[];
  #checkpoint: Checkpoint;
  #active: FileId | undefined;
  #failure: Error | undefined;

  constructor(fs: FileSystem, options: LogOptions, recovered: Recovered) {
    this.#fs = fs;
    this.#options = options;
    this.#paths = pathsOf(options.directory);
    this.#keyLog = recovered.keyLog;
    this.#segments = recovered.segments;
    this.#checkpoint = recovered.checkpoint;
    this.#cursor = new LogCursor(fs, this.#paths, recovered.checkpoint.writer);
  }

  /**
   * Writes frames that lie back to back, and returns once they are synced. The checksums are filled
   * in here.
   * @throws Error for ever after once a write or a sync has failed: what the disk then holds is
   * unknown.
   */
  append(group: Buffer): void {
    if (this.#failure !== undefined) throw this.#failure;
    try {
      this.#append(group);
    } catch (error) {
      this.#failure = error instanceof Error ? error : new Error(String(error));
      throw this.#failure;
    }
  }

  /** See `LogCursor.read`. */
  read(request: ReadRequest): ReadResult {
    return this.#cursor.read(this.#segments, request);
  }

  /**
   * Which of these batches are there to be read and not released.
   * @param ids in the order of their sequences, else it takes long
   */
  holds(ids: readonly BatchId[]): boolean[] {
    // Of its own: what the taker's one passes over on its way is told once.
    const cursor = new LogCursor(this.#fs, this.#paths, this.#checkpoint.writer);
    try {
      return ids.map(({ writer, sequence }) => {
        if (sequence <= this.#checkpoint.released) return false;
        const span = { fromSequence: sequence, untilSequence: sequence + 1n };
        const [frame] = cursor.read(this.#segments, { ...span, maxRows: 0, maxBytes: 0 }).frames;
        if (frame === undefined) return false;
        const { buffer, byteOffset, length } = frame;
        return decodeFrameHeader(Buffer.from(buffer, byteOffset, length), 0).writer === writer;
      });
    } finally {
      cursor.close();
    }
  }

  /** Makes durable that nothing up to `sequence` is needed, and only then frees the space. */
  release(sequence: bigint, floorNanos: bigint): void {
    this.#writeCheckpoint(sequence, floorNanos);
    for (let first = this.#segments[0]; first !== undefined; first = this.#segments[0]) {
      if (!first.sealed || first.lastSequence > sequence) break;
      this.#cursor.leave(first);
      this.#segments.shift();
      this.#unlink(first.path);
    }
  }

  /**
   * Sets one batch aside as a file of its own, with the reason beside it; both are durable on
   * return.
   * @returns the number of batches set aside so far.
   */
  quarantine(frame: Buffer, reason: string): number {
    finishFrame(frame, 0, 0);
    const name = decodeFrameHeader(frame, 0).sequence.toString().padStart(20, '0');
    const existing = this.#fs.list(this.#paths.quarantine);
    const note = Buffer.from(`${JSON.stringify({ sequence: name, reason }, undefined, 2)}\n`);
    for (const [file, bytes] of [
      [`${name}.json`, note],
      [`${name}.batch`, frame],
    ] as const) {
      const path = join(this.#paths.quarantine, file);
      if (existing.includes(file)) this.#fs.unlink(path);
      createFile(this.#fs, path, bytes);
    }
    return countQuarantined(this.#fs, this.#paths);
  }

  freeBytes(): number {
    return this.#fs.freeBytes(this.#paths.root);
  }

  /**
   * Seals the segment being written, so that the next start need not read it, and closes every
   * file.
   */
  close(floorNanos: bigint): void {
    this.#cursor.close();
    if (this.#failure === undefined) {
      this.#seal();
      this.#writeCheckpoint(this.#checkpoint.released, floorNanos);
    }
    if (this.#active !== undefined) this.#fs.close(this.#active);
    this.#active = undefined;
    this.#keyLog.close();
  }

  #writeCheckpoint(released: bigint, floorNanos: bigint): void {
    const last = this.#segments.at(-1)?.lastSequence ?? 0n;
    const { writer, lastSequence } = this.#checkpoint;
    this.#checkpoint = {
      writer,
      released,
      lastSequence: last > lastSequence ? last : lastSequence,
      floorNanos,
    };
    writeCheckpoint(this.#fs, this.#paths.checkpoint, this.#checkpoint);
  }

  #append(group: Buffer): void {
    const first = decodeFrameHeader(group, 0);
    const current = this.#segments.at(-1);
    const isFull = (current?.end ?? 0) + group.length > this.#options.segmentBytes;
    if (this.#active !== undefined && isFull) this.#seal();
    if (this.#active === undefined) this.#active = this.#begin(first);
    const segment = this.#segments.at(-1);
    if (segment === undefined) throw new Error('cannot append: no segment was begun');
    const grown = this.#finishGroup(group, segment);
    writeFully(this.#fs, this.#active, group, segment.end);
    this.#fs.sync(this.#active);
    this.#segments[this.#segments.length - 1] = grown;
  }

  /** Completes the frames of a group and returns the segment as it is with them. */
  #finishGroup(group: Buffer, segment: Segment): Segment {
    let { lastSequence, lastReceivedAtNanos, batches, rows } = segment;
    for (let offset = 0; offset < group.length; ) {
      finishFrame(group, offset, segment.end);
      const header = decodeFrameHeader(group, offset);
      const record = idempotencyOf(group, offset, header);
      if (record.length > 0) this.#keys.add(header.receivedAtNanos, record);
      lastSequence = header.sequence;
      lastReceivedAtNanos = header.receivedAtNanos;
      rows += header.rows;
      batches++;
      offset += header.length;
    }
    const end = segment.end + group.length;
    const grown = { lastSequence, lastReceivedAtNanos, batches, rows, end, tornFrom: end };
    return { ...segment, ...grown, fileBytes: end };
  }

  #begin(first: FrameHeader): FileId {
    const header = {
      version: segmentVersion,
      writer: this.#checkpoint.writer,
      firstSequence: first.sequence,
      previousSequence: this.#segments.at(-1)?.lastSequence ?? this.#checkpoint.released,
    };
    const path = join(this.#paths.segments, segmentName(first.sequence));
    const file = this.#fs.open(path, 'create');
    writeFully(this.#fs, file, encodeSegmentHeader(header), 0);
    this.#fs.sync(file);
    this.#fs.syncDirectory(this.#paths.segments);
    this.#segments.push({
      path,
      header,
      sealed: false,
      fileBytes: segmentHeaderBytes,
      firstSequence: first.sequence,
      lastSequence: first.sequence - 1n,
      firstReceivedAtNanos: first.receivedAtNanos,
      lastReceivedAtNanos: first.receivedAtNanos,
      batches: 0,
      rows: 0,
      end: segmentHeaderBytes,
      tornFrom: segmentHeaderBytes,
    });
    return file;
  }

  /**
   * Carries the segment's keys to the key log first: once sealed, it may be unlinked at any time.
   */
  #seal(): void {
    const segment = this.#segments.at(-1);
    if (this.#active === undefined || segment === undefined) return;
    const chunk = this.#keys.takeChunk();
    if (chunk !== undefined) this.#keyLog.append(chunk, segment.firstSequence);
    const fileBytes = sealSegment(this.#fs, this.#active, this.#checkpoint.writer, segment);
    this.#segments[this.#segments.length - 1] = { ...segment, sealed: true, fileBytes };
    this.#fs.close(this.#active);
    this.#active = undefined;
  }

  /** Someone may have removed the file by hand: then there is nothing left to do. */
  #unlink(path: string): void {
    if (this.#fs.list(this.#paths.segments).includes(basename(path))) this.#fs.unlink(path);
  }
}
