/** Acknowledges messages and waits until the server has confirmed each. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { NatsConnection } from '@nats-io/transport-node';
import { unresponsiveMs as consumerTimeoutMs } from './shard-consumer.ts';

interface AckParts {
  readonly connection: Pick<NatsConnection, 'request'>;
  readonly closing: AbortSignal;
}

interface AckTiming {
  /** Timeout of one request, which is then repeated. */
  readonly timeoutMs: number;
  readonly pauseMs: number;
  /** Fails after this long without any confirmation. */
  readonly unresponsiveMs: number;
}

const acknowledged = Buffer.from('+ACK');
/**
 * With `sync_interval: always` a server syncs its disk for every acknowledgement. With more in
 * flight, requests would time out and be repeated.
 */
const maxInFlight = 100;
const defaultTiming: AckTiming = {
  timeoutMs: 2000,
  pauseMs: 250,
  unresponsiveMs: consumerTimeoutMs,
};

/** @throws Error if the server stopped confirming, or once `closing` is aborted */
export async function acknowledge(
  { connection, closing }: AckParts,
  messages: readonly { readonly reply: string }[],
  { timeoutMs, pauseMs, unresponsiveMs }: AckTiming = defaultTiming,
): Promise<void> {
  const remaining = messages.values();
  let confirmedMs = performance.now();

  async function confirm(message: { readonly reply: string }): Promise<void> {
    for (;;) {
      // After a reconnect, the sequence may be that of another message.
      closing.throwIfAborted();
      try {
        await connection.request(message.reply, acknowledged, { timeout: timeoutMs });
        confirmedMs = performance.now();
        return;
      } catch (error) {
        if (performance.now() - confirmedMs > unresponsiveMs) throw error;
      }
      await sleep(pauseMs);
    }
  }

  async function confirmNext(): Promise<void> {
    for (const message of remaining) await confirm(message);
  }

  const lanes = Math.min(maxInFlight, messages.length);
  await Promise.all(Array.from({ length: lanes }, confirmNext));
}
