/**
 * Writes a backup: a folder with files, their digests, and what it says of itself. It appears under
 * its name only when all of it is on disk.
 */
import { mkdir, open, readdir, rm, stat, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { renameDurably } from '../files/whole-file.ts';
import { copyFile, digestFile, syncFolder, toSpaceSentence } from './copy-file.ts';
import {
  contentFolder,
  encodeManifest,
  encodeSums,
  type Manifest,
  manifestName,
  sumsName,
} from './manifest.ts';

/** A file to be backed up. */
export interface ArchiveFile {
  readonly source: string;
  /** Where it belongs in a data directory, with slashes. */
  readonly path: string;
  /** How much of it counts. */
  readonly bytes: number;
}

export type About = Omit<Manifest, 'files' | 'bytes'>;

/** Of `backup.json`, `SHA256SUMS` and folders, generously. */
const overheadBytes = 16 * 1024 * 1024;

/**
 * To be asked before anything is made ready for a backup.
 * @throws Error where something is there already, or its folder is not
 */
export async function assertFree(target: string): Promise<void> {
  if (await exists(target)) {
    throw new Error(`cannot back up to ${target}: it is there already; give a new name`);
  }
  if (!(await exists(dirname(target)))) {
    throw new Error(`cannot back up to ${target}: make the folder ${dirname(target)} first`);
  }
}

/**
 * @param target absolute; must not exist. What it is called before it is whole ends in `.partial`,
 *   and is removed where this throws.
 * @throws Error in words for the operator; the reason of the signal
 */
export async function writeArchive(
  target: string,
  { files, about, signal }: { files: readonly ArchiveFile[]; about: About; signal: AbortSignal },
): Promise<Manifest> {
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  const manifest = { ...about, files: files.length, bytes };
  await assertRoom(dirname(target), bytes);
  const partial = `${target}.partial`;
  await rm(partial, { recursive: true, force: true });
  await mkdir(partial, { mode: 0o700 });
  try {
    await fill(partial, { files, manifest, signal });
    renameDurably(partial, target);
  } catch (error) {
    await rm(partial, { recursive: true, force: true });
    throw toSpaceSentence(error, dirname(target));
  }
  return manifest;
}

async function fill(
  folder: string,
  content: { files: readonly ArchiveFile[]; manifest: Manifest; signal: AbortSignal },
): Promise<void> {
  const { files, manifest, signal } = content;
  const digests = new Map<string, string>();
  for (const file of files) {
    const path = `${contentFolder}/${file.path}`;
    const { digest } = await copyFile(file, join(folder, path), signal);
    digests.set(path, digest);
  }
  await writeSynced(join(folder, manifestName), encodeManifest(manifest));
  const { digest } = await digestFile(join(folder, manifestName), signal);
  digests.set(manifestName, digest);
  await writeSynced(join(folder, sumsName), encodeSums(digests));
  await syncFolders(folder);
}

/** Makes durable the names of all that lies below. */
export async function syncFolders(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) await syncFolders(join(folder, entry.name));
  }
  await syncFolder(folder);
}

/** @throws Error where so much does not fit */
export async function assertRoom(folder: string, bytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(folder);
  const missing = bytes + overheadBytes - bavail * bsize;
  if (missing <= 0) return;
  throw new Error(
    `cannot write ${bytes} bytes to ${folder}: ${missing} bytes too few are free there; ` +
      'free some, or choose another disk',
  );
}

async function writeSynced(path: string, text: string): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
