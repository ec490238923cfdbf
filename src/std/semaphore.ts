/**
 * A fair semaphore: each account has its share of the places and of the queue, and waiting accounts
 * take turns, in arrival order within one.
 */
import { AppError } from '../model/errors.ts';
import { createShares, type Shares } from './shares.ts';

export interface SemaphoreOptions {
  /** What the places are for, in error messages: `exports`. */
  readonly what: string;
  readonly places: number;
  /** The setting that raises the limit; absent = none. */
  readonly setting?: string;
  /** Maximum of waiting callers; absent = none may wait. */
  readonly maxWaiting?: number;
  /** Absent = unlimited. */
  readonly maxWaitMs?: number;
}

interface Waiter {
  readonly account: string;
  begin(): void;
}

export type Semaphore = ReturnType<typeof createSemaphore>;

export function createSemaphore(options: SemaphoreOptions) {
  const { places, maxWaiting = 0, maxWaitMs } = options;
  const held = createShares(places);
  const waiting = createShares(maxWaiting);
  /** By account, in the order of service. */
  const queues = new Map<string, Waiter[]>();

  function begin(account: string): () => void {
    held.take(account, 1);
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      held.give(account, 1);
      while (beginNext());
    };
  }

  /** Serves the first waiter of the next account and moves that account to the end. */
  function beginNext(): boolean {
    for (const [account, queue] of queues) {
      if (!held.hasRoom(account, 1)) continue;
      const waiter = queue[0]!;
      leave(waiter);
      if (queues.delete(account)) queues.set(account, queue);
      waiter.begin();
      return true;
    }
    return false;
  }

  function leave(waiter: Waiter): void {
    const { account } = waiter;
    const queue = queues.get(account)!;
    queue.splice(queue.indexOf(waiter), 1);
    if (queue.length === 0) queues.delete(account);
    waiting.give(account, 1);
  }

  function enter(waiter: Waiter): void {
    const queue = queues.get(waiter.account);
    if (queue === undefined) queues.set(waiter.account, [waiter]);
    else queue.push(waiter);
    waiting.take(waiter.account, 1);
  }

  function check(account: string): void {
    if (held.hasRoom(account, 1) || waiting.hasRoom(account, 1)) return;
    throw refusal(options, account, { held, waiting });
  }

  function wait(account: string, signal: AbortSignal | undefined): Promise<() => void> {
    const { promise, resolve, reject } = Promise.withResolvers<() => void>();
    const stop = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', giveUp);
    };
    const waiter: Waiter = {
      account,
      begin() {
        stop();
        resolve(begin(account));
      },
    };
    const giveUp = () => {
      stop();
      leave(waiter);
      reject(signal?.aborted ? signal.reason : refusal(options, account, { held, waiting }));
    };
    const timer = maxWaitMs === undefined ? undefined : setTimeout(giveUp, maxWaitMs);
    signal?.addEventListener('abort', giveUp);
    enter(waiter);
    return promise;
  }

  return {
    /**
     * Resolves to a function that releases the place and may be called twice.
     * @throws AppError `unavailable` without room or after `maxWaitMs`; the signal's reason once it
     * aborts, unless the place was acquired before
     */
    async acquire(account: string, signal?: AbortSignal): Promise<() => void> {
      signal?.throwIfAborted();
      check(account);
      return held.hasRoom(account, 1) ? begin(account) : wait(account, signal);
    },
    /** As `acquire`, for a place that is free; undefined if there is none. */
    tryAcquire: (account: string) => (held.hasRoom(account, 1) ? begin(account) : undefined),
    /** @throws AppError `unavailable` if `acquire` would throw it at once */
    check,
    held: () => held.held(),
    waiting: () => waiting.held(),
  };
}

/** Names the limit that was reached: the share of the account, or all places. */
function refusal(
  { what, places, setting, maxWaiting = 0 }: SemaphoreOptions,
  account: string,
  { held, waiting }: { readonly held: Shares; readonly waiting: Shares },
): AppError {
  const own = held.heldBy(account);
  const queued = maxWaiting === 0 ? '' : `, and ${waiting.heldBy(account)} wait`;
  const state =
    own > 0
      ? `the account has ${own} of ${places}${queued}, and the rest is reserved for other accounts`
      : `all ${places} are taken${queued}`;
  const advice = setting === undefined ? 'try again later' : `try again later, or raise ${setting}`;
  return new AppError('unavailable', `cannot begin more ${what}: ${state}; ${advice}`, {
    retryAfterSeconds: 5,
  });
}
