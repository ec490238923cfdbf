/**
 * Backs up the embedded parts of a data directory, online or offline. Each part is a point-in-time
 * snapshot; the order of the snapshots keeps every acknowledged event.
 */
import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { Manifest } from './manifest.ts';
import { type ArchiveFile, assertFree, writeArchive } from './write-archive.ts';
import { copySqliteDirectory, sqliteFileName } from '../directory/sqlite.ts';
import { holdStore, releaseStore, listStore } from '../engine/hold-store.ts';
import { type DirectoryLock, lockDirectory, lockFileName } from '../files/directory-lock.ts';
import { holdLog, releaseHold } from '../queue/disk/log-backup.ts';
import { assertRestoreFinished, heldName } from './unfinished.ts';
import { version } from '../service/version.ts';

/** Parts of a backup, besides the TLS authority and the tokens of the first run. */
export type BackupPart = 'directory' | 'queue' | 'store';

export interface BackupOptions {
  readonly dataDir: string;
  /** Must not exist. */
  readonly destination: string;
  /** Parts kept on servers: the copy in the data directory is stale and is left out. */
  readonly elsewhere: ReadonlySet<BackupPart>;
  readonly signal: AbortSignal;
}

/** Covers a restart of the engine or of the service. */
const timeoutMs = 60_000;

/**
 * Snapshots the queue before the store: a batch released from the queue by then is in the store,
 * and a batch in both is stored once, because a restored queue checks each batch against the store.
 * @throws Error for the operator, or the signal's reason; the destination is removed
 */
export async function backUp(options: BackupOptions): Promise<Manifest> {
  const { signal } = options;
  const dataDir = resolve(options.dataDir);
  const destination = resolve(options.destination);
  assertDataDirectory(dataDir);
  assertOwner(dataDir);
  await assertFree(destination);
  assertOutside(dataDir, destination);
  const backupLock = lockBackup(dataDir);
  const lock = tryLock(dataDir);
  try {
    // Left by a backup that was killed.
    releaseSnapshots(dataDir);
    const isRunning = lock === undefined;
    const startedAt = new Date().toISOString();
    const files = await holdParts({ ...options, dataDir }, isRunning);
    const heldAt = new Date().toISOString();
    const holds = [...new Set(files.map(({ path }) => partOf(path)))];
    const about = { format: 1, weirVersion: version, startedAt, heldAt, holds };
    return await writeArchive(destination, { files, about, signal });
  } finally {
    releaseSnapshots(dataDir);
    lock?.release();
    backupLock.release();
  }
}

/** Releases the snapshots of a backup that was killed. Runs before any part is opened. */
export function sweepBackups(dataDir: string): void {
  if (!existsSync(join(dataDir, heldName))) return;
  let backupLock: DirectoryLock;
  try {
    backupLock = lockBackup(dataDir);
  } catch {
    // A backup is running.
    return;
  }
  releaseSnapshots(dataDir);
  backupLock.release();
}

async function holdParts(options: BackupOptions, isRunning: boolean): Promise<ArchiveFile[]> {
  const { dataDir, elsewhere, signal } = options;
  const has = (part: BackupPart, name: string) =>
    !elsewhere.has(part) && existsSync(join(dataDir, name));
  const files: ArchiveFile[] = [];
  if (has('queue', 'queue')) files.push(...inFolder('queue', holdLog(join(dataDir, 'queue'))));
  if (has('store', 'engine')) {
    const hold = isRunning ? holdStore : listStore;
    files.push(...inFolder('engine', await hold(join(dataDir, 'engine'), { timeoutMs, signal })));
  }
  if (has('directory', sqliteFileName)) {
    const source = heldPath(dataDir, sqliteFileName);
    copySqliteDirectory(join(dataDir, sqliteFileName), source);
    files.push(wholeFile(source, sqliteFileName));
  }
  if (files.length === 0) {
    throw new Error(
      `cannot find anything to back up in ${dataDir}: directory, queue and store are elsewhere, ` +
        'and each is backed up separately (docs/runbook-upkeep.md)',
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
    .map((name) => holdFile(dataDir, join(folder, name), `tls/${name}`));
}

const firstRunName = 'first-run.json';
const filesName = 'files';

/** The tokens of the first run, without the addresses of this run, as the next start reads them. */
function listFirstRun(dataDir: string): ArchiveFile[] {
  const source = [firstRunName, 'quickstart.json']
    .map((name) => join(dataDir, name))
    .find((file) => existsSync(file));
  return source === undefined ? [] : [holdFile(dataDir, source, firstRunName)];
}

/** By a hard link: a service that restarts meanwhile replaces the file. */
function holdFile(dataDir: string, source: string, path: string): ArchiveFile {
  const held = heldPath(dataDir, path);
  linkSync(source, held);
  return wholeFile(held, path);
}

/** Where a snapshot of a file is. @param path in the data directory */
function heldPath(dataDir: string, path: string): string {
  const held = join(dataDir, heldName, filesName, path);
  mkdirSync(dirname(held), { recursive: true, mode: 0o700 });
  return held;
}

function inFolder(folder: string, files: readonly ArchiveFile[]): ArchiveFile[] {
  return files.map((file) => ({ ...file, path: `${folder}/${file.path}` }));
}

function wholeFile(source: string, path: string): ArchiveFile {
  return { source, path, bytes: statSync(source).size };
}

function assertDataDirectory(dataDir: string): void {
  if (!existsSync(join(dataDir, lockFileName))) {
    throw new Error(`cannot find ${dataDir}, or no weir has run on it: give its data directory`);
  }
  assertRestoreFinished(dataDir);
}

/** The engine cannot write to folders of root, nor a later backup of the right user remove them. */
function assertOwner(dataDir: string): void {
  const own = process.geteuid?.();
  const { uid } = statSync(join(dataDir, lockFileName));
  if (own === undefined || own === uid) return;
  throw new Error(
    `cannot back up ${dataDir}: it belongs to user ${uid}, and this is user ${own}; ` +
      `run the command as the user of the service: sudo -u '#${uid}' weir backup …`,
  );
}

/** What removes or restores the data directory would remove the backup with it. */
function assertOutside(dataDir: string, destination: string): void {
  const data = realpathSync(dataDir);
  if (!`${realpathSync(dirname(destination))}/`.startsWith(`${data}/`)) return;
  throw new Error(`cannot back up to ${destination}: it is inside the data directory ${dataDir}`);
}

/** One backup of a directory at a time. */
function lockBackup(dataDir: string): DirectoryLock {
  const folder = join(dataDir, heldName);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  try {
    return lockDirectory(folder);
  } catch (cause) {
    throw new Error(`cannot back up ${dataDir}: another backup of it is running`, { cause });
  }
}

/** @returns undefined while a service runs on the directory. */
function tryLock(dataDir: string): DirectoryLock | undefined {
  try {
    return lockDirectory(dataDir);
  } catch {
    return undefined;
  }
}

function releaseSnapshots(dataDir: string): void {
  releaseHold(join(dataDir, 'queue'));
  releaseStore(join(dataDir, 'engine'));
  rmSync(join(dataDir, heldName, filesName), { recursive: true, force: true });
}
