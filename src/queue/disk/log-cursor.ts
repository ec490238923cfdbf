/**
 * Reads the log in order, segment after segment, and says what is lost on the way. It never changes
 * the log.
 */
import { basename } from 'node:path';
import type { FileId, FileSystem } from '../../files/file-system.ts';
import type { FrameReader, Gap } from './frame-reader.ts';
import { setAside } from './log-directory.ts';
import type { Damage, LogPaths, ReadRequest, ReadResult } from './log-options.ts';
import { readerOf, type Segment } from './segment-file.ts';

interface Place {
  readonly firstSequence: bigint;
  readonly file: FileId;
  readonly reader: FrameReader;
}

export class LogCursor {
  readonly #fs: FileSystem;
  readonly #paths: LogPaths;
  readonly #writer: bigint;
  #place: Place | undefined;

  constructor(fs: FileSystem, paths: LogPaths, writer: bigint) {
    this.#fs = fs;
    this.#paths = paths;
    this.#writer = writer;
  }

  /**
   * The intact frames from `fromSequence` on, up to the limits but at least one where there is one
   * before `untilSequence`. Their ArrayBuffers are the caller's.
   * @param segments oldest first; only the last one may still grow.
   */
  read(segments: readonly Segment[], request: ReadRequest): ReadResult {
    const frames: Buffer<ArrayBuffer>[] = [];
    const damage: Damage[] = [];
    let rows = 0;
    let bytes = 0;
    for (const segment of this.#ahead(segments, request.fromSequence)) {
      const reader = this.#enter(segment);
      if (reader === undefined) {
        damage.push(describeMissing(segment, request.fromSequence));
        continue;
      }
      let frame = reader.next(segment.end);
      damage.push(...this.#describe(segment, reader.takeGaps(), request.fromSequence));
      while (frame !== undefined) {
        const { sequence, length } = frame.header;
        if (sequence >= request.fromSequence) {
          rows += frame.header.rows;
          bytes += length;
          const isOver = rows > request.maxRows || bytes > request.maxBytes;
          if ((isOver && frames.length > 0) || sequence >= request.untilSequence) {
            reader.stepBack();
            reader.dropWindow();
            return { frames, damage };
          }
          frames.push(frame.bytes);
        }
        frame = reader.next(segment.end);
        damage.push(...this.#describe(segment, reader.takeGaps(), request.fromSequence));
      }
      reader.dropWindow();
    }
    return { frames, damage };
  }

  /** Lets go of the segment's file, which is about to be removed. */
  leave(segment: Segment): void {
    if (this.#place?.firstSequence === segment.firstSequence) this.close();
  }

  close(): void {
    if (this.#place !== undefined) this.#fs.close(this.#place.file);
    this.#place = undefined;
  }

  /**
   * The segments still to read: from the one `fromSequence` lies in, or from the present one where
   * that is later.
   */
  #ahead(segments: readonly Segment[], fromSequence: bigint): readonly Segment[] {
    if (this.#place !== undefined && this.#place.reader.sequence >= fromSequence) this.close();
    const wanted = segments.findLastIndex((segment) => segment.firstSequence <= fromSequence);
    const present = segments.findIndex(
      (segment) => segment.firstSequence === this.#place?.firstSequence,
    );
    return segments.slice(Math.max(0, wanted, present));
  }

  #enter(segment: Segment): FrameReader | undefined {
    if (this.#place?.firstSequence === segment.firstSequence) return this.#place.reader;
    this.close();
    if (!this.#fs.list(this.#paths.segments).includes(basename(segment.path))) return undefined;
    const file = this.#fs.open(segment.path, 'read');
    const reader = readerOf(this.#fs, file, segment, this.#writer);
    this.#place = { firstSequence: segment.firstSequence, file, reader };
    return reader;
  }

  #describe(segment: Segment, gaps: readonly Gap[], fromSequence: bigint): Damage[] {
    const damage: Damage[] = [];
    for (const gap of gaps) {
      const toSequence = (gap.beforeSequence ?? segment.lastSequence + 1n) - 1n;
      // Nothing is lost where the gap held no batch (a seal), or only released ones.
      if (toSequence <= gap.afterSequence || toSequence < fromSequence) continue;
      damage.push({
        kind: gap.offset >= segment.tornFrom ? 'torn' : 'corrupt',
        segment: basename(segment.path),
        offset: gap.offset,
        bytes: gap.bytes,
        fromSequence: gap.afterSequence + 1n,
        toSequence,
        setAside: this.#trySetAside(segment, gap),
      });
    }
    return damage;
  }

  /** A full disk must not keep the good batches back. */
  #trySetAside(segment: Segment, gap: Gap): string {
    try {
      return setAside(this.#fs, this.#paths, segment, gap);
    } catch {
      return '';
    }
  }
}

function describeMissing(segment: Segment, fromSequence: bigint): Damage {
  const { firstSequence } = segment;
  return {
    kind: 'missing',
    segment: basename(segment.path),
    offset: 0,
    bytes: segment.fileBytes,
    fromSequence: firstSequence > fromSequence ? firstSequence : fromSequence,
    toSequence: segment.lastSequence,
    setAside: '',
  };
}
