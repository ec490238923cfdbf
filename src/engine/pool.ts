/**
 * Lends each member to one query at a time. Accounts take turns, each with its share of the members
 * and of the queue.
 */
import { createSemaphore } from '../std/semaphore.ts';
import { EngineException } from './exceptions.ts';

export type Pool<Member> = ReturnType<typeof createPool<Member>>;

/** @param maxWaiting queries that may wait for a member */
export function createPool<Member>(name: string, members: readonly Member[], maxWaiting: number) {
  const what = `queries on the ${name} pool`;
  const semaphore = createSemaphore({ what, places: members.length, maxWaiting });
  const idle = [...members];
  const releases = new Map<Member, () => void>();
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
    /**
     * Resolves with a member that the caller must `release`.
     * @param account empty = none
     * @throws EngineException 202 when too many wait, 394 when the signal fires while waiting, 236
     * once closed
     */
    async acquire(account: string, signal: AbortSignal): Promise<Member> {
      try {
        const release = await semaphore.acquire(account, AbortSignal.any([signal, closing.signal]));
        const member = idle.pop()!;
        releases.set(member, release);
        return member;
      } catch (error) {
        throw refusal(error);
      }
    },
    release(member: Member): void {
      idle.push(member);
      releases.get(member)!();
      if (closing.signal.aborted && idle.length === members.length) resolveEmptied();
    },
    /** @throws EngineException where `acquire` would throw it at once */
    assertRoom(account: string): void {
      try {
        closing.signal.throwIfAborted();
        semaphore.check(account);
      } catch (error) {
        throw refusal(error);
      }
    },
    /** Rejects new and waiting queries; resolves when every member is released. */
    close(): Promise<void> {
      closing.abort();
      if (idle.length === members.length) resolveEmptied();
      return emptied;
    },
  };
}
