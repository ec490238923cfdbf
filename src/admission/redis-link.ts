/**
 * Keeps one connection to Redis at a time and breaks the circuit while there is none: whoever asks
 * then is refused at once, nothing waits for a server to come back, and a new connection is tried
 * in growing intervals until one holds.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { QuotaEvents } from '../telemetry/request-events.ts';
import {
  isDenied,
  openRedisConnection,
  RedisFailure,
  within,
  type RedisConnection,
  type RedisConnectionOptions,
} from './redis-connection.ts';

export interface RedisLinkOptions extends RedisConnectionOptions {
  /** Longest an answer may take. After it the connection is given up. */
  readonly timeoutMs: number;
  /** Most commands under way. */
  readonly maxPending: number;
}

export interface RedisLink {
  /** @throws RedisFailure */
  run(keys: readonly string[], args: readonly string[]): Promise<readonly unknown[]>;
  /** Waits for what is under way, no longer than an answer may take. */
  close(): Promise<void>;
}

const firstRetryMs = 50;
const lastRetryMs = 2_000;

/**
 * Resolves after the first attempt to connect, also where no server answered.
 * @throws RedisFailure where one answered that does not let us in
 */
export async function openRedisLink(
  options: RedisLinkOptions,
  { script, events }: { readonly script: string; readonly events: QuotaEvents },
): Promise<RedisLink> {
  const { timeoutMs, maxPending } = options;
  const closing = new AbortController();
  const pending = new Set<Promise<unknown>>();
  let current: RedisConnection | undefined;
  let retryMs = firstRetryMs;

  async function connect(): Promise<void> {
    current = await openRedisConnection(options, script);
    events.storeFound();
  }

  function tellWhyNot(error: unknown): void {
    if (isDenied(error)) events.storeDenied(error);
    else events.storeLost(error);
  }

  /** One connection after the other, until closed. */
  async function stayConnected(): Promise<void> {
    while (!closing.signal.aborted) {
      if (current !== undefined) await useUp(current);
      // Gateways that lost the same server do not come back to it all at once.
      const waitMs = retryMs * (0.5 + Math.random() / 2);
      retryMs = Math.min(lastRetryMs, 2 * retryMs);
      await sleep(waitMs, undefined, { signal: closing.signal }).catch(() => undefined);
      if (!closing.signal.aborted) await connect().catch(tellWhyNot);
    }
    if (current !== undefined) drop(current, new Error('closed'));
  }

  async function useUp(connection: RedisConnection): Promise<void> {
    const reason = await connection.broken;
    drop(connection, reason);
    if (!closing.signal.aborted) events.storeLost(reason);
  }

  function drop(connection: RedisConnection, reason: Error): void {
    if (current === connection) current = undefined;
    connection.destroy(reason);
  }

  async function run(keys: readonly string[], args: readonly string[]) {
    const connection = current;
    if (connection === undefined) throw new RedisFailure('away', 'not connected');
    if (pending.size >= maxPending) {
      throw new RedisFailure('busy', `${maxPending} commands are under way`);
    }
    const answer = within(connection.run(keys, args), timeoutMs);
    pending.add(answer);
    try {
      const reply = await answer;
      // Only now it is known to hold: one that connects and then fails is tried ever more seldom.
      retryMs = firstRetryMs;
      return reply;
    } catch (error) {
      const failure = error as RedisFailure;
      // After a missing answer, all that follow on the same connection would be late too.
      if (failure.kind !== 'refused') drop(connection, failure);
      throw failure;
    } finally {
      pending.delete(answer);
    }
  }

  await connect().catch((error: unknown) => {
    if (isDenied(error)) throw error;
    tellWhyNot(error);
  });
  const staying = stayConnected();
  return {
    run,
    async close() {
      await Promise.allSettled(pending);
      closing.abort();
      if (current !== undefined) drop(current, new Error('closed'));
      await staying;
    },
  };
}
