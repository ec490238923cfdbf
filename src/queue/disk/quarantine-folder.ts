/**
 * The quarantine of a log on disk, for an operator. The list may be read beside a running service;
 * for anything else the caller holds the lock on the data directory.
 */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { StampedBatch } from '../../model/batch.ts';
import { notABatch, notSetAside, type Quarantine, type SetAside } from '../quarantine.ts';
import { createNodeFileSystem, type FileSystem } from '../../files/file-system.ts';
import { isAbsent, readWhole } from '../../files/whole-file.ts';
import { pathsOf } from './log-options.ts';
import {
  batchSuffix,
  damagedSuffix,
  noteSuffix,
  readBatch,
  removeFiles,
  retrySuffix,
  stemsAmong,
} from './quarantine-files.ts';

/** What an operator sees, and the files behind it in the order in which to remove them. */
interface Kept {
  readonly stem: string;
  readonly files: readonly string[];
  readonly shown: SetAside;
}

interface Place {
  readonly fs: FileSystem;
  readonly folder: string;
}

/**
 * It looks once: that reads every batch, and while somebody changes what is there he is alone.
 * @param directory of the queue; one that is not there holds nothing.
 */
export function openQuarantineFolder(directory: string): Quarantine {
  const fs = createNodeFileSystem();
  const folder = pathsOf(directory).quarantine;
  let seen: Map<string, Kept> | undefined;
  const look = () =>
    (seen ??= new Map(lookInto({ fs, folder }).map((kept) => [kept.shown.id, kept])));

  function find(id: string): Kept {
    const found = look().get(id);
    if (found === undefined) throw notSetAside(id);
    return found;
  }

  return {
    list: async () => [...look().values()].map(({ shown }) => shown),
    async retry(id) {
      const { stem, files, shown } = find(id);
      if (shown.batch === undefined) throw notABatch(id);
      if (shown.retry === 'next start') return;
      fs.rename(join(folder, stem + batchSuffix), join(folder, stem + retrySuffix));
      fs.syncDirectory(folder);
      look().set(id, { stem, files, shown: { ...shown, retry: 'next start' } });
    },
    async drop(id) {
      removeFiles(fs, folder, find(id).files);
      look().delete(id);
    },
    close: async () => undefined,
  };
}

/** The oldest first. */
function lookInto(place: Place): Kept[] {
  const names = namesIn(place);
  const setAside = stemsAmong(names, batchSuffix);
  const retried = stemsAmong(names, retrySuffix);
  const damaged = stemsAmong(names, damagedSuffix);
  const waiting = new Set(retried);
  const batches = new Set([...setAside, ...retried]);
  const found = [
    ...setAside
      // Refused again, and its process killed before it put that down: the next start retries it.
      .filter((stem) => !waiting.has(stem))
      .map((stem) => describeBatch(place, stem, 'no')),
    ...retried.map((stem) => describeBatch(place, stem, 'next start')),
    ...damaged.map((stem) => describeDamaged(place, stem, { hasNote: !batches.has(stem) })),
  ];
  return found
    .filter((kept) => kept !== undefined)
    .sort((a, b) => a.shown.setAsideAtMs - b.shown.setAsideAtMs);
}

function namesIn({ fs, folder }: Place): string[] {
  try {
    return fs.list(folder);
  } catch (error) {
    if (isAbsent(error)) return [];
    throw error;
  }
}

/** @returns undefined where a service has removed it meanwhile. */
function describeBatch(place: Place, stem: string, retry: SetAside['retry']): Kept | undefined {
  const name = stem + (retry === 'no' ? batchSuffix : retrySuffix);
  const { batch, failure } = tryRead(place, name);
  const size = sizeUp(place, name);
  if (size === undefined) return undefined;
  return {
    stem,
    // The batch last: a note alone would be found by nobody.
    files: [noteSuffix, batchSuffix, retrySuffix].map((suffix) => stem + suffix),
    shown: {
      ...size,
      id: batch === undefined ? stem : `${batch.id.writer.toString(16)}-${batch.id.sequence}`,
      reason: failure ?? readReason(place, stem),
      retry,
      batch: batch && { layout: batch.layout, rows: batch.rows, owner: batch.owner },
    },
  };
}

/** Bytes of the log, or of a batch that was to be drained again. */
function describeDamaged(
  place: Place,
  stem: string,
  { hasNote }: { readonly hasNote: boolean },
): Kept | undefined {
  const name = stem + damagedSuffix;
  const size = sizeUp(place, name);
  if (size === undefined) return undefined;
  const refused = hasNote ? readReason(place, stem) : '';
  return {
    stem,
    files: hasNote ? [stem + noteSuffix, name] : [name],
    shown: {
      ...size,
      id: name,
      reason: refused === '' ? 'damaged bytes of the log' : `damaged; ${refused}`,
      retry: 'no',
      batch: undefined,
    },
  };
}

function sizeUp(
  { folder }: Place,
  name: string,
): Pick<SetAside, 'bytes' | 'setAsideAtMs'> | undefined {
  const stats = statSync(join(folder, name), { throwIfNoEntry: false });
  return stats && { bytes: stats.size, setAsideAtMs: Math.floor(stats.mtimeMs) };
}

/** One file that the disk does not give must not hide the others. */
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
    // A note that cannot be read takes nothing from the batch.
    return '';
  }
}
