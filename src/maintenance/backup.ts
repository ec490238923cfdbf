/**
 * A backup of a data directory, made beside the service that runs on it or while none does: what is
 * embedded, each part as it is at one moment, in an order in which nothing acknowledged is missed.
 */
import { existsSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Manifest } from './manifest.ts';
import { type ArchiveFile, assertFree, writeArchive } from './write-archive.ts';
import { copySqliteDirectory } from '../directory/copy-sqlite.ts';
import { sqliteFileName } from '../directory/sqlite.ts';
import { holdStore, letGoOfStore, listStore } from '../engine/hold-store.ts';
import { type DirectoryLock, lockDirectory } from '../files/directory-lock.ts';
import { holdLog, letGoOfLog } from '../queue/disk/hold-log.ts';
import { assertWholeDirectory, heldName } from './unfinished.ts';
import { version } from '../service/version.ts';

/** What a backup may hold besides the TLS authority and the first run's tokens. */
export type BackupPart = 'directory' | 'queue' | 'store';

export interface BackupOptions {
  readonly dataDir: string;
  /** A folder that does not exist yet. */
  readonly destination: string;
  /** Parts that servers stand in for: what the data directory has of them is out of date. */
  readonly elsewhere: ReadonlySet<BackupPart>;
  readonly signal: AbortSignal;
}

/** For an engine that starts again, or a service that has just been started. */
const patienceMs = 60_000;

/**
 * The queue comes first and the store after it: a batch that was released from the queue by then is
 * in the store, and one that is in both is stored once, since a restored queue suspects all it
 * holds.
 * @throws Error in words for the operator; then nothing is left of it. The reason of the signal
 */
export async function backUp(options: BackupOptions): Promise<Manifest> {
  const { signal } = options;
  const dataDir = resolve(options.dataDir);
  const destination = resolve(options.destination);
  assertDataDirectory(dataDir);
  await assertFree(destination);
  const turn = takeTurn(dataDir);
  const lock = tryLock(dataDir);
  try {
    // What one that was killed has left.
    letGo(dataDir);
    const isRunning = lock === undefined;
    const startedAt = new Date().toISOString();
    const files = await holdParts({ ...options, dataDir }, isRunning);
    const heldAt = new Date().toISOString();
    const holds = [...new Set(files.map(({ path }) => partOf(path)))];
    const about = { format: 1, weirVersion: version, startedAt, heldAt, holds };
    return await writeArchive(destination, { files, about, signal });
  } finally {
    letGo(dataDir);
    lock?.release();
    turn.release();
  }
}

/** Frees what a backup that was killed still keeps on disk; before any part is opened. */
export function sweepBackups(dataDir: string): void {
  if (!existsSync(join(dataDir, heldName))) return;
  let turn: DirectoryLock;
  try {
    turn = takeTurn(dataDir);
  } catch {
    // It is under way.
    return;
  }
  letGo(dataDir);
  turn.release();
}

async function holdParts(options: BackupOptions, isRunning: boolean): Promise<ArchiveFile[]> {
  const { dataDir, elsewhere, signal } = options;
  const has = (part: BackupPart, name: string) =>
    !elsewhere.has(part) && existsSync(join(dataDir, name));
  const files: ArchiveFile[] = [];
  if (has('queue', 'queue')) files.push(...below('queue', holdLog(join(dataDir, 'queue'))));
  if (has('store', 'engine')) {
    const hold = isRunning ? holdStore : listStore;
    files.push(...below('engine', await hold(join(dataDir, 'engine'), { patienceMs, signal })));
  }
  if (has('directory', sqliteFileName)) {
    const source = join(dataDir, heldName, sqliteFileName);
    copySqliteDirectory(join(dataDir, sqliteFileName), source);
    files.push(wholeFile(source, sqliteFileName));
  }
  if (files.length === 0) {
    throw new Error(
      `cannot find anything to back up in ${dataDir}: directory, queue and store are elsewhere, ` +
        'and each has a backup of its own (docs/runbook.md)',
    );
  }
  return [...files, ...listAuthority(dataDir), ...listFirstRun(dataDir)];
}

function partOf(path: string): string {
  const [folder = ''] = path.split('/');
  const names: Readonly<Record<string, string>> = {
    [sqliteFileName]: 'directory',
    engine: 'store',
    [firstRunName]: 'tokens of the first run',
  };
  return names[folder] ?? folder;
}

function listAuthority(dataDir: string): ArchiveFile[] {
  const folder = join(dataDir, 'tls');
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => name.endsWith('.pem'))
    .map((name) => wholeFile(join(folder, name), `tls/${name}`));
}

const firstRunName = 'first-run.json';

/**
 * The first run's tokens, under the name by which the next start takes them over: addresses of this
 * run would be wrong elsewhere.
 */
function listFirstRun(dataDir: string): ArchiveFile[] {
  const source = [firstRunName, 'quickstart.json']
    .map((name) => join(dataDir, name))
    .find((file) => existsSync(file));
  return source === undefined ? [] : [wholeFile(source, firstRunName)];
}

function below(folder: string, files: readonly ArchiveFile[]): ArchiveFile[] {
  return files.map((file) => ({ ...file, path: `${folder}/${file.path}` }));
}

function wholeFile(source: string, path: string): ArchiveFile {
  return { source, path, bytes: statSync(source).size };
}

function assertDataDirectory(dataDir: string): void {
  if (!existsSync(join(dataDir, 'lock.db'))) {
    throw new Error(`cannot find ${dataDir}, or no weir has run on it: give its data directory`);
  }
  assertWholeDirectory(dataDir);
}

/** One backup of a directory at a time. */
function takeTurn(dataDir: string): DirectoryLock {
  const folder = join(dataDir, heldName);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  try {
    return lockDirectory(folder);
  } catch (cause) {
    throw new Error(`cannot back up ${dataDir}: another backup of it is under way`, { cause });
  }
}

/** @returns undefined where a service runs on it. */
function tryLock(dataDir: string): DirectoryLock | undefined {
  try {
    return lockDirectory(dataDir);
  } catch {
    return undefined;
  }
}

function letGo(dataDir: string): void {
  letGoOfLog(join(dataDir, 'queue'));
  letGoOfStore(join(dataDir, 'engine'));
  rmSync(join(dataDir, heldName, sqliteFileName), { force: true });
}
