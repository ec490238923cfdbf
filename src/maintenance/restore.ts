/**
 * Creates a data directory from a backup. The restored service has a new identity: it may run
 * beside the original, and their batch ids never collide.
 */
import { existsSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { syncFolder, toDiskFullError } from './copy-file.ts';
import type { Manifest } from './manifest.ts';
import { type Archive, extractArchive, openArchive, verifyArchive } from './read-archive.ts';
import { assertRoom, syncFolders } from './write-archive.ts';
import { compareVersions } from '../engine/data-directory.ts';
import { lockDirectory, lockFileName } from '../files/directory-lock.ts';
import { renameDurably } from '../files/atomic-file.ts';
import { renewLog } from '../queue/disk/log-backup.ts';
import { restoringName } from './unfinished.ts';
import { version } from '../service/version.ts';

export interface RestoreOptions {
  readonly source: string;
  /** Created when missing; must be empty. */
  readonly dataDir: string;
  readonly signal: AbortSignal;
}

/** Names that an unused data directory may have. */
const emptyNames = new Set([
  lockFileName,
  `${lockFileName}-journal`,
  'owner.pid',
  restoringName,
  'lost+found',
]);
const nanosPerMs = 1_000_000n;

/**
 * Verifies every byte. Until the last step a marker folder keeps services from starting.
 * @throws Error for the operator, or the signal's reason; everything copied is removed
 */
export async function restore(options: RestoreOptions): Promise<Manifest> {
  const dataDir = resolve(options.dataDir);
  const archive = await openArchive(resolve(options.source));
  assertNotNewer(archive);
  const isNew = !existsSync(dataDir);
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  assertOwner(dataDir);
  const lock = lockDirectory(dataDir);
  const restoring = join(dataDir, restoringName);
  /** Removed on failure. */
  const created: string[] = [];
  try {
    assertEmpty(dataDir);
    created.push(restoringName);
    rmSync(restoring, { recursive: true, force: true });
    await assertRoom(dataDir, archive.manifest.bytes);
    mkdirSync(restoring, { mode: 0o700 });
    await syncFolder(dataDir);
    await extractArchive(archive, restoring, options.signal);
    renewIdentity(restoring, archive.manifest);
    await syncFolders(restoring);
    for (const name of readdirSync(restoring)) {
      renameDurably(join(restoring, name), join(dataDir, name));
      // On failure the marker goes last: no service may start on a partial restore.
      created.unshift(name);
    }
  } catch (error) {
    for (const name of created) rmSync(join(dataDir, name), { recursive: true, force: true });
    lock.release();
    if (isNew) rmSync(dataDir, { recursive: true, force: true });
    throw toDiskFullError(error, dataDir);
  }
  rmSync(restoring, { recursive: true });
  await syncFolder(dataDir);
  await syncFolder(dirname(dataDir));
  lock.release();
  return archive.manifest;
}

/** Verifies a backup without restoring it. @throws as `restore` */
export async function verifyBackup(source: string, signal: AbortSignal): Promise<Manifest> {
  const archive = await openArchive(resolve(source));
  await verifyArchive(archive, signal);
  return archive.manifest;
}

function assertNotNewer({ folder, manifest }: Archive): void {
  const { weirVersion } = manifest;
  if (compareVersions(weirVersion, version) <= 0) return;
  throw new Error(
    `cannot restore ${folder}: weir ${weirVersion} made it, and this is ${version}; upgrade weir`,
  );
}

/** A service of that user could not write to files of root. */
function assertOwner(dataDir: string): void {
  const { uid } = statSync(dataDir);
  if (process.geteuid?.() !== 0 || uid === 0) return;
  throw new Error(
    `cannot restore into ${dataDir}: it belongs to user ${uid}, and this is root; run the ` +
      `command as the user of the service: sudo -u '#${uid}' weir restore …`,
  );
}

function assertEmpty(dataDir: string): void {
  const found = readdirSync(dataDir).find((name) => !emptyNames.has(name));
  if (found === undefined) return;
  throw new Error(
    `cannot restore into ${dataDir}: it is not empty (${found}); give a new folder with --data`,
  );
}

/** Times of receipt continue after those of the backup, even when this clock is behind. */
function renewIdentity(folder: string, { heldAt }: Manifest): void {
  const queue = join(folder, 'queue');
  if (existsSync(queue)) renewLog(queue, BigInt(Date.parse(heldAt)) * nanosPerMs);
}
