/**
 * Makes a data directory from a backup. What is restored is a Weir of its own: it may run beside
 * the one that was backed up, and never gives an id to a batch that the other gives too.
 */
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { syncFolder, toSpaceSentence } from './copy-file.ts';
import type { Manifest } from './manifest.ts';
import { type Archive, extractArchive, openArchive, verifyArchive } from './read-archive.ts';
import { assertRoom, syncFolders } from './write-archive.ts';
import { compareVersions } from '../engine/manifest.ts';
import { lockDirectory } from '../files/directory-lock.ts';
import { renameDurably } from '../files/whole-file.ts';
import { renewLog } from '../queue/disk/renew-log.ts';
import { restoringName } from './unfinished.ts';
import { version } from '../service/version.ts';

export interface RestoreOptions {
  readonly source: string;
  /** Made where it is missing; must be empty. */
  readonly dataDir: string;
  readonly signal: AbortSignal;
}

/** What lies in a data directory that nothing was ever stored in. */
const emptyNames = new Set([
  'lock.db',
  'lock.db-journal',
  'owner.pid',
  restoringName,
  'lost+found',
]);
const nanosPerMs = 1_000_000n;

/**
 * Every byte is checked on its way. Until the last step, what is there is marked as unfinished, and
 * no service starts on it.
 * @throws Error in words for the operator; then nothing is left of it. The reason of the signal
 */
export async function restore(options: RestoreOptions): Promise<Manifest> {
  const dataDir = resolve(options.dataDir);
  const archive = await openArchive(resolve(options.source));
  assertNotNewer(archive);
  const isNew = !existsSync(dataDir);
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const lock = lockDirectory(dataDir);
  const restoring = join(dataDir, restoringName);
  /** To be removed where it fails. */
  const mine: string[] = [];
  try {
    assertEmpty(dataDir);
    mine.push(restoringName);
    rmSync(restoring, { recursive: true, force: true });
    await assertRoom(dataDir, archive.manifest.bytes);
    mkdirSync(restoring, { mode: 0o700 });
    await syncFolder(dataDir);
    await extractArchive(archive, restoring, options.signal);
    makeItsOwn(restoring, archive.manifest);
    await syncFolders(restoring);
    for (const name of readdirSync(restoring)) {
      renameDurably(join(restoring, name), join(dataDir, name));
      // Before the mark of what is unfinished: no service may start on a part.
      mine.unshift(name);
    }
  } catch (error) {
    for (const name of mine) rmSync(join(dataDir, name), { recursive: true, force: true });
    lock.release();
    if (isNew) rmSync(dataDir, { recursive: true, force: true });
    throw toSpaceSentence(error, dataDir);
  }
  rmSync(restoring, { recursive: true });
  await syncFolder(dataDir);
  await syncFolder(dirname(dataDir));
  lock.release();
  return archive.manifest;
}

/** Reads a backup as a whole. @throws Error naming each file that is damaged; as `restore` */
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

function assertEmpty(dataDir: string): void {
  const found = readdirSync(dataDir).find((name) => !emptyNames.has(name));
  if (found === undefined) return;
  throw new Error(
    `cannot restore into ${dataDir}: it is not empty (${found}); give a new folder with --data`,
  );
}

/** Times of receipt go on where those of the backup end, whatever the clock here says. */
function makeItsOwn(folder: string, { heldAt }: Manifest): void {
  const queue = join(folder, 'queue');
  if (existsSync(queue)) renewLog(queue, BigInt(Date.parse(heldAt)) * nanosPerMs);
}
