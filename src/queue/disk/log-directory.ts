/** The log's directory: its files, and those of other logs or of a newer version. */
import { dirname, join } from 'node:path';
import type { FileSystem } from '../../files/file-system.ts';
import { removeTemporaries } from '../../files/whole-file.ts';
import type { RecordState } from './log-options.ts';
import {
  type Checkpoint,
  createIdentity,
  type Identity,
  identityVersion,
  maxEarlierWriters,
  readCheckpoint,
  readIdentity,
} from './records.ts';
import {
  inspectSegment,
  parseSegmentName,
  type Segment,
  segmentName,
  segmentVersion,
} from './segment.ts';

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
 * The recorded identity, else one with the writer of the segments, else a new one. To be recorded
 * last, so that an interrupted first start begins again.
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
  const known = segments.findLast((segment) => segment.header !== undefined)?.header;
  const fresh = createIdentity();
  const isNew = known === undefined && segments.length === 0;
  return {
    identity: { ...fresh, writer: known?.writer ?? fresh.writer },
    isRecorded: false,
    isNew,
  };
}

/**
 * A new writer, for a directory that no longer knows which sequences were assigned: the store may
 * have batches under any of them. Unreleased batches keep their ids.
 */
export function renewIdentity(
  { writer, earlier }: Identity,
  segments: readonly Segment[],
): Identity {
  const waiting = new Set(segments.flatMap(({ header }) => header?.writer ?? []));
  const kept = [writer, ...earlier].filter((each) => waiting.has(each));
  return createIdentity(kept.slice(0, maxEarlierWriters));
}

export function splitByWriter(
  segments: readonly Segment[],
  writers: readonly bigint[],
): { ours: Segment[]; others: string[] } {
  const isOurs = (segment: Segment) =>
    segment.header === undefined || writers.includes(segment.header.writer);
  return {
    ours: segments.filter(isOurs),
    others: segments
      .filter((segment) => !isOurs(segment))
      .map((segment) => segmentName(segment.firstSequence)),
  };
}

export function findCheckpoint(
  fs: FileSystem,
  paths: LogPaths,
  writer: bigint,
): { checkpoint: Checkpoint; state: RecordState } {
  const found = readCheckpoint(fs, paths.checkpoint);
  const none: Checkpoint = {
    writer,
    released: 0n,
    lastSequence: 0n,
    floorNanos: 0n,
    releasedBatches: undefined,
  };
  if (typeof found === 'string') return { checkpoint: none, state: found };
  if (found.writer !== writer) return { checkpoint: none, state: 'foreign' };
  return { checkpoint: found, state: 'read' };
}

function newerVersion(path: string, found: number, known: number): Error {
  return new Error(
    `cannot open the queue: ${path} has version ${found}, this program knows up to ${known}; ` +
      'start the newer program that wrote it',
  );
}
