/**
 * One run of the engine process: starts it, waits until it serves, and reports its exit. The
 * supervisor restarts it.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { extname, join, resolve as resolvePath } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { openChannel } from '../channel/channel.ts';
import { overIpc } from '../channel/transports.ts';
import { isNoRoom } from '../files/disk-failure.ts';
import { messageOf } from '../std/error-text.ts';
import type { EngineEvents } from '../telemetry/store-events.ts';
import { type OpenDataDirectory, type Owner, pathsIn } from './data-directory.ts';
import type { EngineSettings } from './options.ts';

/** Served by the engine process. Its working directory is new and empty. */
export interface EngineMethods {
  /** Resolves when the process serves queries; rejects when it cannot. */
  start(options: EngineStart): Promise<StartedEngine>;
}

/** Served by its parent. */
export interface SupervisorMethods {
  /** Sent before the process exits by itself. */
  failed(reason: string): void;
}

export interface EngineStart {
  readonly settings: EngineSettings;
  /** Absolute. */
  readonly dataDir: string;
  readonly socketPath: string;
  /** The process ends itself when this one is no longer its parent. */
  readonly parentPid: number;
}

export interface StartedEngine {
  readonly clickhouseVersion: string;
  /** Paths of removed parts that a failed write had truncated. */
  readonly truncatedParts: readonly string[];
}

export interface EngineProcess {
  readonly pid: number;
  readonly clickhouseVersion: string;
  /** Resolves with the reason when the process has exited. */
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

export interface EngineLaunch {
  readonly directory: OpenDataDirectory;
  readonly settings: EngineSettings;
  readonly events: EngineEvents;
}

/**
 * Resolves when the engine serves queries.
 * @param signal kills the process while it starts
 * @throws EngineStartError after the process has exited
 */
export async function startEngineProcess(
  { directory, settings, events }: EngineLaunch,
  signal: AbortSignal,
): Promise<EngineProcess> {
  const { dataDir, socketPath } = directory;
  const workingDir = await makeWorkingDir(dataDir);
  const child = spawnChild(settings, workingDir);
  const closed = untilClosed(child);
  const lines = readLines(child, events);
  let failure: string | undefined;
  const { remote } = openChannel<SupervisorMethods, EngineMethods>(overIpc(child), {
    failed(reason) {
      failure = reason;
    },
  });
  const exited = closed.then(async (reason) => {
    // A failing disk may keep the directory; the next process removes it.
    await rm(workingDir, { recursive: true, force: true }).catch(() => undefined);
    return failure ?? reason;
  });
  const kill = () => child.kill('SIGKILL');
  const limit = AbortSignal.any([signal, AbortSignal.timeout(settings.startMillis)]);
  limit.addEventListener('abort', kill);
  if (limit.aborted) kill();
  const pid = child.pid ?? 0;
  try {
    const start: EngineStart = { settings, dataDir, socketPath, parentPid: process.pid };
    const { clickhouseVersion, truncatedParts } = await Promise.race([
      remote.start(start),
      exited.then((reason) => Promise.reject(new Error(reason))),
    ]);
    if (truncatedParts.length > 0) events.truncatedPartsRemoved(truncatedParts);
    return { pid, clickhouseVersion, exited, kill: (name) => child.kill(name) };
  } catch (error) {
    // An error of the child; otherwise the channel has closed because it exited.
    if (child.connected) failure ??= messageOf(error);
    kill();
    const reason = [await exited, ...lines.slice(-3)].join('; ');
    const isLocked = lines.some((line) => line.includes('Cannot lock file'));
    throw new EngineStartError(reason, isLocked ? await readOwner(dataDir) : undefined);
  } finally {
    limit.removeEventListener('abort', kill);
  }
}

/** On a full disk the directory is made elsewhere, so that the engine can still serve reads. */
async function makeWorkingDir(dataDir: string): Promise<string> {
  let folder: string | undefined;
  try {
    folder = await mkdtemp(pathsIn(dataDir).runPrefix);
    const probe = join(folder, 'probe');
    await writeFile(probe, Buffer.alloc(workingBytes));
    await rm(probe);
    return folder;
  } catch (error) {
    if (!isNoRoom(error)) throw error;
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
    return mkdtemp(join(tmpdir(), 'weir-run-'));
  }
}

/** Upper bound of the configuration file's size. */
const workingBytes = 64 * 2 ** 10;
/** Threads of the pool for file system calls, and for members other than those of reads. */
const otherPoolThreads = 9;

function spawnChild(settings: EngineSettings, workingDir: string): ChildProcess {
  // `.ts` from source, `.js` from a build.
  const file = fileURLToPath(new URL(`./child${extname(import.meta.url)}`, import.meta.url));
  const { NODE_COMPILE_CACHE: compileCache } = process.env;
  return spawn(process.execPath, [file], {
    // chDB reads a config.xml from its working directory or HOME, so both are new and empty.
    cwd: workingDir,
    env: {
      HOME: workingDir,
      TMPDIR: workingDir,
      LANG: 'C.UTF-8',
      TZ: 'UTC',
      // Freed memory returns to the system after 0.3 s instead of 5. After 1 s an insert would take
      // 30 MB more, and 2 % less CPU.
      JE_MALLOC_CONF: 'dirty_decay_ms:300',
      // A query blocks a thread of libuv's pool, which file system calls need as well.
      UV_THREADPOOL_SIZE: String(settings.readMembers + settings.briefMembers + otherPoolThreads),
      // Without the cache, a start from source takes 40 % more CPU.
      ...(compileCache !== undefined && { NODE_COMPILE_CACHE: resolvePath(compileCache) }),
    },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
}

/** Resolves with the exit code or signal, or with the error of a failed spawn. */
function untilClosed(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    child.on('error', (error) => {
      if (child.pid === undefined) resolve(error.message);
    });
    child.on('close', (code, endedBy) =>
      resolve(endedBy === null ? `exit code ${String(code)}` : `signal ${endedBy}`),
    );
  });
}

/** Logs each line of standard error, and keeps the last ones. */
function readLines(child: ChildProcess, events: EngineEvents): string[] {
  const lines: string[] = [];
  // Undefined where the system has no more file descriptors.
  if (!child.stderr) return lines;
  createInterface({ input: child.stderr }).on('line', (line) => {
    events.engineWroteStderr(line);
    lines.push(line);
    if (lines.length > 20) lines.shift();
  });
  return lines;
}

async function readOwner(dataDir: string): Promise<Owner> {
  try {
    return JSON.parse(await readFile(pathsIn(dataDir).owner, 'utf8')) as Owner;
  } catch {
    // The holder has the lock and has not written the file yet.
    return { weirPid: 0, enginePid: 0 };
  }
}
