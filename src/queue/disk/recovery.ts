/**
 * Opens the log: reads what earlier processes left, cuts off a torn end, and reports lost batches.
 * Reads at most one unfinished and one partly released segment, however long the backlog.
 */
import type { FileSystem } from '../../files/file-system.ts';
import type { QueueDamage } from '../../telemetry/queue-events.ts';
import { KeyCollector } from './key-chunk.ts';
import { KeyLog } from './key-log.ts';
import {
  type DiskQueueSettings,
  identify,
  listSegments,
  type LogPaths,
  maxUnsyncedBatches,
  pathsOf,
  prepareDirectories,
  type Recovery,
  renewIdentity,
  splitByWriter,
} from './log-directory.ts';
import {
  type AppendedLog,
  countAppended,
  describeEnd,
  describeSeal,
  findMissing,
  syncedOf,
} from './lost-batches.ts';
import {
  batchSuffix,
  damagedSuffix,
  finishRetries,
  listStems,
  quarantineBytes,
  retrySuffix,
} from './quarantine-folder.ts';
import {
  type Checkpoint,
  ofWriter,
  openSyncedMark,
  readCheckpoint,
  type RecordState,
  readSyncedMark,
  type Synced,
  type SyncedMark,
  toSynced,
  writeCheckpoint,
  writeIdentity,
} from './records.ts';
import {
  finishSegment,
  scanSegment,
  type Segment,
  segmentHeaderBytes,
  type SegmentSummary,
  withReader,
} from './segment.ts';

const hourMs = 60 * 60 * 1000;

export interface Recovered {
  readonly recovery: Recovery;
  readonly checkpoint: Checkpoint;
  /** Oldest first, all finished. */
  readonly segments: Segment[];
  readonly keyLog: KeyLog;
  readonly mark: SyncedMark;
  /** Batches ever appended to this log, as far as recorded. */
  readonly batches: bigint;
}

/** @throws Error where a newer version wrote the directory, or on a disk error */
export function recover(fs: FileSystem, options: DiskQueueSettings): Recovered {
  const paths = pathsOf(options.directory);
  prepareDirectories(fs, paths);
  finishRetries(fs, paths.quarantine);
  const { segments: found, foreign } = listSegments(fs, paths);
  const { identity: known, isRecorded, isNew } = identify(fs, paths, found);
  const { record, state } = ofWriter(readCheckpoint(fs, paths.checkpoint), known.writer);
  const earlier = record ?? nothingReleased(known.writer);
  const marked = readSyncedMark(fs, paths.syncedMark);
  const { record: synced, state: markState } = ofWriter(marked, known.writer);
  // Segments may be gone, and the mark may lag by any number of batches.
  const isNumbered = isNew || state === 'read';
  const identity = isNumbered ? known : renewIdentity(known, found);
  const { writer } = identity;
  const { ours, others } = splitByWriter(found, [writer, ...identity.earlier]);
  foreign.push(...others);
  const keyLog = new KeyLog(fs, {
    directory: paths.keys,
    ttlMs: options.idempotencyTtlHours * hourMs,
    maxKeys: options.idempotencyKeys,
  });
  const { chunks: keyChunks, damage } = keyLog.load(synced);
  const finished = finishSegments(fs, paths, {
    ours,
    writer,
    keyLog,
    keyChunks,
    synced,
    released: earlier.released,
  });
  const appended = { ...finished, checkpoint: earlier, synced };
  damage.push(...finished.damage, ...findMissing(appended, state === 'read'));
  const quarantined = listStems(fs, paths.quarantine, batchSuffix);
  const waiting = [...quarantined, ...listStems(fs, paths.quarantine, retrySuffix)];
  const checkpoint = { ...advance({ ...appended, quarantined: waiting }, isNew), writer };
  writeCheckpoint(fs, paths.checkpoint, checkpoint);
  const batches = countAppended(appended);
  const isNeeded = (segment: Segment) => segment.lastSequence > checkpoint.released;
  const last = finished.segments.findLast(isNeeded);
  // After all losses were found, so that the next start does not report them again.
  const counts = { batches, ...keyLog.synced };
  const mark = openSyncedMark(fs, paths.syncedMark, toSynced(checkpoint, last, counts));
  if (!isRecorded || !isNumbered) writeIdentity(fs, paths.identity, identity);
  const segments = removeReleased(fs, finished, checkpoint.released);
  const toState = (each: RecordState) => (isNew ? 'new' : each);
  return {
    checkpoint,
    segments,
    keyLog,
    mark,
    batches,
    recovery: {
      writer,
      nextSequence: checkpoint.lastSequence + 1n,
      floorNanos: checkpoint.floorNanos,
      released: checkpoint.released,
      ...measureBacklog(fs, segments, checkpoint),
      damage,
      foreign,
      checkpoint: toState(state),
      syncedMark: toState(markState),
      quarantinedBatches: quarantined.length,
      damagedFiles: listStems(fs, paths.quarantine, damagedSuffix).length,
      freeBytes: fs.freeBytes(paths.root),
      keyChunks: keyChunks.map((chunk) => new Uint8Array(chunk)),
    },
  };
}

function nothingReleased(writer: bigint): Checkpoint {
  const none = { released: 0n, lastSequence: 0n, floorNanos: 0n };
  return { writer, ...none, releasedBatches: undefined };
}

interface LogFound {
  readonly ours: Segment[];
  readonly writer: bigint;
  readonly keyLog: KeyLog;
  readonly keyChunks: Buffer[];
  readonly synced: Synced | undefined;
  readonly released: bigint;
}

/** Reads segments without a seal; cuts and seals the last, and moves its keys to the key log. */
function finishSegments(
  fs: FileSystem,
  paths: LogPaths,
  log: LogFound,
): { segments: Segment[]; damage: QueueDamage[]; empty: Segment[] } {
  const segments: Segment[] = [];
  const damage: QueueDamage[] = [];
  const empty: Segment[] = [];
  let next: Segment | undefined;
  for (const segment of log.ours.toReversed()) {
    const keys = new KeyCollector();
    let finished = segment;
    if (!segment.sealed) {
      const scan = scanSegment(fs, segment, log.writer, keys);
      if (next !== undefined) {
        finished = boundByNext(segment, scan.summary, next);
        if (finished.lastSequence === scan.summary.lastSequence) {
          damage.push(describeSeal(finished, scan.summary));
        }
      } else {
        const synced = syncedOf(segment, log.synced);
        const end = describeEnd(segment, scan, { synced, released: log.released });
        if (end !== undefined) {
          // Before they are cut off.
          const hasBytes = end.bytes > 0;
          const quarantineFile = hasBytes && quarantineBytes(fs, paths.quarantine, segment, end);
          damage.push({ ...end, ...(quarantineFile && { quarantineFile }) });
        }
        if (scan.summary.batches === 0) {
          empty.push(segment);
          continue;
        }
        moveKeys(keys, segment, log);
        const tornFrom = Math.max(scan.summary.tornFrom, synced?.end ?? 0);
        finished = finishSegment(fs, segment, { ...scan.summary, tornFrom }, log.writer);
      }
    }
    segments.unshift(finished);
    next = finished;
  }
  return { segments, damage, empty };
}

/** A segment with a damaged seal ends where the next one says. */
function boundByNext(segment: Segment, summary: SegmentSummary, next: Segment): Segment {
  const last = next.header?.previousSequence ?? next.firstSequence - 1n;
  const lastSequence = last > summary.lastSequence ? last : summary.lastSequence;
  const end = segment.fileBytes;
  return { ...segment, ...summary, lastSequence, end, tornFrom: end };
}

function moveKeys(keys: KeyCollector, segment: Segment, log: LogFound): void {
  const chunk = keys.toChunk();
  if (chunk === undefined) return;
  log.keyLog.append(chunk, segment.firstSequence);
  log.keyChunks.push(chunk);
}

/** Advances past all sequences and stamps in the files or of batches that may have been pending. */
function advance(
  { segments, empty, checkpoint, synced, quarantined }: AppendedLog & { quarantined: string[] },
  isNew: boolean,
): Checkpoint {
  let { lastSequence, floorNanos } = checkpoint;
  const sequences = [...segments, ...empty].flatMap((each) => [
    each.firstSequence,
    each.lastSequence,
  ]);
  // Files in quarantine are named by the sequence, in 20 digits.
  const named = quarantined.filter((stem) => /^0\d{19}$/.test(stem)).map(BigInt);
  sequences.push(checkpoint.released, synced?.lastSequence ?? 0n, ...named);
  for (const sequence of sequences) {
    if (sequence > lastSequence) lastSequence = sequence;
  }
  for (const { lastReceivedAtNanos } of segments) {
    if (lastReceivedAtNanos > floorNanos) floorNanos = lastReceivedAtNanos;
  }
  if (isNew) return { ...checkpoint, lastSequence, floorNanos, releasedBatches: 0n };
  lastSequence += BigInt(maxUnsyncedBatches);
  return { ...checkpoint, lastSequence, floorNanos };
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
  // A full disk may have left a segment empty, which has no times.
  const [first, second] = segments.filter((segment) => segment.batches > 0);
  if (first === undefined) return { batches, rows, bytes, oldestNanos: undefined };
  if (first.firstSequence > checkpoint.released) {
    return { batches, rows, bytes, oldestNanos: first.firstReceivedAtNanos };
  }
  const total = bytes;
  return withReader(fs, first, checkpoint.writer, (reader) => {
    for (;;) {
      const frame = reader.next(first.end);
      if (frame === undefined) break;
      const { header } = frame;
      if (header.sequence > checkpoint.released) {
        return { batches, rows, bytes, oldestNanos: header.receivedAtNanos };
      }
      batches--;
      rows -= header.rows;
      bytes = total - (frame.offset + header.length - segmentHeaderBytes);
    }
    return { batches, rows, bytes, oldestNanos: second?.firstReceivedAtNanos };
  });
}
