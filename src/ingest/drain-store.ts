/**
 * Inserts taken batches into the store, each row exactly once: retries with backoff while the store
 * is unreachable, checks which rows are stored after a lost answer, and bisects an insert to
 * quarantine the batch that the store rejects, or that crashes it.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Layout, StampedBatch } from '../model/batch.ts';
import type { Shard, Taken } from '../queue/port.ts';
import { type Store, StoreInsertError } from '../store/port.ts';
import type { DrainEvents } from '../telemetry/queue-events.ts';
import { messageOf, toError } from '../std/error-text.ts';

export interface RetryOptions {
  /** Pause after the first failure; doubles with each further failure. */
  readonly firstPauseMs: number;
  readonly maxPauseMs: number;
  /** A batch rejected this often as invalid is quarantined. */
  readonly attemptsPerBatch: number;
  /** So is one with which the engine crashed this often. More, since reads crash it too. */
  readonly crashesPerBatch: number;
}

export interface DrainParts {
  readonly shard: Shard;
  readonly store: Pick<Store, 'insert' | 'fence' | 'ping' | 'crashes'>;
  /** Notified when a batch with labels of series is quarantined. */
  readonly queue: { forgetSeries(): Promise<void> };
  readonly telemetry: DrainEvents;
  readonly retry: RetryOptions;
  /** Ends waiting. Batches that are not stored stay in the queue. */
  readonly closing: AbortSignal;
}

type Mode = Parameters<Store['insert']>[2];

/**
 * Resolves when the batches are stored or quarantined, or when the drain closes or has lost the
 * shard.
 */
export type Outcome = 'done' | 'left';

export async function storeTaken(
  parts: DrainParts,
  taken: Taken,
  inserting: Inserting,
): Promise<Outcome> {
  const mode = taken.suspect ? 'missing' : 'all';
  for (const [layout, batches] of Map.groupBy(taken.batches, (batch) => batch.layout)) {
    if ((await storeBatches(parts, { layout, batches, mode }, inserting)) === 'left') return 'left';
  }
  return 'done';
}

/** What is known of the inserts of taken batches. */
export interface Inserting {
  /** Of an insert of all batches that has begun; absent = none has. */
  readonly failure?: Promise<StoreInsertError | undefined>;
  /** Whether any has failed. */
  hasFailed: boolean;
}

/**
 * Begins to insert batches while others are being stored; `storeTaken` sees to the rest.
 * Does not begin with those that must wait: suspect ones, and metrics, since labels of series are
 * stored before their samples.
 */
export function beginInsert(parts: DrainParts, { batches, suspect }: Taken): Inserting {
  const layout = 'logs/1';
  const mustWait = suspect || batches.some((batch) => batch.layout !== layout);
  if (mustWait) return { hasFailed: false };
  const failure = tryInsert(parts, { layout, batches, mode: 'all' });
  const inserting = { failure, hasFailed: false };
  void failure.then((error) => {
    inserting.hasFailed = error !== undefined;
  });
  return inserting;
}

interface Insert {
  readonly layout: Layout;
  readonly batches: readonly StampedBatch[];
  readonly mode: Mode;
}

async function storeBatches(
  parts: DrainParts,
  insert: Insert,
  inserting: Inserting,
): Promise<Outcome> {
  const { store, retry } = parts;
  const { layout, batches } = insert;
  let { mode } = insert;
  let refusals = 0;
  let crashes = 0;
  let inFlight = inserting.failure;
  for (let attempt = 1; inFlight !== undefined || !parts.closing.aborted; attempt++) {
    const crashesBefore = store.crashes();
    const failed = await (inFlight ?? tryInsert(parts, { layout, batches, mode }));
    inFlight = undefined;
    if (failed === undefined) return 'done';
    inserting.hasFailed = true;
    const { failure } = failed;
    parts.telemetry.insertFailed({ failure, batches: batches.length, attempt, error: failed });
    // After any failure some rows may be stored.
    mode = 'missing';
    if (failure === 'superseded') return 'left';
    if (failure === 'unknown' && (await settle(parts)) === 'left') return 'left';
    if (failure === 'data') refusals++;
    if (store.crashes() > crashesBefore) crashes++;
    const isCrashing = crashes >= retry.crashesPerBatch;
    // A large insert may take too long. After a crash, halves find the batch behind it.
    const mayBeTooLarge = attempt > retry.attemptsPerBatch;
    if (batches.length > 1 && (failure === 'data' || crashes > 0 || mayBeTooLarge)) {
      // Smaller inserts do not help while the store is unreachable.
      if (await isReachable(store)) return storeHalves(parts, layout, batches);
    } else if ((isCrashing || refusals >= retry.attemptsPerBatch) && (await isReachable(store))) {
      const reason = isCrashing
        ? `the engine crashed ${crashes} times while it stored this batch`
        : failed.message;
      if (await quarantine(parts, batches, reason)) return 'done';
    }
    await pause(parts, attempt);
  }
  return 'left';
}

async function tryInsert(
  { store, shard, telemetry }: DrainParts,
  { layout, batches, mode }: Insert,
): Promise<StoreInsertError | undefined> {
  const startedAt = performance.now();
  try {
    await store.insert(layout, batches, mode, shard.fencingToken);
  } catch (error) {
    if (error instanceof StoreInsertError) return error;
    const message = messageOf(error);
    return new StoreInsertError('unknown', message, { cause: error });
  }
  let rows = 0;
  let bytes = 0;
  for (const batch of batches) {
    rows += batch.rows;
    bytes += batch.payload.length;
  }
  const durationMs = performance.now() - startedAt;
  telemetry.inserted({ batches: batches.length, rows, bytes, durationMs });
  return undefined;
}

async function storeHalves(
  parts: DrainParts,
  layout: Layout,
  batches: readonly StampedBatch[],
): Promise<Outcome> {
  const middle = Math.ceil(batches.length / 2);
  for (const half of [batches.slice(0, middle), batches.slice(middle)]) {
    const insert: Insert = { layout, batches: half, mode: 'missing' };
    const outcome = await storeBatches(parts, insert, { hasFailed: true });
    if (outcome === 'left') return 'left';
  }
  return 'done';
}

/** Fences off earlier inserts, so that none can still be applied. */
export async function settle(parts: DrainParts): Promise<Outcome> {
  for (let attempt = 1; !parts.closing.aborted; attempt++) {
    try {
      await parts.store.fence(parts.shard.fencingToken);
      parts.telemetry.fenced();
      return 'done';
    } catch (error) {
      parts.telemetry.fenceFailed(toError(error));
      if (error instanceof StoreInsertError && error.failure === 'superseded') return 'left';
    }
    await pause(parts, attempt);
  }
  return 'left';
}

/** @returns false if the queue failed; the caller retries */
async function quarantine(
  parts: DrainParts,
  batches: readonly StampedBatch[],
  reason: string,
): Promise<boolean> {
  const { shard, queue, telemetry } = parts;
  try {
    for (const batch of batches) {
      await queue.forgetSeries();
      await shard.quarantine(batch, reason);
      telemetry.batchQuarantined({ sequence: batch.id.sequence, reason });
    }
    return true;
  } catch (error) {
    onQueueFailed(parts, 'quarantine', error);
    return false;
  }
}

/** Ignored while closing: the shard may be released already. */
export function onQueueFailed(
  { telemetry, closing }: DrainParts,
  action: string,
  error: unknown,
): void {
  if (!closing.aborted) telemetry.queueFailed({ action, error: toError(error) });
}

async function isReachable(store: Pick<Store, 'ping'>): Promise<boolean> {
  try {
    return await store.ping();
  } catch {
    return false;
  }
}

/** Backoff; ends at once when closing. */
export async function pause({ retry, closing }: DrainParts, attempt: number): Promise<void> {
  const pauseMs = Math.min(retry.maxPauseMs, retry.firstPauseMs * 2 ** Math.min(attempt - 1, 20));
  await sleepUnlessClosing(pauseMs, closing);
}

export async function sleepUnlessClosing(ms: number, closing: AbortSignal): Promise<void> {
  if (closing.aborted) return;
  // Rejects only on the signal, which the caller checks.
  await sleep(ms, undefined, { signal: closing }).catch(() => undefined);
}
