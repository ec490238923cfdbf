/**
 * The log's directory: made, told apart from what is foreign in it, and refused where a newer
 * program wrote it.
 */
import { dirname, join } from 'node:path';
import type { FileSystem } from '../../files/file-system.ts';
import { createFile, readRange, removeTemporaries } from '../../files/whole-file.ts';
import type { LogPaths, Recovery } from './log-options.ts';
import {
  type Checkpoint,
  createIdentity,
  type Identity,
  identityVersion,
  maxEarlierWriters,
  readCheckpoint,
  readIdentity,
} from './records.ts';
import { parseSegmentName, segmentName, segmentVersion } from './segment.ts';
import { inspectSegment, type Segment } from './segment-file.ts';

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
 * The directory's writer id: as recorded, else as its segments have it, else a new one; and the
 * earlier writers whose batches were restored with it. To be recorded once all else is in place, so
 * that a first start which is cut short begins again.
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
 * A new writer, for a directory that no longer knows which sequences were given out: the store may
 * have batches under every number. What waits keeps its ids.
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
): { checkpoint: Checkpoint; state: Recovery['checkpoint'] } {
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

/**
 * Copies bytes that hold no readable frame beside the quarantined batches. @returns the file's
 * path.
 */
export function setAside(
  fs: FileSystem,
  paths: LogPaths,
  segment: Pick<Segment, 'path' | 'firstSequence'>,
  span: { readonly offset: number; readonly bytes: number },
): string {
  const name = `${segment.firstSequence}-${span.offset}.damaged`;
  const path = join(paths.quarantine, name);
  if (fs.list(paths.quarantine).includes(name)) return path;
  const source = fs.open(segment.path, 'read');
  try {
    createFile(fs, path, readRange(fs, source, span.offset, span.bytes));
  } finally {
    fs.close(source);
  }
  return path;
}

export function countSetAside(fs: FileSystem, paths: LogPaths): number {
  return fs.list(paths.quarantine).filter((name) => name.endsWith('.damaged')).length;
}

export function countQuarantined(fs: FileSystem, paths: LogPaths): number {
  return fs.list(paths.quarantine).filter((name) => name.endsWith('.batch')).length;
}

function newerVersion(path: string, found: number, known: number): Error {
  return new Error(
    `cannot open the queue: ${path} has version ${found}, this program knows up to ${known}; ` +
      'start the newer program that wrote it',
  );
}
