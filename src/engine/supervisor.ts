/**
 * Keeps one engine process alive for as long as Weir runs: starts it, watches it, kills it when it
 * hangs, starts it again. The rest of Weir sees a socket that speaks the ClickHouse HTTP protocol,
 * and `restart` as a fence.
 */
import type { EngineEvents } from '../telemetry/store-events.ts';
import { openEnginePaths } from './engine-paths.ts';
import type { EngineLaunch, EngineProcess } from './engine-process.ts';
import { createEngineStarts, startFirst } from './engine-starts.ts';
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
   * Kills the process with SIGKILL, waits until it is gone, and resolves when a new one answers:
   * nothing that was sent to the old one can have an effect any more. Rejects only when the engine
   * is closed meanwhile.
   */
  restart(reason: string): Promise<void>;
  /** Lets running queries end in time, then stops the process. */
  close(): Promise<void>;
}

/**
 * Resolves when the engine answers queries.
 * @throws Error when another process holds the data directory, a newer engine wrote it, or the
 * first start fails
 */
export async function openEngine(options: EngineOptions, events: EngineEvents): Promise<Engine> {
  const settings = { ...engineDefaults, ...options };
  const installed = installedEngineVersion();
  const paths = await openEnginePaths(options.dataDir);
  try {
    await assertManifest(paths.dataDir, installed);
    const launch: EngineLaunch = { paths, settings, events };
    const first = await startFirst(launch);
    await recordVersions(launch, first, installed);
    return supervise(launch, first);
  } catch (error) {
    await paths.remove();
    throw error;
  }
}

async function recordVersions(
  { paths }: EngineLaunch,
  engine: EngineProcess,
  engineVersion: string,
): Promise<void> {
  const { clickhouseVersion } = engine;
  try {
    writeManifest(paths.dataDir, { engineVersion, clickhouseVersion });
  } catch (error) {
    engine.kill('SIGKILL');
    await engine.exited;
    throw error;
  }
}

function supervise(launch: EngineLaunch, first: EngineProcess): Engine {
  const { events, settings, paths } = launch;
  const closing = new AbortController();
  let current: EngineProcess | undefined = first;
  const starts = createEngineStarts(launch, closing.signal);
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
      current = await starts.next();
      if (current === undefined) return how;
      nextReady.resolve();
      nextReady = Promise.withResolvers();
    }
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
      starts.abandon();
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
