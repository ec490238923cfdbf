/**
 * The drain of one shard: takes its durable batches, puts them into the store, and releases them.
 * It decides when and in what portions; how an insert survives a failing store is told in `drain-
 * store.ts`.
 */
import type { Taken, TakeLimits } from '../queue/port.ts';
import { DrainPace, type PaceOptions, shareOf } from './drain-pace.ts';
import {
  type DrainParts,
  pause,
  type RetryOptions,
  settle,
  sleepUnlessClosing,
  storeTaken,
  tellQueueFailed,
} from './drain-store.ts';

export interface DrainOptions {
  /** Rows of one insert; default 1,000,000, which only samples reach before the bytes. */
  readonly maxRows: number;
  /** Payload bytes of one insert; default 64 MiB. */
  readonly maxBytes: number;
  /** Of one that has the whole load. */
  readonly pace: PaceOptions;
  /** How many fill the store, each with a share of the load; default 1. */
  readonly drains: number;
  readonly retry: RetryOptions;
  /** How long closing waits for an insert under way. */
  readonly closeGraceMs: number;
}

export const defaultDrainOptions: DrainOptions = {
  maxRows: 1_000_000,
  maxBytes: 64 * 1024 * 1024,
  pace: { minIntervalMs: 200, maxIntervalMs: 1000, heavyRowsPerSecond: 100_000 },
  drains: 1,
  retry: { firstPauseMs: 100, maxPauseMs: 5000, attemptsPerBatch: 3 },
  closeGraceMs: 10_000,
};

export interface Drain {
  /** Resolves when it stores nothing any more: closed, the shard lost, or refused by the store. */
  readonly ended: Promise<void>;
  /**
   * Stops after the insert under way, or without its answer where the store takes its time: what is
   * not released stays in the queue, and whoever drains it next asks the store first.
   */
  close(): Promise<void>;
}

/** While an insert is awaited to fill up, the queue is looked at this often. */
const lookIntervalMs = 20;

/** Starts draining at once. The shard must be let go of after the drain, not before. */
export function openDrain(
  parts: Omit<DrainParts, 'retry' | 'closing'>,
  options: Partial<DrainOptions> = {},
): Drain {
  const settings = { ...defaultDrainOptions, ...options };
  const closing = new AbortController();
  const run = drain({ ...parts, retry: settings.retry, closing: closing.signal }, settings);
  return {
    ended: run,
    async close() {
      closing.abort();
      const ended = new AbortController();
      await Promise.race([run, sleepUnlessClosing(settings.closeGraceMs, ended.signal)]);
      ended.abort();
    },
  };
}

async function drain(parts: DrainParts, options: DrainOptions): Promise<void> {
  const pace = new DrainPace(shareOf(options.pace, options.drains));
  let isPastSettled = false;
  while (!parts.closing.aborted) {
    await untilDueOrFull(parts, options, pace.dueMs);
    const taken = await takeWhileOpen(parts, options);
    if (taken === undefined) return;
    // What an earlier process sent may still be on its way into the store.
    if (taken.suspect && !isPastSettled) {
      if ((await settle(parts)) === 'left') return;
      isPastSettled = true;
    }
    pace.began(performance.now(), countRows(taken));
    if ((await storeTaken(parts, taken)) === 'left') return;
    await release(parts, taken);
  }
}

/** Lets batches gather until the time has come or there is enough for a full insert. */
async function untilDueOrFull(
  { shard, closing }: DrainParts,
  { maxRows, maxBytes }: DrainOptions,
  dueMs: number,
): Promise<void> {
  for (;;) {
    const leftMs = dueMs - performance.now();
    if (leftMs <= 0 || closing.aborted) return;
    const { rows, bytes } = shard.backlog();
    if (rows >= maxRows || bytes >= maxBytes) return;
    await sleepUnlessClosing(Math.min(leftMs, lookIntervalMs), closing);
  }
}

/**
 * What tells of closing is made for each take: one promise for all of them would keep something of
 * every race for as long as it is pending.
 * @returns undefined once the shard is let go of, or the drain closed.
 */
async function takeWhileOpen(parts: DrainParts, limits: TakeLimits): Promise<Taken | undefined> {
  const { promise: closed, resolve } = Promise.withResolvers<undefined>();
  const stopWaiting = () => resolve(undefined);
  parts.closing.addEventListener('abort', stopWaiting, { once: true });
  try {
    return await Promise.race([takeNext(parts, limits), closed]);
  } finally {
    parts.closing.removeEventListener('abort', stopWaiting);
  }
}

async function takeNext(parts: DrainParts, limits: TakeLimits): Promise<Taken | undefined> {
  const { maxRows, maxBytes } = limits;
  for (let attempt = 1; !parts.closing.aborted; attempt++) {
    try {
      return await parts.shard.take({ maxRows, maxBytes });
    } catch (error) {
      tellQueueFailed(parts, 'take', error);
    }
    await pause(parts, attempt);
  }
  return undefined;
}

/** Until it succeeds: the rows are stored, and only the queue's own record of that is missing. */
async function release(parts: DrainParts, taken: Taken): Promise<void> {
  const first = taken.batches[0];
  if (first === undefined) return;
  for (let attempt = 1; ; attempt++) {
    try {
      await parts.shard.release(taken.batches);
      parts.telemetry.released({ lagMs: Date.now() - Number(first.receivedAtNanos / 1_000_000n) });
      return;
    } catch (error) {
      tellQueueFailed(parts, 'release', error);
    }
    if (parts.closing.aborted) return;
    await pause(parts, attempt);
  }
}

function countRows(taken: Taken): number {
  return taken.batches.reduce((rows, batch) => rows + batch.rows, 0);
}
