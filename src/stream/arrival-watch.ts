/**
 * Wakes tails when logs have been stored. It polls the watermark and the newest time of receipt,
 * never the store, and wakes all waiters at once so that they can share a page.
 */

export interface ArrivalSource {
  /** Unix ns up to which every log is stored; see the queue's port. */
  readonly watermarkNanos: () => bigint;
  /** Unix ns; undefined = of all streams. */
  readonly newestReceiptNanos: (streamId: string | undefined) => bigint;
}

interface Wait {
  /** Unix ns; logs received until then have been read. */
  readonly afterNanos: bigint;
  /** On the clock of `performance.now()`: earliest wake-up for arrivals, and the timeout. */
  readonly notBeforeMs: number;
  readonly deadlineMs: number;
  /** Ends the wait at the next poll. */
  readonly signal: AbortSignal;
}

interface WaitResult {
  /** Unix ns up to which to read, or up to which no log has arrived. */
  readonly untilNanos: bigint;
  readonly hasArrivals: boolean;
}

interface Waiter extends Wait {
  readNanos: bigint;
  readonly resolve: (result: WaitResult) => void;
}

export type ArrivalWatch = ReturnType<typeof createArrivalWatch>;

/** Polls only while there are waiters. */
export function createArrivalWatch(source: ArrivalSource, everyMs: number) {
  const waiters = new Set<Waiter>();
  let timer: NodeJS.Timeout | undefined;

  function poll(): void {
    // In this order: logs up to the watermark have been counted as received.
    const watermark = source.watermarkNanos();
    const newest = source.newestReceiptNanos(undefined);
    for (const waiter of waiters) {
      const result = check(waiter, watermark, newest);
      if (result === undefined) continue;
      waiters.delete(waiter);
      waiter.resolve(result);
    }
    if (waiters.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  }

  return {
    wait(wait: Wait): Promise<WaitResult> {
      const { promise, resolve } = Promise.withResolvers<WaitResult>();
      waiters.add({ ...wait, readNanos: wait.afterNanos, resolve });
      timer ??= setInterval(poll, everyMs);
      return promise;
    },
  };
}

/** @returns undefined to keep waiting. */
function check(waiter: Waiter, watermark: bigint, newest: bigint): WaitResult | undefined {
  const { notBeforeMs, deadlineMs, signal } = waiter;
  const nowMs = performance.now();
  if (watermark > waiter.readNanos) {
    if (newest <= waiter.readNanos) waiter.readNanos = watermark;
    else if (nowMs >= notBeforeMs) return { untilNanos: watermark, hasArrivals: true };
  }
  if (nowMs < deadlineMs && !signal.aborted) return undefined;
  return { untilNanos: waiter.readNanos, hasArrivals: false };
}
