/** Reads the log in order across segments, and reports each lost batch once. Read-only. */
import { basename } from 'node:path';
import type { FileId, FileSystem } from '../../files/file-system.ts';
import { larger } from '../../std/big-integers.ts';
import type { FrameReader, Gap } from './frame-reader.ts';
import type { QueueDamage } from '../../telemetry/queue-events.ts';
import type { LogPaths } from './log-directory.ts';
import { quarantineBytes } from './quarantine-folder.ts';
import { readerOf, type Segment } from './segment.ts';

export interface ReadRequest {
  readonly fromSequence: bigint;
  /** Exclusive. */
  readonly untilSequence: bigint;
  readonly maxRows: number;
  readonly maxBytes: number;
}

export interface ReadResult {
  /** Intact frames in order; empty only when all before `untilSequence` were read. */
  readonly frames: readonly Uint8Array<ArrayBuffer>[];
  readonly damage: readonly QueueDamage[];
}

interface OpenSegment {
  readonly firstSequence: bigint;
  readonly file: FileId;
  readonly reader: FrameReader;
  /** Losses up to this sequence have been reported. */
  reported: bigint;
}

export class LogCursor {
  readonly #fs: FileSystem;
  readonly #paths: LogPaths;
  readonly #writer: bigint;
  #open: OpenSegment | undefined;

  constructor(fs: FileSystem, paths: LogPaths, writer: bigint) {
    this.#fs = fs;
    this.#paths = paths;
    this.#writer = writer;
  }

  /**
   * The intact frames from `fromSequence` on, up to the limits, but at least one where there is one
   * before `untilSequence`. The caller owns their buffers.
   * @param segments oldest first; only the last one may grow
   */
  read(segments: readonly Segment[], request: ReadRequest): ReadResult {
    const frames: Buffer<ArrayBuffer>[] = [];
    const damage: QueueDamage[] = [];
    let rows = 0;
    let bytes = 0;
    for (const segment of this.#ahead(segments, request.fromSequence)) {
      const open = this.#enter(segment);
      if (open === undefined) {
        damage.push(describeMissing(segment, request.fromSequence));
        continue;
      }
      const { reader } = open;
      const next = () => {
        const frame = reader.next(segment.end);
        damage.push(...this.#describe(segment, open, request.fromSequence));
        return frame;
      };
      for (let frame = next(); frame !== undefined; frame = next()) {
        const { sequence, length } = frame.header;
        if (sequence < request.fromSequence) continue;
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
      damage.push(...describeCut(segment, open, request.fromSequence));
      reader.dropWindow();
    }
    return { frames, damage };
  }

  /** Closes the segment's file before it is removed. */
  leave(segment: Segment): void {
    if (this.#open?.firstSequence === segment.firstSequence) this.close();
  }

  close(): void {
    if (this.#open !== undefined) this.#fs.close(this.#open.file);
    this.#open = undefined;
  }

  /** From the segment with `fromSequence` on, or from the open one where that is later. */
  #ahead(segments: readonly Segment[], fromSequence: bigint): readonly Segment[] {
    if (this.#open !== undefined && this.#open.reader.sequence >= fromSequence) this.close();
    const wanted = segments.findLastIndex((segment) => segment.firstSequence <= fromSequence);
    const present = segments.findIndex(
      (segment) => segment.firstSequence === this.#open?.firstSequence,
    );
    return segments.slice(Math.max(0, wanted, present));
  }

  #enter(segment: Segment): OpenSegment | undefined {
    if (this.#open?.firstSequence === segment.firstSequence) return this.#open;
    this.close();
    if (!this.#fs.list(this.#paths.segments).includes(basename(segment.path))) return undefined;
    const file = this.#fs.open(segment.path, 'read');
    const reader = readerOf(this.#fs, file, segment, this.#writer);
    this.#open = { firstSequence: segment.firstSequence, file, reader, reported: 0n };
    return this.#open;
  }

  #describe(segment: Segment, open: OpenSegment, fromSequence: bigint): QueueDamage[] {
    const damage: QueueDamage[] = [];
    for (const gap of open.reader.takeGaps()) {
      const toSequence = (gap.beforeSequence ?? segment.lastSequence + 1n) - 1n;
      // A gap without a batch (a seal), or with released ones only, is no loss.
      if (toSequence <= gap.afterSequence || toSequence < fromSequence) continue;
      const isTorn = gap.offset >= segment.tornFrom;
      const afterSequence = larger(gap.afterSequence, fromSequence - 1n);
      damage.push({
        kind: isTorn ? 'torn' : 'corrupt',
        segment: basename(segment.path),
        offset: gap.offset,
        bytes: gap.bytes,
        fromSequence: afterSequence + 1n,
        toSequence,
        batches: isTorn ? undefined : Number(toSequence - afterSequence),
        quarantineFile: this.#tryQuarantine(segment, gap),
      });
      open.reported = toSequence;
    }
    return damage;
  }

  /** A full disk must not block the intact batches. */
  #tryQuarantine(segment: Segment, gap: Gap): string | undefined {
    try {
      return quarantineBytes(this.#fs, this.#paths.quarantine, segment, gap);
    } catch {
      return undefined;
    }
  }
}

function describeMissing(segment: Segment, fromSequence: bigint): QueueDamage {
  return describeLost(segment, {
    offset: 0,
    bytes: segment.fileBytes,
    afterSequence: larger(segment.firstSequence, fromSequence) - 1n,
  });
}

/** A file cut between two frames has a gap in its sequences only. */
function describeCut(segment: Segment, open: OpenSegment, fromSequence: bigint): QueueDamage[] {
  const seen = larger(open.reader.sequence, open.reported);
  const afterSequence = larger(seen, fromSequence - 1n);
  if (afterSequence >= segment.lastSequence) return [];
  open.reported = segment.lastSequence;
  return [describeLost(segment, { offset: segment.end, bytes: 0, afterSequence })];
}

function describeLost(
  segment: Segment,
  lost: { readonly offset: number; readonly bytes: number; readonly afterSequence: bigint },
): QueueDamage {
  const { offset, bytes, afterSequence } = lost;
  return {
    kind: 'missing',
    segment: basename(segment.path),
    offset,
    bytes,
    fromSequence: afterSequence + 1n,
    toSequence: segment.lastSequence,
    batches: Number(segment.lastSequence - afterSequence),
  };
}
