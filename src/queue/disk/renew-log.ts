/**
 * Gives a copy of a log a writer id of its own, so that the original and any number of copies never
 * give the same id to two batches. Batches that wait in the copy keep their ids, by which the store
 * knows them.
 */
import { createNodeFileSystem } from '../../files/file-system.ts';
import { listSegments, prepareDirectories } from './log-directory.ts';
import { pathsOf } from './log-options.ts';
import {
  createIdentity,
  maxEarlierWriters,
  readCheckpoint,
  readIdentity,
  writeCheckpoint,
  writeIdentity,
} from './records.ts';
import { nothingSynced, openSyncedMark } from './synced-mark.ts';

/**
 * @param directory of the queue, which nobody has open.
 * @param floorNanos Unix ns; no batch may be stamped at or before this.
 * @throws Error where a newer version wrote it, or where it holds batches of too many writers
 */
export function renewLog(directory: string, floorNanos: bigint): void {
  const fs = createNodeFileSystem();
  const paths = pathsOf(directory);
  // A copy has files alone; a log has its folders even where they are empty.
  prepareDirectories(fs, paths);
  const found = readIdentity(fs, paths.identity);
  const checkpoint = readCheckpoint(fs, paths.checkpoint);
  const known = typeof found === 'object' ? [found.writer, ...found.earlier] : undefined;
  const writers = new Set<bigint>();
  for (const { header } of listSegments(fs, paths).segments) {
    // What is foreign to the log that was copied stays so.
    if (header !== undefined && known?.includes(header.writer) !== false) {
      writers.add(header.writer);
    }
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
  // A copy holds whole batches alone, so nothing of it can be torn or missing.
  const { mark } = openSyncedMark(fs, paths.syncedMark);
  mark.settle(nothingSynced(identity.writer));
  mark.close();
  writeIdentity(fs, paths.identity, identity);
}
