/**
 * The log: appends groups of frames to the newest segment, reads batches back, and unlinks released
 * segments. Synchronous; runs in its own thread (`log-thread.ts`).
 */
import type { BatchId } from '../../model/batch.ts';
import { type Served, transfer } from '../../channel/channel.ts';
import { isNoRoom } from '../../files/disk-failure.ts';
import type { FileId, FileSystem } from '../../files/file-system.ts';
import { removeIfThere, writeFully } from '../../files/atomic-file.ts';
import { decodeFrameHeader, type FrameHeader } from '../frame.ts';
import { KeyCollector } from './key-chunk.ts';
import type { KeyLog } from './key-log.ts';
import { LogCursor, type ReadRequest, type ReadResult } from './log-cursor.ts';
import { type LogPaths, pathsOf, type DiskQueueSettings, type Recovery } from './log-directory.ts';
import { batchesUpTo } from './lost-batches.ts';
import { removeBatchesOf, writeBatch } from './quarantine-folder.ts';
import { type Checkpoint, type SyncedMark, toSynced, writeCheckpoint } from './records.ts';
import { recover, type Recovered } from './recovery.ts';
import { createSegment, extendSegment, sealSegment, type Segment } from './segment.ts';
import { toError } from '../../std/error-text.ts';

/** Part of a full segment. Sealing one and beginning the next takes four syncs. */
const worthSealing = 1 / 16;

/** The calls of the log from another thread. Buffers change hands in both directions. */
export interface LogMethods {
  /** To be called first. @throws Error where the directory cannot be used; then it is unchanged */
  open(options: DiskQueueSettings): Recovery;
  /** Appends the first `length` bytes. @returns the buffer, for reuse */
  append(buffer: ArrayBuffer, length: number): ArrayBuffer;
  read(request: ReadRequest): ReadResult;
  holds(ids: readonly BatchId[]): boolean[];
  release(sequence: bigint, floorNanos: bigint): void;
  freeReleased(): void;
  /** @returns the number of batches in quarantine */
  quarantine(frame: Uint8Array<ArrayBuffer>, reason: string): number;
  /** @returns the same */
  dropQuarantined(streamId: string, untilNanos: bigint | undefined): number;
  freeBytes(): number;
  /** @param floorNanos as for `release` */
  close(floorNanos: bigint): void;
}

export function createLogMethods(fs: FileSystem): Served<LogMethods> {
  let log: SegmentLog;
  return {
    open(options) {
      const recovered = recover(fs, options);
      log = new SegmentLog(fs, options, recovered);
      const { recovery } = recovered;
      return transfer(recovery, buffersOf(recovery.keyChunks));
    },
    append(buffer, length) {
      log.append(Buffer.from(buffer, 0, length));
      return transfer(buffer, [buffer]);
    },
    read(request) {
      const result = log.read(request);
      return transfer(result, buffersOf(result.frames));
    },
    holds: (ids) => log.holds(ids),
    release: (sequence, floorNanos) => log.release(sequence, floorNanos),
    freeReleased: () => log.freeReleased(),
    quarantine: ({ buffer, byteOffset, length }, reason) =>
      log.quarantine(Buffer.from(buffer, byteOffset, length), reason),
    dropQuarantined: (...batches) => log.dropQuarantined(...batches),
    freeBytes: () => log.freeBytes(),
    close: (floorNanos) => log.close(floorNanos),
  };
}

/** Frames that were read together share a buffer. */
function buffersOf(views: readonly Uint8Array<ArrayBuffer>[]): ArrayBuffer[] {
  return [...new Set(views.map((view) => view.buffer))];
}

class SegmentLog {
  readonly #fs: FileSystem;
  readonly #options: DiskQueueSettings;
  readonly #paths: LogPaths;
  readonly #keyLog: KeyLog;
  readonly #cursor: LogCursor;
  readonly #keys = new KeyCollector();
  readonly #mark: SyncedMark;
  /** Oldest first; the last one is being written while `#active` is set. */
  readonly #segments: Segment[];
  #checkpoint: Checkpoint;
  #active: FileId | undefined;
  /** Ever appended to this log. */
  #batches: bigint;
  /** A full disk left a gap in the sequences, which must lie between two segments. */
  #mustSeal = false;
  #failure: Error | undefined;

  constructor(fs: FileSystem, options: DiskQueueSettings, recovered: Recovered) {
    this.#fs = fs;
    this.#options = options;
    this.#paths = pathsOf(options.directory);
    this.#keyLog = recovered.keyLog;
    this.#mark = recovered.mark;
    this.#batches = recovered.batches;
    this.#segments = recovered.segments;
    this.#checkpoint = recovered.checkpoint;
    this.#cursor = new LogCursor(fs, this.#paths, recovered.checkpoint.writer);
  }

  /**
   * Writes consecutive frames, whose checksums it fills in, and returns once they are synced.
   * @throws Error where the disk is full, after which nothing of this group is kept and a later
   *   append may succeed; any other error is final
   */
  append(group: Buffer): void {
    if (this.#failure !== undefined) throw this.#failure;
    try {
      this.#append(group);
    } catch (error) {
      if (isNoRoom(error)) this.#truncateRefused();
      else this.#failure = toError(error);
      throw this.#failure ?? error;
    }
  }

  /** See `LogCursor.read`. */
  read(request: ReadRequest): ReadResult {
    return this.#cursor.read(this.#segments, request);
  }

  /** Which of these batches are readable and not released. @param ids best in sequence order */
  holds(ids: readonly BatchId[]): boolean[] {
    // Not the drain's cursor, which reports each loss only once.
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

  /** Writes the checkpoint durably, then frees the space up to `sequence`. */
  release(sequence: bigint, floorNanos: bigint): void {
    this.#writeCheckpoint(sequence, floorNanos);
    this.#free(this.#options.segmentBytes * worthSealing);
  }

  /** Frees the last segment too, however small, once all of it is released. */
  freeReleased(): void {
    this.#free(0);
  }

  quarantine(frame: Buffer, reason: string): number {
    return writeBatch(this.#fs, this.#paths.quarantine, frame, reason);
  }

  dropQuarantined(...batches: Parameters<LogMethods['dropQuarantined']>): number {
    return removeBatchesOf(this.#fs, this.#paths.quarantine, ...batches);
  }

  freeBytes(): number {
    return this.#fs.freeBytes(this.#paths.root);
  }

  /** Seals the segment being written, so that the next start need not read it. */
  close(floorNanos: bigint): void {
    this.#cursor.close();
    try {
      if (this.#failure === undefined) {
        this.#seal();
        this.#writeCheckpoint(this.#checkpoint.released, floorNanos);
      }
    } catch (error) {
      if (!isNoRoom(error)) throw error;
      // The next start seals it.
      this.#truncateRefused();
    } finally {
      if (this.#active !== undefined) this.#fs.close(this.#active);
      this.#active = undefined;
      this.#keyLog.close();
      this.#mark.close();
    }
  }

  #writeCheckpoint(released: bigint, floorNanos: bigint): void {
    const last = this.#segments.at(-1)?.lastSequence ?? 0n;
    const { writer, lastSequence } = this.#checkpoint;
    const checkpoint = {
      writer,
      released,
      lastSequence: last > lastSequence ? last : lastSequence,
      floorNanos,
      releasedBatches: this.#batchesUpTo(released),
    };
    writeCheckpoint(this.#fs, this.#paths.checkpoint, checkpoint);
    this.#checkpoint = checkpoint;
  }

  /** @param minBytes of a released segment that is worth sealing */
  #free(minBytes: number): void {
    this.#sealReleased(minBytes);
    for (let first = this.#segments[0]; first !== undefined; first = this.#segments[0]) {
      if (!first.sealed || first.lastSequence > this.#checkpoint.released) break;
      this.#cursor.leave(first);
      this.#segments.shift();
      removeIfThere(this.#fs, first.path);
    }
    if (this.#segments.length === 0) this.#writeMark();
  }

  /** So that a queue without a backlog takes little space. */
  #sealReleased(minBytes: number): void {
    const segment = this.#segments.at(-1);
    if (this.#failure !== undefined || segment === undefined) return;
    if (segment.lastSequence > this.#checkpoint.released) return;
    if (segment.end < minBytes) return;
    try {
      this.#seal();
    } catch (error) {
      if (isNoRoom(error)) return this.#truncateRefused();
      this.#failure = toError(error);
      throw this.#failure;
    }
  }

  #batchesUpTo(released: bigint): bigint | undefined {
    const segment = this.#segments.findLast(({ firstSequence }) => firstSequence <= released);
    if (segment === undefined) return this.#checkpoint.releasedBatches;
    const { lastSequence } = segment;
    return batchesUpTo(segment, released < lastSequence ? released : lastSequence);
  }

  #append(group: Buffer): void {
    const first = decodeFrameHeader(group, 0);
    const current = this.#segments.at(-1);
    const isFull = (current?.end ?? 0) + group.length > this.#options.segmentBytes;
    if (this.#active !== undefined && (isFull || this.#mustSeal)) this.#seal();
    if (this.#active === undefined) this.#active = this.#begin(first);
    const segment = this.#segments.at(-1);
    if (segment === undefined) throw new Error('cannot append: no segment was begun');
    const grown = extendSegment(segment, group);
    writeFully(this.#fs, this.#active, group, segment.end);
    this.#fs.sync(this.#active);
    this.#segments[this.#segments.length - 1] = grown;
    this.#batches += BigInt(grown.batches - segment.batches);
    // After the sync: a key must not answer for a batch that is lost.
    this.#keys.addGroup(group);
    this.#writeMark();
  }

  /** Truncates the segment to what is synced, without a refused batch or a part of a seal. */
  #truncateRefused(): void {
    this.#mustSeal = true;
    const segment = this.#segments.at(-1);
    if (this.#active === undefined || segment === undefined) return;
    try {
      this.#fs.truncate(this.#active, segment.end);
      this.#fs.sync(this.#active);
    } catch (error) {
      this.#failure = toError(error);
    }
  }

  #writeMark(): void {
    const counts = { batches: this.#batches, ...this.#keyLog.synced };
    this.#mark.write(toSynced(this.#checkpoint, this.#segments.at(-1), counts));
  }

  #begin(first: FrameHeader): FileId {
    const { file, segment } = createSegment(this.#fs, this.#paths.segments, {
      writer: this.#checkpoint.writer,
      firstSequence: first.sequence,
      previousSequence: this.#segments.at(-1)?.lastSequence ?? this.#checkpoint.released,
      batchesBefore: this.#batches,
    });
    this.#mustSeal = false;
    this.#segments.push(segment);
    return file;
  }

  /** The keys move to the key log first: a sealed segment may be unlinked at any time. */
  #seal(): void {
    const segment = this.#segments.at(-1);
    if (this.#active === undefined || segment === undefined) return;
    const chunk = this.#keys.toChunk();
    if (chunk !== undefined) {
      this.#keyLog.append(chunk, segment.firstSequence);
      this.#keys.clear();
      this.#writeMark();
    }
    const fileBytes = sealSegment(this.#fs, this.#active, this.#checkpoint.writer, segment);
    this.#segments[this.#segments.length - 1] = { ...segment, sealed: true, fileBytes };
    this.#fs.close(this.#active);
    this.#active = undefined;
  }
}
