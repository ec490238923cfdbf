/** The process: runtime, exit code, and stop signals. */
import { setFlagsFromString } from 'node:v8';
import { optimiseSooner } from '../std/runtime-flags.ts';

/** EX_IOERR of sysexits.h: a disk failed; its content is unknown until it is read again. */
export const diskFailedExitCode = 74;

/** Flags of Node under which the service runs; see `src/cli/weir.ts`. */
export const nodeFlags = ['--max-semi-space-size=4'];

/**
 * Makes glibc return the memory of large bodies to the system. Otherwise it raises the threshold
 * up to 32 MiB as they are freed, and keeps what is below it, in up to 16 arenas.
 */
export const allocatorEnv = { MALLOC_ARENA_MAX: '2', MALLOC_MMAP_THRESHOLD_: '1048576' };

/** How long a start may continue after a stop signal. */
const openingMs = 2000;

/**
 * Sets flags of V8 that can be set at any time. Counts buffers outside the heap as part of it: by
 * default every few dozen megabytes of request bodies start a full collection of a heap that
 * hardly changes, a third of the gateway's processor time under load.
 */
export function tuneRuntime(): void {
  setFlagsFromString('--external-memory-accounted-in-global-limit');
  optimiseSooner();
}

/**
 * Exits at once. In-flight requests get no answer: it is unknown whether their batches are on disk,
 * and a 503 would claim that they are not. A graceful stop would write to the failed disk.
 */
export function endAfterDiskFailure(): never {
  process.exit(diskFailedExitCode);
}

/**
 * Resolves on SIGINT, SIGTERM, or when the supervisor of `npm start` is gone. A second signal, or a
 * first one while a start waits for a server, ends the process immediately.
 */
export function untilStopSignal(opening: Promise<unknown>): Promise<void> {
  return new Promise((resolve) => {
    const stop = (signal: NodeJS.Signals) => {
      const end = setTimeout(() => process.kill(process.pid, signal), openingMs);
      const opened = () => clearTimeout(end);
      void opening.then(opened, opened);
      resolve();
    };
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, stop);
    if (process.channel) process.once('disconnect', () => stop('SIGTERM'));
  });
}
