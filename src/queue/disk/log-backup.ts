/**
 * Backup of the log beside the process that writes it, and its restore. Hard links hold the files
 * that the process may unlink meanwhile; a file it appends to is listed with its length so far.
 */
import { linkSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { createNodeFileSystem, type FileSystem } from '../../files/file-system.ts';
import { isAbsent, temporarySuffix } from '../../files/atomic-file.ts';
import { KeyCollector } from './key-chunk.ts';
import { listSegments, type LogPaths, pathsOf, prepareDirectories } from './log-directory.ts';
import {
  createIdentity,
  maxEarlierWriters,
  nothingSynced,
  readCheckpoint,
  readIdentity,
  writeCheckpoint,
  writeIdentity,
  writeSyncedMark,
} from './records.ts';
import {
  inspectSegment,
  parseSegmentName,
  scanSegment,
  segmentHeaderBytes,
  segmentName,
} from './segment.ts';

/** A file to copy; its first `bytes` bytes no longer change. */
export interface HeldFile {
  /** Where to read it. */
  readonly source: string;
  /** Path in the copy, relative to the queue's directory, with slashes. */
  readonly path: string;
  readonly bytes: number;
}

/** A directory, since the log treats plain files as its own. */
const holdName = 'backup';

/**
 * Holds every batch that is durable by now and not released, with keys and quarantine. No segment's
 * space is freed until `releaseHold`.
 * @param directory of the queue
 */
export function holdLog(directory: string): HeldFile[] {
  releaseHold(directory);
  const fs = createNodeFileSystem();
  const paths = pathsOf(directory);
  const held = pathsOf(join(directory, holdName));
  for (const folder of [held.root, held.segments, held.keys, held.quarantine]) {
    mkdirSync(folder, { mode: 0o700 });
  }
  for (const name of readdirSync(paths.segments)) {
    // A missing one was released; the checkpoint, linked later, says so too.
    if (parseSegmentName(name) !== undefined) tryLink(paths, held, 'segments', name);
  }
  for (const name of ['checkpoint', 'identity']) tryLink(paths, held, 'root', name);
  const segments = holdSegments(fs, held.segments);
  // After the segments, so that the keys of every sealed one are included.
  for (const folder of ['keys', 'quarantine'] as const) {
    linkAll(paths, held, folder);
  }
  return [
    ...wholeFiles(held.root, ''),
    ...segments,
    ...wholeFiles(held.keys, 'keys/'),
    ...wholeFiles(held.quarantine, 'quarantine/'),
  ];
}

/** Releases the hold of this process or of one that was killed. */
export function releaseHold(directory: string): void {
  rmSync(join(directory, holdName), { recursive: true, force: true });
}

/** Lists again where a file vanished before it was linked: it may have been renamed. */
function linkAll(from: LogPaths, to: LogPaths, folder: keyof LogPaths): void {
  const linked = new Set<string>();
  for (let isComplete = false; !isComplete; ) {
    isComplete = true;
    for (const name of readdirSync(from[folder])) {
      if (name.endsWith(temporarySuffix) || linked.has(name)) continue;
      if (tryLink(from, to, folder, name)) linked.add(name);
      else isComplete = false;
    }
  }
}

/** @returns false where the file is gone */
function tryLink(from: LogPaths, to: LogPaths, folder: keyof LogPaths, name: string): boolean {
  try {
    linkSync(join(from[folder], name), join(to[folder], name));
    return true;
  } catch (error) {
    if (!isAbsent(error)) throw error;
    return false;
  }
}

/** The segment being written is cut after its last whole batch: a part would look like damage. */
function holdSegments(fs: FileSystem, folder: string): HeldFile[] {
  return fs
    .list(folder)
    .sort()
    .flatMap((name) => {
      const segment = inspectSegment(fs, folder, parseSegmentName(name)!);
      const path = `segments/${segmentName(segment.firstSequence)}`;
      const { path: source, writer, sealed, fileBytes } = segment;
      if (sealed) return [{ source, path, bytes: fileBytes }];
      // Just begun: nothing in it was acknowledged.
      if (fileBytes <= segmentHeaderBytes) return [];
      if (writer === undefined) return [{ source, path, bytes: fileBytes }];
      const { summary } = scanSegment(fs, segment, writer, new KeyCollector());
      return [{ source, path, bytes: summary.end }];
    });
}

function wholeFiles(folder: string, prefix: string): HeldFile[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => {
      const source = join(folder, name);
      return { source, path: `${prefix}${name}`, bytes: statSync(source).size };
    });
}

/**
 * Gives a restored log a new writer id, so that no two copies assign the same batch id. Batches in
 * it keep their ids, by which the store deduplicates them.
 * @param directory of the queue, which no process has open
 * @param floorNanos Unix ns; no batch may be stamped at or before this
 * @throws Error where a newer version wrote it, or where it holds batches of too many writers
 */
export function renewLog(directory: string, floorNanos: bigint): void {
  const fs = createNodeFileSystem();
  const paths = pathsOf(directory);
  // A backup has no empty folders.
  prepareDirectories(fs, paths);
  const found = readIdentity(fs, paths.identity);
  const checkpoint = readCheckpoint(fs, paths.checkpoint);
  const known = typeof found === 'object' ? [found.writer, ...found.earlier] : undefined;
  const writers = new Set<bigint>();
  for (const { writer } of listSegments(fs, paths).segments) {
    // Segments that were foreign before the copy stay foreign.
    if (writer !== undefined && known?.includes(writer) !== false) writers.add(writer);
  }
  if (writers.size > maxEarlierWriters) {
    throw new Error(
      `cannot renew the queue: its batches are of ${writers.size} writers, and ` +
        `${maxEarlierWriters} can be told apart; start what was backed up until its queue is ` +
        'empty, then back it up again',
    );
  }
  const identity = createIdentity([...writers]);
  if (typeof checkpoint === 'object' && known?.[0] === checkpoint.writer) {
    const floor = checkpoint.floorNanos > floorNanos ? checkpoint.floorNanos : floorNanos;
    writeCheckpoint(fs, paths.checkpoint, {
      ...checkpoint,
      writer: identity.writer,
      floorNanos: floor,
    });
  }
  // A backup holds whole batches only: nothing can be torn or missing.
  writeSyncedMark(fs, paths.syncedMark, nothingSynced(identity.writer));
  writeIdentity(fs, paths.identity, identity);
}
