/**
 * Tells those who wait that something has arrived, by looking at two numbers now and then: how far
 * everything is stored, and when the newest log was received. It never asks the store, and all who
 * wait are told of one arrival at the same moment, so that they can share the answer to it.
 */

export interface ArrivalWatchParts {
  /** Unix ns up to which everything is stored; see the queue's port. */
  readonly watermarkNanos: () => bigint;
  /** Unix ns; undefined = of all streams. */
  readonly newestReceiptNanos: (streamId: string | undefined) => bigint;
}

/** What was seen when the wait ended. */
export interface Sighting {
  /** Unix ns up to which everything is known: read it, or there is nothing. */
  readonly untilNanos: bigint;
  /** False where nothing has been stored since. */
  readonly hasArrivals: boolean;
}

export interface Wait {
  /** Unix ns; what was received until then is known. */
  readonly afterNanos: bigint;
  /** On the clock of `performance.now()`: arrivals are not told before, */
  readonly notBeforeMs: number;
  /** and waiting ends at the latest then. */
  readonly deadlineMs: number;
  /** Ends it at the next look. */
  readonly signal: AbortSignal;
}

export interface ArrivalWatch {
  wait(wait: Wait): Promise<Sighting>;
}

interface Waiter {
  readonly wait: Wait;
  knownNanos: bigint;
  readonly resolve: (sighting: Sighting) => void;
}

/** Looks only while somebody waits. */
export function createArrivalWatch(parts: ArrivalWatchParts, everyMs: number): ArrivalWatch {
  const waiters = new Set<Waiter>();
  let timer: NodeJS.Timeout | undefined;

  function look(): void {
    const nowMs = performance.now();
    // In this order: what the watermark vouches for has been noted before.
    const watermark = parts.watermarkNanos();
    const newest = parts.newestReceiptNanos(undefined);
    for (const waiter of waiters) {
      const sighting = see(waiter, { nowMs, watermark, newest });
      if (sighting === undefined) continue;
      waiters.delete(waiter);
      waiter.resolve(sighting);
    }
    if (waiters.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  }

  return {
    wait(wait) {
      const { promise, resolve } = Promise.withResolvers<Sighting>();
      waiters.add({ wait, knownNanos: wait.afterNanos, resolve });
      timer ??= setInterval(look, everyMs);
      return promise;
    },
  };
}

/** @returns undefined while it goes on waiting. */
function see(
  waiter: Waiter,
  seen: { readonly nowMs: number; readonly watermark: bigint; readonly newest: bigint },
): Sighting | undefined {
  const { nowMs, watermark, newest } = seen;
  const { notBeforeMs, deadlineMs, signal } = waiter.wait;
  const isAhead = watermark > waiter.knownNanos;
  if (newest <= waiter.knownNanos) {
    if (isAhead) waiter.knownNanos = watermark;
  } else if (isAhead && nowMs >= notBeforeMs) {
    return { untilNanos: watermark, hasArrivals: true };
  }
  if (nowMs < deadlineMs && !signal.aborted) return undefined;
  return { untilNanos: waiter.knownNanos, hasArrivals: false };
}
