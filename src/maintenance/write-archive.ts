/** Writes a backup folder. It gets its final name once all of it is synced. */
import { mkdir, open, readdir, rm, stat, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { renameDurably } from '../files/atomic-file.ts';
import { copyFile, digestFile, syncFolder, toDiskFullError } from './copy-file.ts';
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
  /** Path in the data directory, with slashes. */
  readonly path: string;
  /** Length to copy: a log may grow meanwhile. */
  readonly bytes: number;
}

export type About = Omit<Manifest, 'files' | 'bytes'>;

/** Upper estimate for `backup.json`, `SHA256SUMS` and folders. */
const overheadBytes = 16 * 1024 * 1024;

/** @throws Error when the target exists or its parent does not */
export async function assertFree(target: string): Promise<void> {
  if (await exists(target)) {
    throw new Error(`cannot back up to ${target}: it exists; give a new name`);
  }
  if (!(await exists(dirname(target)))) {
    throw new Error(`cannot back up to ${target}: create the folder ${dirname(target)} first`);
  }
}

/**
 * @param target absolute; must not exist. Written as `target.partial` and renamed at the end.
 * @throws Error for the operator, or the signal's reason; the partial backup is removed
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
    throw toDiskFullError(error, dirname(target));
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

/** Fsyncs a folder and all folders in it. */
export async function syncFolders(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) await syncFolders(join(folder, entry.name));
  }
  await syncFolder(folder);
}

/** @throws Error when the disk has fewer free bytes */
export async function assertRoom(folder: string, bytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(folder);
  const missing = bytes + overheadBytes - bavail * bsize;
  if (missing <= 0) return;
  throw new Error(
    `cannot write ${bytes} bytes to ${folder}: ${missing} more bytes must be free; ` +
      'free some space or choose another disk',
  );
}

async function writeSynced(path: string, text: string): Promise<void> {
  await using file = await open(path, 'wx', 0o600);
  await file.writeFile(text);
  await file.sync();
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
