/**
 * Publishes one message until JetStream acknowledges it: again after an attempt that got no answer,
 * under the same id, so that it is stored once. It knows nothing of what a message holds.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { JetStreamPublishOptions, PubAck } from '@nats-io/jetstream';
import { headers as createHeaders } from '@nats-io/transport-node';
import type { NatsEvents } from '../../telemetry/queue-events.ts';
import type { NatsLink } from './connection.ts';
import { headers } from './names.ts';
import { PublishFault, toPublishFault } from './publish-fault.ts';

export interface Message {
  readonly subject: string;
  /** The stream that must have it. */
  readonly stream: string;
  readonly body: Uint8Array;
  /** Of everything published within the duplicate window under one id, one is stored. */
  readonly id?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Unix ms, taken before it was known whether its batches are new. */
  readonly sentMs?: number;
  /** Unix ms since when its batches may be stored already; undefined = they are new. */
  readonly copiesSinceMs?: number | undefined;
  /**
   * Set where what was published before must still be there: the connection (`NatsLink.present`) by
   * which alone it may go, and the stream must not have been gone.
   */
  readonly over?: AbortSignal;
  /** Refused unless the newest message of the subject has this number. */
  readonly afterSequence?: number;
}

const pauseMs = 50;
const longestPauseMs = 500;
const shortestAttemptMs = 50;
const attemptsInTime = 3;

/**
 * @param withinMs for all attempts together
 * @throws PublishFault the last one
 */
export async function publish(
  link: NatsLink,
  telemetry: NatsEvents,
  message: Message,
  withinMs: number,
): Promise<PubAck> {
  const startedAt = performance.now();
  const firstAtMs = Date.now();
  const leftMs = () => startedAt + withinMs - performance.now();
  let copiesSinceMs = message.copiesSinceMs;
  for (let pause = pauseMs; ; pause = Math.min(2 * pause, longestPauseMs)) {
    try {
      const timeoutMs = Math.max(shortestAttemptMs, Math.min(leftMs(), withinMs / attemptsInTime));
      const ack = await attempt(link, message, { timeoutMs, copiesSinceMs });
      telemetry.published((performance.now() - startedAt) / 1000);
      return ack;
    } catch (error) {
      const fault = toPublishFault(error);
      telemetry.publishFailed(fault.kind);
      if (!isPassing(fault, message) || leftMs() < pause + shortestAttemptMs) throw fault;
    }
    // From now on the one before may have been stored, and drained, without being acknowledged:
    // a server that was restarted since no longer knows its id.
    copiesSinceMs ??= firstAtMs;
    await sleep(pause);
    await link.whenConnected(leftMs());
  }
}

function isPassing(fault: PublishFault, { over }: Message): boolean {
  const isTorn = over !== undefined && (over.aborted || fault.kind === 'no_stream');
  return fault.isPassing && !isTorn;
}

async function attempt(
  link: NatsLink,
  message: Message,
  { timeoutMs, copiesSinceMs }: { timeoutMs: number; copiesSinceMs: number | undefined },
): Promise<PubAck> {
  const present = message.over ?? link.present();
  if (present.aborted) throw new PublishFault('disconnected', 'not connected to NATS');
  const header = createHeaders();
  for (const [name, value] of Object.entries(message.headers ?? {})) header.set(name, value);
  if (copiesSinceMs !== undefined) header.set(headers.copies, `${copiesSinceMs}000000`);
  if (message.sentMs !== undefined) header.set(headers.sent, `${message.sentMs}`);
  const options: Partial<JetStreamPublishOptions> = { timeout: timeoutMs, headers: header };
  if (message.id !== undefined) options.msgID = message.id;
  if (message.afterSequence !== undefined) {
    options.expect = { lastSubjectSequence: message.afterSequence };
  }
  const ack = await orLost(link.js.publish(message.subject, message.body, options), present);
  if (ack.stream === message.stream) return ack;
  throw new PublishFault('refused', `the stream ${ack.stream} takes ${message.subject}`);
}

/** An answer cannot come any more once its connection is lost. */
export function orLost<T>(answer: Promise<T>, present: AbortSignal): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const onLost = () => reject(new PublishFault('disconnected', 'the connection to NATS was lost'));
  present.addEventListener('abort', onLost, { once: true });
  answer.then(resolve, reject).finally(() => present.removeEventListener('abort', onLost));
  return promise;
}
