/**
 * The drain of one shard: takes durable batches from the queue, inserts them into the store and
 * releases them. It decides when and how many; `drain-store.ts` handles failures of inserts.
 */
import type { StampedBatch } from '../model/batch.ts';
import type { Taken, TakeLimits } from '../queue/port.ts';
import {
  beginInsert,
  type DrainParts,
  type Inserting,
  type Outcome,
  pause,
  type RetryOptions,
  settle,
  sleepUnlessClosing,
  storeTaken,
  onQueueFailed,
} from './drain-store.ts';

export interface DrainOptions {
  /** Rows of one insert. */
  readonly maxRows: number;
  /** Bytes of one insert, as the queue counts them. */
  readonly maxBytes: number;
  /** For a single drain with the whole load. */
  readonly pace: PaceOptions;
  /** Number of drains that share the load. */
  readonly drains: number;
  /**
   * Whether the next logs are sent while the store inserts others. For a store that inserts one
   * after the other, and that this drain alone writes to.
   */
  readonly sendsAhead: boolean;
  readonly retry: RetryOptions;
  /** How long `close` waits for an insert in flight. */
  readonly closeGraceMs: number;
}

export const defaultDrainOptions: DrainOptions = {
  maxRows: 1_000_000,
  maxBytes: 32 * 1024 * 1024,
  pace: { minIntervalMs: 200, maxIntervalMs: 1000, heavyRowsPerSecond: 100_000 },
  drains: 1,
  sendsAhead: false,
  retry: { firstPauseMs: 100, maxPauseMs: 5000, attemptsPerBatch: 3, crashesPerBatch: 10 },
  closeGraceMs: 10_000,
};

export interface Drain {
  /** Resolves when the drain has stopped: closed, shard lost, or fenced off by the store. */
  readonly ended: Promise<void>;
  /**
   * Stops after the insert in flight, or after the grace time. Batches that are not released stay
   * in the queue; the next drain checks the store for them.
   */
  close(): Promise<void>;
}

/** Interval of checks whether an insert is full. */
const backlogIntervalMs = 20;

/** Starts draining. Close the drain before its shard. */
export function openDrain(
  parts: Omit<DrainParts, 'retry' | 'closing'>,
  options: Partial<DrainOptions>,
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
  /** What was taken before. */
  let before: Storing = {
    size: nothing,
    inserting: { hasFailed: false },
    outcome: Promise.resolve('done'),
  };
  while (!parts.closing.aborted) {
    await untilDueOrFull(parts, options, { dueMs: pace.dueMs, taken: () => before.size });
    const taken = await takeUntilClosed(parts, options);
    if (taken === undefined) break;
    const size = sizeOf(taken);
    pace.began(performance.now(), size.rows);
    const mayBegin = options.sendsAhead && !before.inserting.hasFailed;
    const inserting = mayBegin ? beginInsert(parts, taken) : { hasFailed: false };
    if ((await before.outcome) === 'left') {
      await inserting.failure;
      return;
    }
    // Inserts of an earlier process may still be in flight.
    if (taken.suspect && !isPastSettled) {
      if ((await settle(parts)) === 'left') return;
      isPastSettled = true;
    }
    before = storeAndRelease(parts, taken, { size, inserting });
    // Metrics arrive meanwhile for a larger insert; taken now, they would only wait in memory.
    const takesAhead = options.sendsAhead && taken.batches.every(isLogs);
    if (!takesAhead && (await before.outcome) === 'left') return;
  }
  await before.outcome;
}

function isLogs({ layout }: StampedBatch): boolean {
  return layout === 'logs/1';
}

interface Size {
  readonly rows: number;
  /** As the queue counts them. */
  readonly bytes: number;
}

const nothing: Size = { rows: 0, bytes: 0 };

function sizeOf({ batches, bytes }: Taken): Size {
  return { rows: batches.reduce((sum, batch) => sum + batch.rows, 0), bytes };
}

/** Batches that are being stored. */
interface Storing {
  /** Nothing once they are released. */
  size: Size;
  readonly inserting: Inserting;
  readonly outcome: Promise<Outcome>;
}

function storeAndRelease(
  parts: DrainParts,
  taken: Taken,
  { size, inserting }: Pick<Storing, 'size' | 'inserting'>,
): Storing {
  const store = async () => {
    const outcome = await storeTaken(parts, taken, inserting);
    if (outcome === 'done') await release(parts, taken);
    storing.size = nothing;
    return outcome;
  };
  const storing: Storing = { size, inserting, outcome: store() };
  return storing;
}

interface Due {
  readonly dueMs: number;
  /** Of the backlog, what is taken. */
  readonly taken: () => Size;
}

/** Waits until the next insert is due or full. */
async function untilDueOrFull(
  { shard, closing }: DrainParts,
  { maxRows, maxBytes }: DrainOptions,
  { dueMs, taken }: Due,
): Promise<void> {
  for (;;) {
    const leftMs = dueMs - performance.now();
    if (leftMs <= 0 || closing.aborted) return;
    const { rows, bytes } = shard.backlog();
    const own = taken();
    if (rows - own.rows >= maxRows || bytes - own.bytes >= maxBytes) return;
    await sleepUnlessClosing(Math.min(leftMs, backlogIntervalMs), closing);
  }
}

/**
 * Creates a promise per take: racing against one long-lived promise would leak memory.
 * @returns undefined once the shard is released or the drain closed
 */
async function takeUntilClosed(parts: DrainParts, limits: TakeLimits): Promise<Taken | undefined> {
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
      onQueueFailed(parts, 'take', error);
    }
    await pause(parts, attempt);
  }
  return undefined;
}

/** Retries until it succeeds: the rows are stored already. */
async function release(parts: DrainParts, taken: Taken): Promise<void> {
  const first = taken.batches[0];
  if (first === undefined) return;
  for (let attempt = 1; ; attempt++) {
    try {
      await parts.shard.release(taken.batches);
      parts.telemetry.released({ lagMs: Date.now() - Number(first.receivedAtNanos / 1_000_000n) });
      return;
    } catch (error) {
      onQueueFailed(parts, 'release', error);
    }
    if (parts.closing.aborted) return;
    await pause(parts, attempt);
  }
}

/** Pace of inserts: few small parts under a light load, large parts under a heavy one. */
export interface PaceOptions {
  /** Interval between inserts under a light load. */
  readonly minIntervalMs: number;
  /** Interval under a heavy load: larger parts cost less per row. */
  readonly maxIntervalMs: number;
  /** Rate of a heavy load. The interval grows linearly up to it. */
  readonly heavyRowsPerSecond: number;
}

/** The pace of one of several drains: intervals as for the whole load, for smaller inserts. */
export function shareOf(pace: PaceOptions, drains: number): PaceOptions {
  return { ...pace, heavyRowsPerSecond: pace.heavyRowsPerSecond / drains };
}

export class DrainPace {
  readonly #options: PaceOptions;
  #lastStartMs = Number.NEGATIVE_INFINITY;
  #intervalMs: number;

  constructor(options: PaceOptions) {
    this.#options = options;
    this.#intervalMs = options.minIntervalMs;
  }

  /** Earliest start of an insert that is not full. */
  get dueMs(): number {
    return this.#lastStartMs + this.#intervalMs;
  }

  /** Records the start of an insert of the rows gathered since the previous one. */
  began(startMs: number, rows: number): void {
    const { minIntervalMs, maxIntervalMs, heavyRowsPerSecond } = this.#options;
    const gatheredMs = Math.max(minIntervalMs, startMs - this.#lastStartMs);
    const load = Math.min(1, (rows * 1000) / gatheredMs / heavyRowsPerSecond);
    this.#intervalMs = minIntervalMs + load * (maxIntervalMs - minIntervalMs);
    this.#lastStartMs = startMs;
  }
}
