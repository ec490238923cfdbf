/**
 * Hands out members one holder at a time, in order of arrival, with a bound on how many may wait.
 * It does not know what its members are.
 */
import { EngineException } from './exceptions.ts';

export interface Pool<Member> {
  /**
   * Resolves with a member that is the caller's until it calls `release`.
   * @throws EngineException 202 when too many wait, 394 when the signal fires while waiting, 236
   * once closed
   */
  acquire(signal: AbortSignal): Promise<Member>;
  release(member: Member): void;
  /** Throws what `acquire` would throw now, without waiting. */
  assertRoom(): void;
  /** Refuses newcomers and those who wait; resolves when every member is back. */
  close(): Promise<void>;
}

interface Waiter<Member> {
  readonly signal: AbortSignal;
  readonly onAbort: () => void;
  resolve(member: Member): void;
  reject(error: EngineException): void;
}

/** @param maxWaiting how many may wait beyond those who hold a member */
export function createPool<Member>(
  name: string,
  members: readonly Member[],
  maxWaiting: number,
): Pool<Member> {
  const idle = [...members];
  const waiters: Waiter<Member>[] = [];
  const { promise: emptied, resolve: resolveEmptied } = Promise.withResolvers<void>();
  let isClosed = false;

  function assertRoom(): void {
    if (isClosed) throw closed(name);
    if (idle.length === 0 && waiters.length >= maxWaiting) {
      const advice = `${maxWaiting} queries wait already; try again later`;
      throw new EngineException(202, `cannot queue a query on the ${name} pool: ${advice}`);
    }
  }

  function leave(waiter: Waiter<Member>): void {
    waiter.signal.removeEventListener('abort', waiter.onAbort);
    const at = waiters.indexOf(waiter);
    if (at >= 0) waiters.splice(at, 1);
  }

  return {
    assertRoom,
    async acquire(signal) {
      assertRoom();
      if (signal.aborted) throw cancelled(name);
      const free = idle.pop();
      if (free !== undefined) return free;
      const { promise, resolve, reject } = Promise.withResolvers<Member>();
      const waiter: Waiter<Member> = {
        signal,
        resolve,
        reject,
        onAbort() {
          leave(waiter);
          reject(cancelled(name));
        },
      };
      signal.addEventListener('abort', waiter.onAbort);
      waiters.push(waiter);
      return promise;
    },
    release(member) {
      const next = waiters[0];
      if (next === undefined) {
        idle.push(member);
        if (isClosed && idle.length === members.length) resolveEmptied();
        return;
      }
      leave(next);
      next.resolve(member);
    },
    close() {
      isClosed = true;
      for (const waiter of waiters.splice(0)) {
        leave(waiter);
        waiter.reject(closed(name));
      }
      if (idle.length === members.length) resolveEmptied();
      return emptied;
    },
  };
}

function cancelled(name: string): EngineException {
  return new EngineException(394, `the query was cancelled while it waited on the ${name} pool`);
}

function closed(name: string): EngineException {
  return new EngineException(236, `cannot run a query on the ${name} pool: the engine is stopping`);
}
