/**
 * How the engine process is started: the first time, when an orphan may still hold the data, and
 * again and again later. Watching and ending it is the supervisor's business.
 */
import { setTimeout as delay } from 'node:timers/promises';
import {
  type EngineLaunch,
  type EngineProcess,
  EngineStartError,
  startEngineProcess,
} from './engine-process.ts';
import { hasErrorCode, messageOf } from '../std/error-text.ts';

/**
 * For how long the engine of a killed Weir may still hold the data; its owner may look alive until
 * it is reaped.
 */
const orphanMillis = 10_000;
const unreapedMillis = 1_000;
const firstBackoffMillis = 250;
/** A disk that has room again, or came back, is noticed within seconds. */
const maxBackoffMillis = 5_000;

/** @throws Error when another process holds the data directory, or the start fails */
export async function startFirst(launch: EngineLaunch): Promise<EngineProcess> {
  const started = Date.now();
  for (;;) {
    try {
      return await startTimed(launch, new AbortController().signal);
    } catch (error) {
      const owner = error instanceof EngineStartError ? error.owner : undefined;
      const { dataDir } = launch.paths;
      if (owner === undefined) {
        const why = messageOf(error);
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

export interface EngineStarts {
  /** Tries until a process serves; undefined when `closed` fires before that. */
  next(): Promise<EngineProcess | undefined>;
  /** Kills the process that starts now and tries again. */
  abandon(): void;
}

export function createEngineStarts(launch: EngineLaunch, closed: AbortSignal): EngineStarts {
  let attempt = new AbortController();

  async function tryOnce(unwanted: AbortSignal): Promise<EngineProcess | undefined> {
    const engine = await startTimed(launch, unwanted);
    if (!unwanted.aborted) return engine;
    // It was asked to go after its first word, and may have been given work since.
    engine.kill('SIGKILL');
    await engine.exited;
    return undefined;
  }

  return {
    abandon() {
      attempt.abort();
    },
    async next() {
      for (let failures = 0; !closed.aborted; failures++) {
        attempt = new AbortController();
        const unwanted = AbortSignal.any([attempt.signal, closed]);
        try {
          const engine = await tryOnce(unwanted);
          if (engine !== undefined) return engine;
        } catch (error) {
          if (unwanted.aborted) continue;
          const retryMillis = backoffMillis(failures);
          launch.events.engineNotStarted(error, retryMillis);
          await delay(retryMillis, undefined, { signal: closed }).catch(() => undefined);
        }
      }
      return undefined;
    },
  };
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

/** With jitter, so that many nodes on one machine do not start in step. */
function backoffMillis(failures: number): number {
  const full = Math.min(maxBackoffMillis, firstBackoffMillis * 2 ** failures);
  return Math.round(full * (0.5 + Math.random() / 2));
}
