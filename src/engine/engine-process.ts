/**
 * One run of the engine process: starts it, waits for its first word, and tells when it is gone.
 * Starting it again is the supervisor's business.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { isNoRoom } from '../files/disk-failure.ts';
import type { EngineEvents } from '../telemetry/store-events.ts';
import type { ChildMessage, ChildStart, Owner } from './child-protocol.ts';
import type { EnginePaths } from './engine-paths.ts';
import type { EngineSettings } from './options.ts';

export interface EngineProcess {
  readonly pid: number;
  readonly clickhouseVersion: string;
  /** Resolves with what is known of its end once the process is gone. */
  readonly exited: Promise<string>;
  kill(signal: NodeJS.Signals): void;
}

/** `owner` is set when another process holds the data directory. */
export class EngineStartError extends Error {
  override readonly name = 'EngineStartError';
  readonly owner: Owner | undefined;

  constructor(message: string, owner: Owner | undefined) {
    super(message);
    this.owner = owner;
  }
}

/**
 * Resolves when the engine answers queries.
 * @param signal kills the process while it starts
 * @throws EngineStartError when it ends before that; nothing of it is left then
 */
export async function startEngineProcess(
  { paths, settings, events }: EngineLaunch,
  signal: AbortSignal,
): Promise<EngineProcess> {
  const workingDir = await makeWorkingDir(paths);
  const child = spawnChild(paths, settings, workingDir);
  const lines = readLines(child, events);
  let lastWords: string | undefined;
  child.on('message', (message: ChildMessage) => {
    if (message.kind === 'failed') lastWords = message.message;
  });
  const gone = once(child, 'close').then(async (end) => {
    const [code, endedBy] = end as [number | null, NodeJS.Signals | null];
    // A disk that failed keeps it; the next process removes it.
    await rm(workingDir, { recursive: true, force: true }).catch(() => undefined);
    return lastWords ?? (endedBy === null ? `exit code ${String(code)}` : `signal ${endedBy}`);
  });
  const kill = () => child.kill('SIGKILL');
  const limit = AbortSignal.any([signal, AbortSignal.timeout(settings.startMillis)]);
  limit.addEventListener('abort', kill);
  if (limit.aborted) kill();
  const message = await Promise.race([firstMessage(child), gone]);
  limit.removeEventListener('abort', kill);
  if (typeof message !== 'string' && message.kind === 'ready' && child.pid !== undefined) {
    const { clickhouseVersion, cutParts } = message;
    if (cutParts.length > 0) events.cutPartsRemoved(cutParts);
    return { pid: child.pid, clickhouseVersion, exited: gone, kill: (by) => child.kill(by) };
  }
  const end = await gone;
  const isLocked = lines.some((line) => line.includes('Cannot lock file'));
  const said = [end, ...lines.slice(-3)].join('; ');
  throw new EngineStartError(said, isLocked ? await readOwner(paths.ownerPath) : undefined);
}

export interface EngineLaunch {
  readonly paths: EnginePaths;
  readonly settings: EngineSettings;
  readonly events: EngineEvents;
}

/** On a full disk a start needs some kilobytes elsewhere; then reads go on. */
async function makeWorkingDir({ runPrefix }: EnginePaths): Promise<string> {
  let folder: string | undefined;
  try {
    folder = await mkdtemp(runPrefix);
    const room = join(folder, 'room');
    await writeFile(room, Buffer.alloc(workingBytes));
    await rm(room);
    return folder;
  } catch (error) {
    if (!isNoRoom(error)) throw error;
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
    return mkdtemp(join(tmpdir(), 'weir-run-'));
  }
}

/** Of the configuration file. */
const workingBytes = 64 * 2 ** 10;
const otherPoolThreads = 6;
const controlMembers = 3;

function spawnChild(
  paths: EnginePaths,
  settings: EngineSettings,
  workingDir: string,
): ChildProcess {
  const { storePath, ownerPath, runPrefix, socketPath } = paths;
  const parentPid = process.pid;
  const start: ChildStart = { settings, storePath, ownerPath, runPrefix, socketPath, parentPid };
  // From source or from a build, the child is what this file is.
  const file = fileURLToPath(new URL(`./child${extname(import.meta.url)}`, import.meta.url));
  return spawn(process.execPath, [file, JSON.stringify(start)], {
    // chDB reads a config.xml from its working directory or HOME, so both are new and empty.
    cwd: workingDir,
    env: {
      HOME: workingDir,
      TMPDIR: workingDir,
      LANG: 'C.UTF-8',
      TZ: 'UTC',
      // chDB's allocator gives freed memory back after 1 s instead of 5; measured: less in RAM, no
      // more CPU.
      JE_MALLOC_CONF: 'dirty_decay_ms:1000',
      // A query holds a thread of the pool that files need as well.
      UV_THREADPOOL_SIZE: String(settings.readMembers + controlMembers + otherPoolThreads),
    },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
}

async function firstMessage(child: ChildProcess): Promise<ChildMessage> {
  const [message] = (await once(child, 'message')) as [ChildMessage];
  return message;
}

/** The last lines that the process wrote; each goes to the log as well. */
function readLines(child: ChildProcess, events: EngineEvents): string[] {
  const lines: string[] = [];
  if (child.stderr === null) return lines;
  createInterface({ input: child.stderr }).on('line', (line) => {
    events.engineSaid(line);
    lines.push(line);
    if (lines.length > 20) lines.shift();
  });
  return lines;
}

async function readOwner(path: string): Promise<Owner> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as Owner;
  } catch {
    // The holder has the lock and has not written its name yet.
    return { weirPid: 0, enginePid: 0 };
  }
}
