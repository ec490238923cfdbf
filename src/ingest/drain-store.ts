/**
 * Brings taken batches into the store, each row exactly once, whatever the store answers: it waits
 * while the store is away, asks what has landed where an answer was lost, and finds the batch that
 * spoils an insert for the others.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Layout, StampedBatch } from '../model/batch.ts';
import type { Shard, Taken } from '../queue/port.ts';
import { type Store, StoreInsertError } from '../store/port.ts';
import type { DrainEvents } from '../telemetry/queue-events.ts';
import { messageOf, toError } from '../std/error-text.ts';

export interface RetryOptions {
  /** Pause after the first failure; doubles with each further one, */
  readonly firstPauseMs: number;
  /** up to this. */
  readonly maxPauseMs: number;
  /** A batch that the store refused as bad so often is set aside. */
  readonly attemptsPerBatch: number;
}

export interface DrainParts {
  readonly shard: Shard;
  readonly store: Pick<Store, 'insert' | 'fence' | 'ping'>;
  /** Told when labels of series were set aside with a batch. */
  readonly queue: { forgetSeries(): Promise<void> };
  readonly telemetry: DrainEvents;
  readonly retry: RetryOptions;
  /** Ends waiting; what is then not stored stays in the queue. */
  readonly closing: AbortSignal;
}

type Mode = Parameters<Store['insert']>[2];

/**
 * What became of a run of batches: dealt with (stored or set aside), or left because the drain
 * closes or the shard is another's.
 */
export type Outcome = 'done' | 'left';

/** Stores what was taken. */
export async function storeTaken(parts: DrainParts, taken: Taken): Promise<Outcome> {
  const mode = taken.suspect ? 'missing' : 'all';
  for (const [layout, batches] of groupByLayout(taken.batches)) {
    if ((await storeBatches(parts, { layout, batches, mode })) === 'left') return 'left';
  }
  return 'done';
}

interface Insert {
  readonly layout: Layout;
  readonly batches: readonly StampedBatch[];
  readonly mode: Mode;
}

async function storeBatches(parts: DrainParts, insert: Insert): Promise<Outcome> {
  const { layout, batches } = insert;
  let { mode } = insert;
  let refusals = 0;
  for (let attempt = 1; !parts.closing.aborted; attempt++) {
    const failed = await tryInsert(parts, { layout, batches, mode });
    if (failed === undefined) return 'done';
    const { failure } = failed;
    parts.telemetry.insertFailed({ failure, batches: batches.length, attempt, error: failed });
    // Whatever the failure: some of the rows may be there.
    mode = 'missing';
    if (failure === 'superseded') return 'left';
    if (failure === 'unknown' && (await settle(parts)) === 'left') return 'left';
    if (failure === 'data') refusals++;
    const isTooLarge = failure !== 'data' && attempt > parts.retry.attemptsPerBatch;
    if (batches.length > 1 && (failure === 'data' || isTooLarge)) {
      // Only a store that is there can have meant these rows; while it is away, smaller inserts do
      // not help.
      if (await isThere(parts.store)) return storeHalves(parts, layout, batches);
    } else if (refusals >= parts.retry.attemptsPerBatch && (await isThere(parts.store))) {
      if (await setAside(parts, batches, failed.message)) return 'done';
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
    const outcome = await storeBatches(parts, { layout, batches: half, mode: 'missing' });
    if (outcome === 'left') return 'left';
  }
  return 'done';
}

/** Waits until no earlier insert can land any more. */
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

/** @returns false where the queue could not keep it; then it is tried again. */
async function setAside(
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
    tellQueueFailed(parts, 'quarantine', error);
    return false;
  }
}

/** What outlasts the patience of a stop finds the shard let go of: no fault of the queue. */
export function tellQueueFailed(
  { telemetry, closing }: DrainParts,
  action: string,
  error: unknown,
): void {
  if (!closing.aborted) telemetry.queueFailed({ action, error: toError(error) });
}

async function isThere(store: Pick<Store, 'ping'>): Promise<boolean> {
  try {
    return await store.ping();
  } catch {
    return false;
  }
}

/** Doubles from attempt to attempt; ends at once when closing. */
export async function pause({ retry, closing }: DrainParts, attempt: number): Promise<void> {
  const pauseMs = Math.min(retry.maxPauseMs, retry.firstPauseMs * 2 ** Math.min(attempt - 1, 20));
  await sleepUnlessClosing(pauseMs, closing);
}

export async function sleepUnlessClosing(ms: number, closing: AbortSignal): Promise<void> {
  if (closing.aborted) return;
  // The only way this rejects is the signal, which the caller looks at next.
  await sleep(ms, undefined, { signal: closing }).catch(() => undefined);
}

function groupByLayout(batches: readonly StampedBatch[]): Map<Layout, StampedBatch[]> {
  return Map.groupBy(batches, (batch) => batch.layout);
}
