/** Reads a backup and verifies every digest; errors name each damaged file. */
import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type Copied, copyFile, digestFile } from './copy-file.ts';
import {
  archiveFormat,
  contentFolder,
  type Manifest,
  manifestName,
  parseManifest,
  parseSums,
  sumsName,
} from './manifest.ts';

export interface Archive {
  readonly folder: string;
  readonly manifest: Manifest;
  /** SHA-256 by path in the data directory. */
  readonly digests: ReadonlyMap<string, string>;
}

/** @throws Error when the backup is incomplete, damaged, or of a newer format */
export async function openArchive(folder: string): Promise<Archive> {
  const text = await readPart(folder, manifestName);
  const sums = parseSums(await readPart(folder, sumsName));
  if (sums === undefined) throw damaged(folder, [`${sumsName} is damaged`]);
  const manifest = parseManifest(text);
  if (manifest !== undefined && 'newerFormat' in manifest) {
    throw new Error(
      `cannot read the backup ${folder}: it has format ${manifest.newerFormat}, this weir knows ` +
        `up to ${archiveFormat}; use the newer weir that made it`,
    );
  }
  const isIntact = sums.get(manifestName) === createHash('sha256').update(text).digest('hex');
  if (!isIntact || manifest === undefined) {
    throw damaged(folder, [`${manifestName} is damaged`]);
  }
  const prefix = `${contentFolder}/`;
  const content = [...sums].filter(([path]) => path.startsWith(prefix));
  if (content.length !== manifest.files) {
    const counts = `${content.length} files instead of ${manifest.files}`;
    throw damaged(folder, [`${sumsName} names ${counts}`]);
  }
  const digests = new Map(content.map(([path, digest]) => [path.slice(prefix.length), digest]));
  return { folder, manifest, digests };
}

/** Reads every file. @throws Error naming each damaged or missing file */
export async function verifyArchive(archive: Archive, signal: AbortSignal): Promise<void> {
  await checkEach(archive, (path) => digestFile(pathIn(archive, path), signal));
}

/**
 * Copies the content to an existing folder. The caller syncs the folders.
 * @throws Error naming each damaged or missing file
 */
export async function extractArchive(
  archive: Archive,
  target: string,
  signal: AbortSignal,
): Promise<void> {
  await checkEach(archive, async (path) => {
    const source = pathIn(archive, path);
    const { size } = await stat(source);
    return copyFile({ source, bytes: size }, join(target, path), signal);
  });
}

async function checkEach(
  { folder, digests }: Archive,
  read: (path: string) => Promise<Copied>,
): Promise<void> {
  const faults: string[] = [];
  for (const [path, expected] of digests) {
    try {
      const { digest } = await read(path);
      if (digest !== expected) faults.push(`${path} is damaged`);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'ENOENT') faults.push(`${path} is missing`);
      else if (code === 'EIO') faults.push(`${path} cannot be read`);
      else throw error;
    }
  }
  if (faults.length > 0) throw damaged(folder, faults);
}

function pathIn({ folder }: Archive, path: string): string {
  return join(folder, contentFolder, path);
}

async function readPart(folder: string, name: string): Promise<string> {
  try {
    return await readFile(join(folder, name), 'utf8');
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code !== 'ENOENT' && code !== 'ENOTDIR') throw cause;
    const hint = folder.endsWith('.partial') ? ', since it was never finished' : '';
    throw new Error(`cannot read ${folder} as a backup: it has no ${name}${hint}`, { cause });
  }
}

const maxFaultsListed = 20;

function damaged(folder: string, faults: readonly string[]): Error {
  const listed = faults.slice(0, maxFaultsListed);
  const more = faults.length - listed.length;
  if (more > 0) listed.push(`and ${more} more`);
  return new Error(`cannot use the backup ${folder}: ${listed.join('; ')}`);
}
