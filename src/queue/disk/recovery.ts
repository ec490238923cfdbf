/**
 * Opening the log: finds out what earlier processes left, cuts off what a crash tore, and says what
 * is lost. It reads one unfinished segment and one partly released one at most, whatever the length
 * of the backlog.
 */
import type { FileSystem } from '../../files/file-system.ts';
import type { Gap } from './frame-reader.ts';
import { KeyCollector } from './key-chunk.ts';
import { KeyLog } from './key-log.ts';
import {
  countQuarantined,
  countSetAside,
  findCheckpoint,
  identify,
  listSegments,
  prepareDirectories,
  setAside,
  splitByWriter,
} from './log-directory.ts';
import {
  type Damage,
  type LogOptions,
  type LogPaths,
  maxUnsyncedBatches,
  pathsOf,
  type Recovery,
} from './log-options.ts';
import { finishRetries } from './quarantine-files.ts';
import { type Checkpoint, writeCheckpoint } from './records.ts';
import { segmentHeaderBytes, segmentName, type SegmentSummary } from './segment.ts';
import { finishSegment, measureReleased, scanSegment } from './segment-file.ts';
import type { Segment } from './segment-file.ts';

export interface Recovered {
  readonly recovery: Recovery;
  readonly checkpoint: Checkpoint;
  /** Oldest first, all finished. */
  readonly segments: Segment[];
  readonly keyLog: KeyLog;
}

/** @throws Error where a newer version wrote the directory, or where the disk refuses. */
export function recover(fs: FileSystem, options: LogOptions): Recovered {
  const paths = pathsOf(options.directory);
  prepareDirectories(fs, paths);
  finishRetries(fs, paths.quarantine);
  const { segments: found, foreign } = listSegments(fs, paths);
  const { writer, earlier: earlierWriters, isNew } = identify(fs, paths, found);
  const { ours, others } = splitByWriter(found, [writer, ...earlierWriters]);
  foreign.push(...others);
  const { checkpoint: earlier, state } = findCheckpoint(fs, paths, writer);
  const keyLog = new KeyLog(fs, {
    directory: paths.keys,
    ttlMs: options.idempotencyTtlMs,
    maxKeys: options.idempotencyKeys,
  });
  const keyChunks = keyLog.load();
  const finished = finishSegments(fs, paths, { ours, writer, keyLog, keyChunks });
  const damage = [...finished.damage, ...findMissing(finished.segments, earlier.released, state)];
  const checkpoint = advance(earlier, [...finished.segments, ...finished.empty], isNew);
  writeCheckpoint(fs, paths.checkpoint, checkpoint);
  const segments = removeReleased(fs, finished, checkpoint.released);
  return {
    checkpoint,
    segments,
    keyLog,
    recovery: {
      writer,
      nextSequence: checkpoint.lastSequence + 1n,
      floorNanos: checkpoint.floorNanos,
      released: checkpoint.released,
      ...measureBacklog(fs, segments, checkpoint),
      damage,
      foreign,
      checkpoint: state,
      quarantinedBatches: countQuarantined(fs, paths),
      setAsideFiles: countSetAside(fs, paths),
      freeBytes: fs.freeBytes(paths.root),
      keyChunks: keyChunks.map((chunk) => new Uint8Array(chunk)),
    },
  };
}

/** Reads the segments that have no seal; the last one is cut and sealed, its keys are carried. */
function finishSegments(
  fs: FileSystem,
  paths: LogPaths,
  log: { ours: Segment[]; writer: bigint; keyLog: KeyLog; keyChunks: Buffer[] },
): { segments: Segment[]; damage: Damage[]; empty: Segment[] } {
  const segments: Segment[] = [];
  const damage: Damage[] = [];
  const empty: Segment[] = [];
  let next: Segment | undefined;
  for (const segment of log.ours.toReversed()) {
    const keys = new KeyCollector();
    let finished = segment;
    if (!segment.sealed) {
      const scan = scanSegment(fs, segment, log.writer, keys);
      if (next !== undefined) {
        finished = boundByNext(segment, scan.summary, next);
      } else {
        const tail = scan.gaps.find((gap) => gap.offset >= scan.summary.end);
        if (tail !== undefined) damage.push(describeTail(fs, paths, segment, tail));
        if (scan.summary.batches === 0) {
          empty.push(segment);
          continue;
        }
        carryKeys(keys, segment, log);
        finished = finishSegment(fs, segment, scan.summary, log.writer);
      }
    }
    segments.unshift(finished);
    next = finished;
  }
  return { segments, damage, empty };
}

/**
 * It was sealed before the next one was begun, so its seal is damaged: where it ends is told by its
 * neighbour.
 */
function boundByNext(segment: Segment, summary: SegmentSummary, next: Segment): Segment {
  const last = next.header?.previousSequence ?? next.firstSequence - 1n;
  const lastSequence = last > summary.lastSequence ? last : summary.lastSequence;
  const end = segment.fileBytes;
  return { ...segment, ...summary, lastSequence, end, tornFrom: end };
}

function carryKeys(
  keys: KeyCollector,
  segment: Segment,
  log: { keyLog: KeyLog; keyChunks: Buffer[] },
): void {
  const chunk = keys.takeChunk();
  if (chunk === undefined) return;
  log.keyLog.append(chunk, segment.firstSequence);
  log.keyChunks.push(chunk);
}

function describeTail(fs: FileSystem, paths: LogPaths, segment: Segment, tail: Gap): Damage {
  return {
    kind: 'torn',
    segment: segmentName(segment.firstSequence),
    offset: tail.offset,
    bytes: tail.bytes,
    fromSequence: tail.afterSequence + 1n,
    toSequence: tail.afterSequence + BigInt(maxUnsyncedBatches),
    // Before it is cut off: a crash in between must not take the only trace of it.
    setAside: setAside(fs, paths, segment, tail),
  };
}

/**
 * Each segment names the last sequence before it: a gap between two neighbours is a segment that is
 * gone.
 */
function findMissing(
  segments: readonly Segment[],
  released: bigint,
  checkpoint: Recovery['checkpoint'],
): Damage[] {
  const damage: Damage[] = [];
  // Without a checkpoint nothing tells whether what came before the first segment was released.
  let known = checkpoint === 'read' ? released : (segments[0]?.header?.previousSequence ?? 0n);
  for (const segment of segments) {
    const previous = segment.header?.previousSequence ?? 0n;
    if (previous > known) {
      damage.push({
        kind: 'missing',
        segment: segmentName(known + 1n),
        offset: 0,
        bytes: 0,
        fromSequence: known + 1n,
        toSequence: previous,
        setAside: '',
      });
    }
    if (segment.lastSequence > known) known = segment.lastSequence;
  }
  return damage;
}

/**
 * Moves past every sequence and stamp that any file tells of, and past what may have been under way
 * beyond them.
 */
function advance(earlier: Checkpoint, segments: readonly Segment[], isNew: boolean): Checkpoint {
  let { lastSequence, floorNanos } = earlier;
  if (earlier.released > lastSequence) lastSequence = earlier.released;
  for (const segment of segments) {
    for (const sequence of [segment.firstSequence, segment.lastSequence]) {
      if (sequence > lastSequence) lastSequence = sequence;
    }
    if (segment.lastReceivedAtNanos > floorNanos) floorNanos = segment.lastReceivedAtNanos;
  }
  if (!isNew) lastSequence += BigInt(maxUnsyncedBatches);
  return { ...earlier, lastSequence, floorNanos };
}

/** @returns the segments that are still needed. */
function removeReleased(
  fs: FileSystem,
  finished: { segments: readonly Segment[]; empty: readonly Segment[] },
  released: bigint,
): Segment[] {
  const isDone = (segment: Segment) => segment.lastSequence <= released;
  for (const segment of [...finished.empty, ...finished.segments.filter(isDone)]) {
    fs.unlink(segment.path);
  }
  return finished.segments.filter((segment) => !isDone(segment));
}

function measureBacklog(
  fs: FileSystem,
  segments: readonly Segment[],
  checkpoint: Checkpoint,
): Pick<Recovery, 'batches' | 'rows' | 'bytes' | 'oldestNanos'> {
  let batches = 0;
  let rows = 0;
  let bytes = 0;
  for (const segment of segments) {
    batches += segment.batches;
    rows += segment.rows;
    bytes += segment.end - segmentHeaderBytes;
  }
  const first = segments[0];
  if (first === undefined) return { batches, rows, bytes, oldestNanos: undefined };
  if (first.firstSequence > checkpoint.released) {
    return { batches, rows, bytes, oldestNanos: first.firstReceivedAtNanos };
  }
  const done = measureReleased(fs, first, checkpoint.writer, checkpoint.released);
  return {
    batches: batches - done.batches,
    rows: rows - done.rows,
    bytes: bytes - done.bytes,
    oldestNanos: done.oldestNanos ?? segments[1]?.firstReceivedAtNanos,
  };
}
