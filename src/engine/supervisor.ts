/**
 * Keeps one engine process running: starts it, watches it, kills it when it hangs, restarts it. The
 * rest of Weir sees a socket with the ClickHouse HTTP protocol, and `restart` as a fence.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { hasErrorCode, messageOf } from '../std/error-text.ts';
import type { EngineEvents } from '../telemetry/store-events.ts';
import {
  assertManifest,
  installedEngineVersion,
  openDataDirectory,
  writeManifest,
} from './data-directory.ts';
import {
  type EngineLaunch,
  type EngineProcess,
  EngineStartError,
  startEngineProcess,
} from './engine-process.ts';
import { watchHeartbeat } from './heartbeat.ts';
import { engineDefaults, type EngineOptions } from './options.ts';

export interface Engine {
  /** The same across restarts. */
  readonly socketPath: string;
  /** Undefined while no process serves. */
  readonly pid: number | undefined;
  /** Starts after the first one. */
  readonly restarts: number;
  /** Processes that a fault in native code ended, or made hang. */
  readonly crashes: number;
  ready(): boolean;
  /**
   * Kills the process with SIGKILL, waits for its exit, and resolves when a new one serves: no
   * query sent before can have an effect any more. Rejects when the engine is closed meanwhile.
   */
  restart(reason: string): Promise<void>;
  /** Waits for running queries up to `stopMillis`, then stops the process. */
  close(): Promise<void>;
}

/** For how long the engine of a killed Weir may still hold the data. */
const orphanMillis = 10_000;
/** For how long a killed Weir may look alive until it is reaped. */
const unreapedMillis = 1_000;
/** chDB's signal handlers make a process hang. Bus errors come from failing disks. */
const crash = /^signal SIG(?:SEGV|ABRT|ILL|FPE)$|; killed$/;
const firstBackoffMillis = 250;
/** Low, so that a start soon follows when a disk has room again or is back. */
const maxBackoffMillis = 5_000;

/**
 * Resolves when the engine serves queries.
 * @throws Error when another process holds the data directory, a newer engine wrote it, or the
 * first start fails
 */
export async function openEngine(options: EngineOptions, events: EngineEvents): Promise<Engine> {
  const settings = { ...engineDefaults, ...options };
  const engineVersion = installedEngineVersion();
  const directory = await openDataDirectory(options.dataDir);
  try {
    await assertManifest(directory.dataDir, engineVersion);
    const launch: EngineLaunch = { directory, settings, events };
    const first = await startFirst(launch);
    try {
      const { clickhouseVersion } = first;
      writeManifest(directory.dataDir, { engineVersion, clickhouseVersion });
    } catch (error) {
      await end(first);
      throw error;
    }
    return supervise(launch, first);
  } catch (error) {
    await directory.remove();
    throw error;
  }
}

/** Waits for the engine of a killed Weir to exit. */
async function startFirst(launch: EngineLaunch): Promise<EngineProcess> {
  const started = Date.now();
  for (;;) {
    try {
      return await startTimed(launch, new AbortController().signal);
    } catch (error) {
      const owner = error instanceof EngineStartError ? error.owner : undefined;
      const { dataDir } = launch.directory;
      if (owner === undefined) {
        const why = messageOf(error);
        throw new Error(`cannot start the engine on ${dataDir}: ${why}`, { cause: error });
      }
      const isHeld = isOtherProcess(owner.weirPid);
      if (Date.now() - started > (isHeld ? unreapedMillis : orphanMillis)) {
        const holder = isHeld
          ? `another weir process (pid ${owner.weirPid}) holds it`
          : `engine process ${owner.enginePid}, left by a weir that has exited, holds it; end it`;
        throw new Error(`cannot open data directory ${dataDir}: ${holder}`, { cause: error });
      }
      await delay(firstBackoffMillis);
    }
  }
}

async function startTimed(launch: EngineLaunch, signal: AbortSignal): Promise<EngineProcess> {
  const started = performance.now();
  const engine = await startEngineProcess(launch, signal);
  const millis = Math.round(performance.now() - started);
  launch.events.engineReady(engine.pid, millis, engine.clickhouseVersion);
  return engine;
}

async function end(engine: EngineProcess): Promise<void> {
  engine.kill('SIGKILL');
  await engine.exited;
}

function supervise(launch: EngineLaunch, first: EngineProcess): Engine {
  const { events, settings, directory } = launch;
  const closing = new AbortController();
  let current: EngineProcess | undefined = first;
  /** Aborted by a restart while a process starts. */
  let starting = new AbortController();
  let nextReady = Promise.withResolvers<void>();
  let isRequested = false;
  let restarts = 0;
  let crashes = 0;
  const ended = keepAlive();

  async function keepAlive(): Promise<string> {
    for (;;) {
      const running = current as EngineProcess;
      const how = await untilExit(launch, running);
      current = undefined;
      if (closing.signal.aborted) return how;
      restarts++;
      if (crash.test(how)) crashes++;
      if (!isRequested) events.engineEnded(running.pid, how);
      isRequested = false;
      current = await startNext();
      if (current === undefined) return how;
      nextReady.resolve();
      nextReady = Promise.withResolvers();
    }
  }

  /** Retries with backoff; undefined once the engine is closed. */
  async function startNext(): Promise<EngineProcess | undefined> {
    for (let failures = 0; !closing.signal.aborted; ) {
      starting = new AbortController();
      const cancelled = AbortSignal.any([starting.signal, closing.signal]);
      try {
        const engine = await startTimed(launch, cancelled);
        if (!cancelled.aborted) return engine;
        // It may have received queries between its start and the abort.
        await end(engine);
      } catch (error) {
        if (cancelled.aborted) continue;
        const retryMillis = backoffMillis(failures++);
        events.engineNotStarted(error, retryMillis);
        await delay(retryMillis, undefined, { signal: closing.signal }).catch(() => undefined);
      }
    }
    return undefined;
  }

  return {
    socketPath: directory.socketPath,
    get pid() {
      return current?.pid;
    },
    get restarts() {
      return restarts;
    },
    get crashes() {
      return crashes;
    },
    ready: () => current !== undefined,
    async restart(reason) {
      if (closing.signal.aborted) throw new Error('cannot restart the engine: it is closed');
      const { promise } = nextReady;
      isRequested = current !== undefined;
      events.engineRestarted(current?.pid, reason);
      current?.kill('SIGKILL');
      starting.abort();
      await promise;
    },
    async close() {
      closing.abort();
      nextReady.promise.catch(() => undefined);
      nextReady.reject(new Error('the engine was closed while it started'));
      current?.kill('SIGTERM');
      const lastResort = setTimeout(() => current?.kill('SIGKILL'), 3 * settings.stopMillis);
      events.engineStopped(await ended);
      clearTimeout(lastResort);
      await directory.remove();
    },
  };
}

/** Kills a process that hangs. Resolves with the reason for its exit. */
async function untilExit(launch: EngineLaunch, running: EngineProcess): Promise<string> {
  const { directory, settings, events } = launch;
  const exited = new AbortController();
  const options = { ...settings, socketPath: directory.socketPath };
  const watch = watchHeartbeat(options, events, exited.signal).then((hang) => {
    if (hang !== undefined) running.kill('SIGKILL');
    return hang;
  });
  const how = await running.exited;
  exited.abort();
  const hang = await watch;
  return hang === undefined ? how : `${hang}; killed`;
}

function isOtherProcess(pid: number): boolean {
  if (pid <= 0 || pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return hasErrorCode(error, 'EPERM');
  }
}

/** With jitter, so that several engines on one machine do not start in step. */
function backoffMillis(failures: number): number {
  const full = Math.min(maxBackoffMillis, firstBackoffMillis * 2 ** failures);
  return Math.round(full * (0.5 + Math.random() / 2));
}
