/** Where everything of one engine lies, and the making of those folders. */
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

export interface EnginePaths {
  readonly dataDir: string;
  readonly storePath: string;
  readonly ownerPath: string;
  readonly runPrefix: string;
  readonly socketPath: string;
  /** Removes what lies outside of the data directory. */
  remove(): Promise<void>;
}

/** `sun_path` holds 108 bytes on Linux and 104 on macOS, with a zero at the end. */
const maxSocketPathBytes = 103;

/** chDB takes these for a pattern or an archive in the path of a file that it should read. */
const patternSigns = /[*?{}]|::/;

/**
 * Makes the data directory, readable by its owner alone, and finds a place for the socket.
 * @throws Error for a path that chDB would misread
 */
export async function openEnginePaths(directory: string): Promise<EnginePaths> {
  const dataDir = resolve(directory);
  const sign = patternSigns.exec(dataDir)?.[0];
  if (sign !== undefined) {
    throw new Error(`cannot use data directory ${dataDir}: choose a path without ${sign}`);
  }
  await mkdir(dataDir, { recursive: true });
  await chmod(dataDir, 0o700);
  const paths = {
    dataDir,
    storePath: join(dataDir, 'store'),
    ownerPath: join(dataDir, 'owner.json'),
    runPrefix: join(dataDir, 'run-'),
  };
  const socketPath = join(dataDir, 'engine.sock');
  if (fits(socketPath)) return { ...paths, socketPath, remove: async () => undefined };
  const parent = fits(join(tmpdir(), 'weir-XXXXXX', 'engine.sock')) ? tmpdir() : '/tmp';
  const folder = await mkdtemp(join(parent, 'weir-'));
  return {
    ...paths,
    socketPath: join(folder, 'engine.sock'),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

function fits(path: string): boolean {
  return Buffer.byteLength(path) <= maxSocketPathBytes;
}
