/**
 * Keeps one engine process alive for as long as Weir runs: starts it, watches it, kills it when it hangs, starts it
 * again. The rest of Weir sees a socket that speaks the ClickHouse HTTP protocol, and `restart` as a fence.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { EngineEvents } from '../telemetry/engine-events.ts';
import { openEnginePaths } from './engine-paths.ts';
import {
  type EngineLaunch,
  type EngineProcess,
  EngineStartError,
  startEngineProcess,
} from './engine-process.ts';
import { watchHeartbeat } from './heartbeat.ts';
import { assertManifest, installedEngineVersion, writeManifest } from './manifest.ts';
import { engineDefaults, type EngineOptions } from './options.ts';

export interface Engine {
  /** The same for the life of the engine, across restarts. */
  readonly socketPath: string;
  /** Of the process that runs now; undefined between two. */
  readonly pid: number | undefined;
  /** Starts after the first one. */
  readonly restarts: number;
  ready(): boolean;
  /**
   * Kills the process with SIGKILL, waits until it is gone, and resolves when a new one answers: nothing that was sent to
   * the old one can have an effect any more. Rejects only when the engine is closed meanwhile.
   */
  restart(reason: string): Promise<void>;
  /** Lets running queries end in time, then stops the process. */
  close(): Promise<void>;
}

/** For how long the engine of a killed Weir may still hold the data; its owner may look alive until it is reaped. */
const orphanMillis = 10_000;
const unreapedMillis = 1_000;
const firstBackoffMillis = 250;
const maxBackoffMillis = 30_000;

/**
 * Resolves when the engine answers queries.
 * @throws Error when another process holds the data directory, a newer engine wrote it, or the first start fails
 */
export async function openEngine(options: EngineOptions, events: EngineEvents): Promise<Engine> {
  const settings = { ...engineDefaults, ...options };
  const installed = installedEngineVersion();
  const paths = await openEnginePaths(options.dataDir);
  try {
    await assertManifest(paths.dataDir, installed);
    const launch: EngineLaunch = { paths, settings, events };
    const first = await startFirst(launch);
    const { clickhouseVersion } = first;
    await writeManifest(paths.dataDir, { engineVersion: installed, clickhouseVersion });
    return supervise(launch, first);
  } catch (error) {
    await paths.remove();
    throw error;
  }
}

async function startFirst(launch: EngineLaunch): Promise<EngineProcess> {
  const started = Date.now();
  for (;;) {
    try {
      return await startTimed(launch, new AbortController().signal);
    } catch (error) {
      const owner = error instanceof EngineStartError ? error.owner : undefined;
      const { dataDir } = launch.paths;
      if (owner === undefined) {
        const why = error instanceof Error ? error.message : String(error);
        throw new Error(`cannot start the engine on ${dataDir}: ${why}`, { cause: error });
      }
      const isHeld = isOtherProcess(owner.weirPid);
      if (Date.now() - started > (isHeld ? unreapedMillis : orphanMillis)) {
        const holder = isHeld
          ? `another weir process (pid ${owner.weirPid}) holds it`
          : `engine process ${owner.enginePid}, left by a weir that is gone, holds it; end it`;
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

function supervise(launch: EngineLaunch, first: EngineProcess): Engine {
  const { events, settings, paths } = launch;
  const closing = new AbortController();
  let current: EngineProcess | undefined = first;
  let starting = new AbortController();
  let nextReady = Promise.withResolvers<void>();
  let isAskedFor = false;
  let restarts = 0;
  const ended = keepAlive();

  async function keepAlive(): Promise<string> {
    for (;;) {
      const running = current as EngineProcess;
      const how = await untilGone(launch, running);
      current = undefined;
      if (closing.signal.aborted) return how;
      restarts++;
      if (!isAskedFor) events.engineEnded(running.pid, how);
      isAskedFor = false;
      current = await startAgain();
      if (current === undefined) return how;
      nextReady.resolve();
      nextReady = Promise.withResolvers();
    }
  }

  /** Tries for ever; undefined when the engine is closed meanwhile. */
  async function startAgain(): Promise<EngineProcess | undefined> {
    for (let failures = 0; !closing.signal.aborted; failures++) {
      try {
        starting = new AbortController();
        const unwanted = AbortSignal.any([starting.signal, closing.signal]);
        const engine = await startTimed(launch, unwanted);
        if (!unwanted.aborted) return engine;
        // It was asked to go after its first word, and may have been given work since.
        engine.kill('SIGKILL');
        await engine.exited;
      } catch (error) {
        if (closing.signal.aborted || starting.signal.aborted) continue;
        const retryMillis = backoffMillis(failures);
        events.engineNotStarted(error, retryMillis);
        await delay(retryMillis, undefined, { signal: closing.signal }).catch(() => undefined);
      }
    }
    return undefined;
  }

  return {
    socketPath: paths.socketPath,
    get pid() {
      return current?.pid;
    },
    get restarts() {
      return restarts;
    },
    ready() {
      return current !== undefined;
    },
    async restart(reason) {
      if (closing.signal.aborted) throw new Error('cannot restart the engine: it is closed');
      const { promise } = nextReady;
      isAskedFor = current !== undefined;
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
      await paths.remove();
    },
  };
}

/** Watches a process until its end, and brings the end about when it hangs. */
async function untilGone(launch: EngineLaunch, running: EngineProcess): Promise<string> {
  const { paths, settings, events } = launch;
  const gone = new AbortController();
  const options = { ...settings, socketPath: paths.socketPath };
  const watch = watchHeartbeat(options, events, gone.signal);
  const hang = watch.then((why) => {
    if (why !== undefined) running.kill('SIGKILL');
    return why;
  });
  const how = await running.exited;
  gone.abort();
  const why = await hang;
  return why === undefined ? how : `${why}; killed`;
}

function isOtherProcess(pid: number): boolean {
  if (pid <= 0 || pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** With jitter, so that many nodes on one machine do not start in step. */
function backoffMillis(failures: number): number {
  const full = Math.min(maxBackoffMillis, firstBackoffMillis * 2 ** failures);
  return Math.round(full * (0.5 + Math.random() / 2));
}
