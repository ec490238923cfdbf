/** Acknowledges messages and waits until the server has confirmed each. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { NatsConnection } from '@nats-io/transport-node';
import { patienceMs } from './shard-consumer.ts';

interface AckParts {
  readonly connection: Pick<NatsConnection, 'request'>;
  readonly closing: AbortSignal;
}

interface AckTiming {
  /** Of one request, which is then repeated. */
  readonly timeoutMs: number;
  readonly pauseMs: number;
  /** How long no message at all may be confirmed. */
  readonly patienceMs: number;
}

const acknowledged = Buffer.from('+ACK');
/**
 * With `sync_interval: always` a server syncs its disk for every acknowledgement: what it takes
 * longer than the timeout for would be sent again and again.
 */
const maxInFlight = 100;
const defaultTiming: AckTiming = { timeoutMs: 2000, pauseMs: 250, patienceMs };

/** @throws Error if the server stopped confirming, or once `closing` is aborted */
export async function acknowledge(
  { connection, closing }: AckParts,
  messages: readonly { readonly reply: string }[],
  { timeoutMs, pauseMs, patienceMs: patience }: AckTiming = defaultTiming,
): Promise<void> {
  const left = messages.values();
  let confirmedMs = performance.now();

  async function confirm(message: { readonly reply: string }): Promise<void> {
    for (;;) {
      // Over another connection, its sequence may be that of another message.
      closing.throwIfAborted();
      try {
        await connection.request(message.reply, acknowledged, { timeout: timeoutMs });
        confirmedMs = performance.now();
        return;
      } catch (error) {
        if (performance.now() - confirmedMs > patience) throw error;
      }
      await sleep(pauseMs);
    }
  }

  async function confirmNext(): Promise<void> {
    for (const message of left) await confirm(message);
  }

  const lanes = Math.min(maxInFlight, messages.length);
  await Promise.all(Array.from({ length: lanes }, confirmNext));
}
