/**
 * Hands out members one holder at a time. Accounts take turns, each with its share of the members
 * and of the queue. It does not know what its members are.
 */
import { createTurns } from '../std/turns.ts';
import { EngineException } from './exceptions.ts';

export interface Pool<Member> {
  /**
   * Resolves with a member that is the caller's until it calls `release`.
   * @param account empty = a query of no account
   * @throws EngineException 202 when too many wait, 394 when the signal fires while waiting, 236
   * once closed
   */
  acquire(account: string, signal: AbortSignal): Promise<Member>;
  release(member: Member): void;
  /** Throws what `acquire` would throw now, without waiting. */
  assertRoom(account: string): void;
  /** Refuses newcomers and those who wait; resolves when every member is back. */
  close(): Promise<void>;
}

/** @param maxWaiting how many may wait beyond those who hold a member */
export function createPool<Member>(
  name: string,
  members: readonly Member[],
  maxWaiting: number,
): Pool<Member> {
  const what = `queries on the ${name} pool`;
  const turns = createTurns({ what, places: members.length, maxWaiting });
  const idle = [...members];
  const leaves = new Map<Member, () => void>();
  const closing = new AbortController();
  const { promise: emptied, resolve: resolveEmptied } = Promise.withResolvers<void>();

  function refusal(error: unknown): EngineException {
    if (closing.signal.aborted) {
      const message = `cannot run a query on the ${name} pool: the engine is stopping`;
      return new EngineException(236, message);
    }
    if (error instanceof DOMException) {
      return new EngineException(
        394,
        `the query was cancelled while it waited on the ${name} pool`,
      );
    }
    return new EngineException(202, (error as Error).message, { cause: error });
  }

  return {
    async acquire(account, signal) {
      try {
        const leave = await turns.take(account, AbortSignal.any([signal, closing.signal]));
        const member = idle.pop()!;
        leaves.set(member, leave);
        return member;
      } catch (error) {
        throw refusal(error);
      }
    },
    release(member) {
      idle.push(member);
      leaves.get(member)!();
      if (closing.signal.aborted && idle.length === members.length) resolveEmptied();
    },
    assertRoom(account) {
      try {
        closing.signal.throwIfAborted();
        turns.check(account);
      } catch (error) {
        throw refusal(error);
      }
    },
    close() {
      closing.abort();
      if (idle.length === members.length) resolveEmptied();
      return emptied;
    },
  };
}
