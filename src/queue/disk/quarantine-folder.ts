/**
 * The quarantine on disk, for the log and for an operator. `<sequence>.batch` holds one frame and
 * `.json` the reason; `.retry` is a frame to be drained again, `.damaged` bytes that are not a
 * frame.
 */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { StampedBatch } from '../../model/batch.ts';
import { createNodeFileSystem, type FileSystem } from '../../files/file-system.ts';
import {
  createFile,
  isAbsent,
  reading,
  readRange,
  readWhole,
  removeIfThere,
  replaceFile,
} from '../../files/atomic-file.ts';
import {
  decodeFrame,
  decodeFrameHeader,
  finishFrame,
  isBodyIntact,
  readFrameHeader,
} from '../frame.ts';
import {
  notABatch,
  notInQuarantine,
  type Quarantine,
  type QuarantineEntry,
} from '../quarantine.ts';
import { pathsOf } from './log-directory.ts';
import type { Segment } from './segment.ts';

export const batchSuffix = '.batch';
export const retrySuffix = '.retry';
export const noteSuffix = '.json';
export const damagedSuffix = '.damaged';

/** File names without this suffix, in sequence order. */
export function listStems(fs: FileSystem, folder: string, suffix: string): string[] {
  return stemsAmong(fs.list(folder), suffix);
}

function stemsAmong(names: readonly string[], suffix: string): string[] {
  return names
    .filter((name) => name.endsWith(suffix))
    .map((name) => name.slice(0, -suffix.length))
    .sort();
}

/** @returns undefined where the file holds no intact frame, or is gone */
export function readBatch(fs: FileSystem, folder: string, name: string): StampedBatch | undefined {
  const bytes = readWhole(fs, join(folder, name));
  const header = bytes && readFrameHeader(bytes, 0);
  if (bytes === undefined || header === undefined) return undefined;
  return isBodyIntact(bytes, header) ? decodeFrame(bytes) : undefined;
}

/** Durable on return. @returns the number of batches in quarantine */
export function writeBatch(fs: FileSystem, folder: string, frame: Buffer, reason: string): number {
  finishFrame(frame, 0, 0);
  const name = decodeFrameHeader(frame, 0).sequence.toString().padStart(20, '0');
  const note = Buffer.from(`${JSON.stringify({ sequence: name, reason }, undefined, 2)}\n`);
  replaceFile(fs, join(folder, name + noteSuffix), note);
  replaceFile(fs, join(folder, name + batchSuffix), frame);
  return listStems(fs, folder, batchSuffix).length;
}

/** More than the header and owner of a frame. */
const headBytes = 4096;

/** See `Queue.dropQuarantined`; durable on return. @returns the number of batches in quarantine */
export function removeBatchesOf(
  fs: FileSystem,
  folder: string,
  streamId: string,
  untilNanos: bigint | undefined,
): number {
  const errors: unknown[] = [];
  const removed = listStems(fs, folder, batchSuffix).filter((stem) => {
    try {
      const path = join(folder, stem + batchSuffix);
      const head = reading(fs, path, (file) => readRange(fs, file, 0, headBytes));
      if (readFrameHeader(head, 0) === undefined) return false;
      const { owner, receivedAtNanos } = decodeFrame(head);
      return owner.streamId === streamId && receivedAtNanos <= (untilNanos ?? receivedAtNanos);
    } catch (error) {
      // Thrown once the others are removed.
      errors.push(error);
      return false;
    }
  });
  // At once: each sync of the folder delays appends.
  const names = removed.flatMap((stem) => [stem + noteSuffix, stem + batchSuffix]);
  if (names.length > 0) removeFiles(fs, folder, names);
  if (errors.length > 0) throw errors[0];
  return listStems(fs, folder, batchSuffix).length;
}

/** Keeps a copy of bytes of a segment that hold no readable frame. @returns its path */
export function quarantineBytes(
  fs: FileSystem,
  folder: string,
  segment: Pick<Segment, 'path' | 'firstSequence'>,
  span: { readonly offset: number; readonly bytes: number },
): string {
  const name = `${segment.firstSequence}-${span.offset}${damagedSuffix}`;
  const path = join(folder, name);
  if (fs.list(folder).includes(name)) return path;
  const { offset, bytes } = span;
  createFile(
    fs,
    path,
    reading(fs, segment.path, (file) => readRange(fs, file, offset, bytes)),
  );
  return path;
}

/** Durable on return. @param names in the order of removal; missing ones are skipped */
export function removeFiles(fs: FileSystem, folder: string, names: readonly string[]): void {
  for (const name of names) removeIfThere(fs, join(folder, name));
  fs.syncDirectory(folder);
}

/** Completes interrupted changes: each batch is left under one name, and no note without one. */
export function finishRetries(fs: FileSystem, folder: string): void {
  const names = fs.list(folder);
  const refused = new Set(stemsAmong(names, batchSuffix));
  const retried = new Set(stemsAmong(names, retrySuffix));
  const kept = new Set([...refused, ...retried, ...stemsAmong(names, damagedSuffix)]);
  const useless = stemsAmong(names, noteSuffix)
    .filter((stem) => !kept.has(stem))
    .map((stem) => stem + noteSuffix);
  for (const stem of retried) {
    if (!refused.has(stem)) continue;
    // A retry was refused again and its file not removed yet. The newer one replaces it, unless it
    // was cut short.
    if (!isIntact(fs, folder, stem + batchSuffix)) useless.push(stem + batchSuffix);
    else fs.rename(join(folder, stem + batchSuffix), join(folder, stem + retrySuffix));
  }
  removeFiles(fs, folder, useless);
}

function isIntact(fs: FileSystem, folder: string, name: string): boolean {
  try {
    return readBatch(fs, folder, name) !== undefined;
  } catch {
    return false;
  }
}

/** An entry as shown, and its files in the order in which to remove them. */
interface Entry {
  readonly stem: string;
  readonly files: readonly string[];
  readonly shown: QuarantineEntry;
}

interface Place {
  readonly fs: FileSystem;
  readonly folder: string;
}

/**
 * For an operator: `list` works beside a running service; for the rest the caller holds the lock of
 * the data directory. Reads every batch once, at the first call.
 * @param directory of the queue; a missing one is empty
 */
export function openQuarantineFolder(directory: string): Quarantine {
  const fs = createNodeFileSystem();
  const folder = pathsOf(directory).quarantine;
  let known: Map<string, Entry> | undefined;
  const entries = () =>
    (known ??= new Map(readEntries({ fs, folder }).map((entry) => [entry.shown.id, entry])));

  function find(id: string): Entry {
    const found = entries().get(id);
    if (found === undefined) throw notInQuarantine(id);
    return found;
  }

  return {
    list: async () => [...entries().values()].map(({ shown }) => shown),
    async retry(id) {
      const { stem, files, shown } = find(id);
      if (shown.batch === undefined) throw notABatch(id);
      if (shown.retry === 'next start') return;
      fs.rename(join(folder, stem + batchSuffix), join(folder, stem + retrySuffix));
      fs.syncDirectory(folder);
      entries().set(id, { stem, files, shown: { ...shown, retry: 'next start' } });
    },
    async drop(id) {
      removeFiles(fs, folder, find(id).files);
      entries().delete(id);
    },
    close: async () => undefined,
  };
}

/** The oldest first. */
function readEntries(place: Place): Entry[] {
  const names = namesIn(place);
  const retried = new Set(stemsAmong(names, retrySuffix));
  // With a `.retry` beside it, it was refused again; the next start retries it.
  const refused = stemsAmong(names, batchSuffix).filter((stem) => !retried.has(stem));
  const batches = new Set([...refused, ...retried]);
  const entries = [
    ...refused.map((stem) => describeBatch(place, stem, 'no')),
    ...[...retried].map((stem) => describeBatch(place, stem, 'next start')),
    ...stemsAmong(names, damagedSuffix).map((stem) =>
      describeDamaged(place, stem, { hasNote: !batches.has(stem) }),
    ),
  ];
  return entries
    .filter((entry) => entry !== undefined)
    .sort((a, b) => a.shown.quarantinedAtMs - b.shown.quarantinedAtMs);
}

function namesIn({ fs, folder }: Place): string[] {
  try {
    return fs.list(folder);
  } catch (error) {
    if (isAbsent(error)) return [];
    throw error;
  }
}

/** @returns undefined where a service has removed it meanwhile */
function describeBatch(
  place: Place,
  stem: string,
  retry: QuarantineEntry['retry'],
): Entry | undefined {
  const name = stem + (retry === 'no' ? batchSuffix : retrySuffix);
  const { batch, failure } = tryRead(place, name);
  const file = statFile(place, name);
  if (file === undefined) return undefined;
  return {
    stem,
    // The note first: a note without a batch is not listed.
    files: [noteSuffix, batchSuffix, retrySuffix].map((suffix) => stem + suffix),
    shown: {
      ...file,
      id: batch === undefined ? stem : `${batch.id.writer.toString(16)}-${batch.id.sequence}`,
      reason: failure ?? readReason(place, stem),
      retry,
      batch: batch && { layout: batch.layout, rows: batch.rows, owner: batch.owner },
    },
  };
}

/** Bytes of the log, or of a batch that was to be retried and has a note. */
function describeDamaged(
  place: Place,
  stem: string,
  { hasNote }: { readonly hasNote: boolean },
): Entry | undefined {
  const name = stem + damagedSuffix;
  const file = statFile(place, name);
  if (file === undefined) return undefined;
  const refused = hasNote ? readReason(place, stem) : '';
  const reason = refused === '' ? 'damaged bytes of the log' : `damaged; ${refused}`;
  return {
    stem,
    files: hasNote ? [stem + noteSuffix, name] : [name],
    shown: { ...file, id: name, reason, retry: 'no', batch: undefined },
  };
}

function statFile(
  { folder }: Place,
  name: string,
): Pick<QuarantineEntry, 'bytes' | 'quarantinedAtMs'> | undefined {
  const stats = statSync(join(folder, name), { throwIfNoEntry: false });
  return stats && { bytes: stats.size, quarantinedAtMs: Math.floor(stats.mtimeMs) };
}

/** An unreadable file must not hide the others. */
function tryRead(
  { fs, folder }: Place,
  name: string,
): { readonly batch: StampedBatch | undefined; readonly failure?: string } {
  try {
    return { batch: readBatch(fs, folder, name) };
  } catch (error) {
    return { batch: undefined, failure: `cannot be read: ${String(error)}` };
  }
}

function readReason({ fs, folder }: Place, stem: string): string {
  try {
    const bytes = readWhole(fs, join(folder, stem + noteSuffix));
    const note = JSON.parse(bytes?.toString() ?? '{}') as { reason?: unknown };
    return typeof note.reason === 'string' ? note.reason : '';
  } catch {
    // The batch is listed without its reason.
    return '';
  }
}
