/**
 * What a write that failed leaves on disk. The process that met it marks the data directory and
 * ends; the next one removes the parts that were cut short. Nobody misses them: an INSERT into one
 * was never answered, and a merge keeps its sources for a minute, which take their place again.
 */
import { readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { renameDurably } from '../files/whole-file.ts';

/** Exists from the first start on, since a full disk has no room for a new file. */
const cleanMark = 'writes-clean';
/** The same file under this name says that a write failed after its time of modification. */
const failedMark = 'writes-failed';
/** File systems keep coarser times than the clock. */
const clockSlackMs = 100;

/**
 * Keeps an earlier mark, which nobody has dealt with yet.
 * @param cleanAtMs Unix ms at which no write had failed yet
 */
export function markFailedWrites(dataDir: string, cleanAtMs: number): void {
  if (failedWritesSince(dataDir) !== undefined) return;
  const mark = join(dataDir, cleanMark);
  utimesSync(mark, cleanAtMs / 1000, cleanAtMs / 1000);
  renameDurably(mark, join(dataDir, failedMark));
}

/** @returns Unix ms after which a write failed; undefined where none did */
export function failedWritesSince(dataDir: string): number | undefined {
  return statSync(join(dataDir, failedMark), { throwIfNoEntry: false })?.mtimeMs;
}

/** What failed before `nowMs` (Unix ms) is dealt with. */
export function markCleanWrites(dataDir: string, nowMs: number): void {
  const [failed, clean] = [join(dataDir, failedMark), join(dataDir, cleanMark)];
  if (statSync(failed, { throwIfNoEntry: false }) !== undefined) {
    // Needs no room, where the disk has none for the renaming.
    utimesSync(failed, nowMs / 1000, nowMs / 1000);
    renameDurably(failed, clean);
  }
  if (statSync(clean, { throwIfNoEntry: false }) === undefined) writeFileSync(clean, '');
}

/**
 * Removes entries of mutations that hold nothing: ClickHouse starts with none of them, and nobody
 * was told that the mutation began. To be called before chDB opens the store.
 */
export function removeEmptyMutations(storePath: string): void {
  for (const table of tableFolders(storePath)) {
    for (const name of readdirSync(table)) {
      const path = join(table, name);
      if (/^mutation_\d+\.txt$/.test(name) && statSync(path).size === 0) rmSync(path);
    }
  }
}

/**
 * Removes the parts that a start has put aside and that were written after `sinceMs`.
 * @returns their paths
 */
export function removeCutParts(storePath: string, sinceMs: number): string[] {
  const cut = partsAside(storePath).filter((path) => writtenAtMs(path) >= sinceMs - clockSlackMs);
  for (const path of cut) rmSync(path, { recursive: true, force: true });
  return cut;
}

/** Absolute paths of the parts that ClickHouse found broken at a start. */
function partsAside(storePath: string): string[] {
  return tableFolders(storePath).flatMap((table) => {
    const folder = join(table, 'detached');
    const names = entries(folder).filter((name) => name.startsWith('broken-on-start_'));
    return names.map((name) => join(folder, name));
  });
}

/** Of its newest file; ClickHouse touches the folder itself when it moves it. */
function writtenAtMs(part: string): number {
  return Math.max(...readdirSync(part).map((name) => statSync(join(part, name)).mtimeMs), 0);
}

/** `store/<three characters>/<uuid>` */
function tableFolders(storePath: string): string[] {
  const root = join(storePath, 'store');
  return entries(root).flatMap((group) => {
    const folder = join(root, group);
    return entries(folder).map((table) => join(folder, table));
  });
}

function entries(folder: string): string[] {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) return [];
  return readdirSync(folder);
}
