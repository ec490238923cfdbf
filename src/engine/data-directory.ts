/** The engine's data directory: its files, its owner, and the engine version that wrote it. */
import { chmod, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { replaceTextFile } from '../files/atomic-file.ts';
import { hasErrorCode } from '../std/error-text.ts';

export function pathsIn(dataDir: string) {
  return {
    store: join(dataDir, 'store'),
    owner: join(dataDir, 'owner.json'),
    manifest: join(dataDir, 'engine.json'),
    /** The working directory of each process is named after it. */
    runPrefix: join(dataDir, 'run-'),
    socket: join(dataDir, 'engine.sock'),
  };
}

export interface Owner {
  /** The process that serves Weir. */
  readonly weirPid: number;
  readonly enginePid: number;
  /** Absent in files of older versions: the socket is then in the data directory. */
  readonly socketPath?: string;
}

export interface OpenDataDirectory {
  /** Absolute. */
  readonly dataDir: string;
  readonly socketPath: string;
  /** Removes files outside the data directory. */
  remove(): Promise<void>;
}

/** `sun_path` holds 108 bytes on Linux and 104 on macOS, with a zero at the end. */
const maxSocketPathBytes = 103;

/** chDB takes these for a glob pattern or an archive member in the path of a file. */
const patternSigns = /[*?{}]|::/;

/**
 * Creates the data directory, readable by its owner only, and finds a path for the socket.
 * @throws Error for a path that chDB would misread
 */
export async function openDataDirectory(directory: string): Promise<OpenDataDirectory> {
  const dataDir = resolve(directory);
  const sign = patternSigns.exec(dataDir)?.[0];
  if (sign !== undefined) {
    throw new Error(`cannot use data directory ${dataDir}: choose a path without ${sign}`);
  }
  await mkdir(dataDir, { recursive: true });
  await chmod(dataDir, 0o700);
  const socketPath = pathsIn(dataDir).socket;
  if (fits(socketPath)) return { dataDir, socketPath, remove: async () => undefined };
  const parent = fits(join(tmpdir(), 'weir-XXXXXX', 'engine.sock')) ? tmpdir() : '/tmp';
  const folder = await mkdtemp(join(parent, 'weir-'));
  return {
    dataDir,
    socketPath: join(folder, 'engine.sock'),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

function fits(path: string): boolean {
  return Buffer.byteLength(path) <= maxSocketPathBytes;
}

/** The contents of `engine.json`: chDB does not promise that an older version can open the data. */
interface Manifest {
  /** Version of the npm package `chdb`. */
  readonly engineVersion: string;
  readonly clickhouseVersion: string;
}

export function installedEngineVersion(): string {
  const require = createRequire(import.meta.url);
  return (require('chdb/package.json') as { version: string }).version;
}

/** @throws Error when a newer engine wrote the data, or the manifest cannot be read */
export async function assertManifest(dataDir: string, installed: string): Promise<void> {
  const path = pathsIn(dataDir).manifest;
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    if (hasErrorCode(error, 'ENOENT')) return undefined;
    throw error;
  });
  if (text === undefined) return;
  const written = writtenVersion(text);
  if (written === undefined) {
    const advice = 'restore it, or remove it if no newer weir wrote these data';
    throw new Error(`cannot open data directory ${dataDir}: ${path} is no manifest; ${advice}`);
  }
  if (compareVersions(written, installed) > 0) {
    const versions = `written by engine ${written}, this weir has ${installed}`;
    throw new Error(`cannot open data directory ${dataDir}: ${versions}; upgrade weir`);
  }
}

/** Durable once it returns. */
export function writeManifest(dataDir: string, manifest: Manifest): void {
  replaceTextFile(pathsIn(dataDir).manifest, `${JSON.stringify(manifest, undefined, 2)}\n`);
}

/** Negative, zero or positive as `a` is older than, equal to or newer than `b`, by numbers only. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [a, b].map((version) =>
    version.split(/[-+]/, 1)[0]!.split('.').map(Number),
  );
  for (let at = 0; at < Math.max(left!.length, right!.length); at++) {
    const difference = (left![at] ?? 0) - (right![at] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

function writtenVersion(text: string): string | undefined {
  try {
    const { engineVersion } = JSON.parse(text) as Partial<Manifest>;
    const isVersion = typeof engineVersion === 'string' && /^\d+(\.\d+)*/.test(engineVersion);
    return isVersion ? engineVersion : undefined;
  } catch {
    return undefined;
  }
}
