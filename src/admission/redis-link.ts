/**
 * Keeps one connection to Redis and reconnects with backoff. Without a connection commands fail at
 * once (circuit breaker).
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
  /** Timeout of an answer. After it the connection is dropped. */
  readonly timeoutMs: number;
  /** Limit on commands in flight. */
  readonly maxPending: number;
}

export interface RedisLink {
  /** @throws RedisFailure */
  run(keys: readonly string[], args: readonly string[]): Promise<readonly unknown[]>;
  /** Waits for commands in flight, up to their timeout. */
  close(): Promise<void>;
}

const firstRetryMs = 50;
const lastRetryMs = 2_000;

/**
 * Resolves after the first attempt to connect, even if no server is reachable.
 * @throws RedisFailure if the server denies access
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

  function onConnectFailed(error: unknown): void {
    if (isDenied(error)) events.storeDenied(error);
    else events.storeLost(error);
  }

  /** Reconnects until closed. */
  async function stayConnected(): Promise<void> {
    while (!closing.signal.aborted) {
      if (current !== undefined) await untilBroken(current);
      // Jitter, so that gateways do not reconnect all at once.
      const waitMs = retryMs * (0.5 + Math.random() / 2);
      retryMs = Math.min(lastRetryMs, 2 * retryMs);
      await sleep(waitMs, undefined, { signal: closing.signal }).catch(() => undefined);
      if (!closing.signal.aborted) await connect().catch(onConnectFailed);
    }
    if (current !== undefined) drop(current, new Error('closed'));
  }

  async function untilBroken(connection: RedisConnection): Promise<void> {
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
      throw new RedisFailure('busy', `${maxPending} commands are in flight`);
    }
    const answer = within(connection.run(keys, args), timeoutMs);
    pending.add(answer);
    try {
      const reply = await answer;
      // Resets the backoff after an answer only: a connection may fail right after connecting.
      retryMs = firstRetryMs;
      return reply;
    } catch (error) {
      const failure = error as RedisFailure;
      // After a timeout, later answers on the same connection would be late too.
      if (failure.kind !== 'refused') drop(connection, failure);
      throw failure;
    } finally {
      pending.delete(answer);
    }
  }

  await connect().catch((error: unknown) => {
    if (isDenied(error)) throw error;
    onConnectFailed(error);
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
