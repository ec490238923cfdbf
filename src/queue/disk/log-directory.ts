/** Settings of the log, the files of its directory, and foreign files in it. */
import { dirname, join } from 'node:path';
import type { Config } from '../../config/schema.ts';
import type { FileSystem } from '../../files/file-system.ts';
import { removeTemporaries } from '../../files/atomic-file.ts';
import type { QueueDamage, QueueOpened } from '../../telemetry/queue-events.ts';
import {
  type Checkpoint,
  createIdentity,
  type Identity,
  identityVersion,
  maxEarlierWriters,
  readCheckpoint,
  readIdentity,
  readSyncedMark,
  type RecordState,
  type Synced,
} from './records.ts';
import {
  inspectSegment,
  parseSegmentName,
  type Segment,
  segmentName,
  segmentVersion,
} from './segment.ts';

export interface DiskQueueSettings
  extends Pick<
    Config['queue'],
    | 'segmentBytes'
    | 'minFreeDiskBytes'
    | 'maxBacklogBytes'
    | 'memoryTailBytes'
    | 'idempotencyTtlHours'
    | 'idempotencyKeys'
  > {
  /** Created where absent; holds nothing but the queue. */
  readonly directory: string;
}

/** Most batches that may wait for a sync; sequences skip as many at every start. */
export const maxUnsyncedBatches = 65_536;

/** What opening the log found. */
export interface Recovery extends Omit<QueueOpened, 'directory' | 'durationMs'> {
  readonly writer: bigint;
  readonly nextSequence: bigint;
  /** Later batches are stamped after this; Unix ns. */
  readonly floorNanos: bigint;
  readonly released: bigint;
  /** Receive time of the oldest batch not released; undefined when there is none. */
  readonly oldestNanos: bigint | undefined;
  readonly damage: readonly QueueDamage[];
  /** Names of files that do not belong to this log. */
  readonly foreign: readonly string[];
  readonly checkpoint: RecordState;
  /** Without the mark a torn end looks like lost batches. */
  readonly syncedMark: RecordState;
  readonly freeBytes: number;
  /** Chunks of remembered idempotency keys, oldest first. */
  readonly keyChunks: readonly Uint8Array<ArrayBuffer>[];
}

export interface LogPaths {
  readonly root: string;
  readonly identity: string;
  readonly checkpoint: string;
  readonly syncedMark: string;
  readonly segments: string;
  readonly keys: string;
  readonly quarantine: string;
}

export function pathsOf(directory: string): LogPaths {
  return {
    root: directory,
    identity: join(directory, 'identity'),
    checkpoint: join(directory, 'checkpoint'),
    syncedMark: join(directory, 'synced'),
    segments: join(directory, 'segments'),
    keys: join(directory, 'keys'),
    quarantine: join(directory, 'quarantine'),
  };
}

export function prepareDirectories(fs: FileSystem, paths: LogPaths): void {
  const all = [paths.root, paths.segments, paths.keys, paths.quarantine];
  for (const path of all) fs.makeDirectory(path);
  fs.syncDirectory(dirname(paths.root));
  fs.syncDirectory(paths.root);
  for (const path of all) removeTemporaries(fs, path);
}

export function listSegments(
  fs: FileSystem,
  paths: LogPaths,
): { segments: Segment[]; foreign: string[] } {
  const segments: Segment[] = [];
  const foreign: string[] = [];
  for (const name of fs.list(paths.segments).sort()) {
    const firstSequence = parseSegmentName(name);
    if (firstSequence === undefined) {
      foreign.push(name);
      continue;
    }
    const segment = inspectSegment(fs, paths.segments, firstSequence);
    if (segment.header !== undefined && segment.header.version > segmentVersion) {
      throw newerVersion(segment.path, segment.header.version, segmentVersion);
    }
    if (segment.header !== undefined && segment.header.firstSequence !== firstSequence) {
      foreign.push(name);
    } else {
      segments.push(segment);
    }
  }
  return { segments, foreign };
}

/**
 * The recorded identity, else one with the writer of the newest segment, of the checkpoint or of
 * the mark, else a new one. A damaged one may have named the writers of the other segments. To be
 * recorded last, so that an interrupted first start begins again.
 */
export function identify(
  fs: FileSystem,
  paths: LogPaths,
  segments: readonly Segment[],
): { identity: Identity; isRecorded: boolean; isNew: boolean } {
  const found = readIdentity(fs, paths.identity);
  if (typeof found === 'object') {
    if (found.version > identityVersion) {
      throw newerVersion(paths.identity, found.version, identityVersion);
    }
    return { identity: found, isRecorded: true, isNew: false };
  }
  const writers = segments.flatMap(({ writer }) => writer ?? []);
  const known = writers.at(-1) ?? usedRecord(fs, paths)?.writer;
  const others = found === 'damaged' ? new Set(writers.filter((each) => each !== known)) : [];
  const fresh = createIdentity([...others].slice(-maxEarlierWriters));
  const isNew = found === 'absent' && known === undefined && segments.length === 0;
  return {
    identity: { ...fresh, writer: known ?? fresh.writer },
    isRecorded: false,
    isNew,
  };
}

/** An interrupted first start leaves records too, but of no batch. */
function usedRecord(fs: FileSystem, paths: LogPaths): Checkpoint | Synced | undefined {
  const records = [readCheckpoint(fs, paths.checkpoint), readSyncedMark(fs, paths.syncedMark)];
  return records.find(
    (record): record is Checkpoint | Synced =>
      typeof record === 'object' && record.lastSequence > 0n,
  );
}

/**
 * A new writer, for a directory that no longer knows which sequences were assigned: the store may
 * have batches under any of them. Unreleased batches keep their ids, and so do those of the last
 * writer that a power cut brings back.
 */
export function renewIdentity(
  { writer: last, earlier }: Identity,
  segments: readonly Segment[],
): Identity {
  const waiting = new Set(segments.map(({ writer }) => writer));
  const kept = earlier.filter((each) => waiting.has(each));
  return createIdentity([last, ...kept].slice(0, maxEarlierWriters));
}

export function splitByWriter(
  segments: readonly Segment[],
  writers: readonly bigint[],
): { ours: Segment[]; others: string[] } {
  const isOurs = ({ writer }: Segment) => writer === undefined || writers.includes(writer);
  return {
    ours: segments.filter(isOurs),
    others: segments
      .filter((segment) => !isOurs(segment))
      .map((segment) => segmentName(segment.firstSequence)),
  };
}

function newerVersion(path: string, found: number, known: number): Error {
  return new Error(
    `cannot open the queue: ${path} has version ${found}, this program knows up to ${known}; ` +
      'start the newer program that wrote it',
  );
}
