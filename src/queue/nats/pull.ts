/**
 * Pulls messages for a consumer, as many at a time as there is room for, and notices when it may
 * have missed one. It knows nothing of what is in them.
 */
import { createInbox, type Msg } from '@nats-io/transport-node';
import type { NatsLink } from './connection.ts';
import { listConsumers } from './consumer-names.ts';
import { type Delivery, readDelivery } from './delivery.ts';
import { maxMessageBytes } from './names.ts';

export interface PullParts {
  readonly link: NatsLink;
  readonly shard: number;
  readonly closing: AbortSignal;
  readonly deliver: (delivery: Delivery) => void;
  readonly room: () => number;
}

/**
 * Why a consumer has to be made anew. A connection that was lost or a leader that changed is no
 * reason: the same consumer goes on, and where something was lost meanwhile, a gap shows it.
 */
export type PullEnd = 'closed' | 'gap' | 'silence' | 'removed' | 'left behind';

export interface Pull {
  /** Asks for more where there is room and nothing was asked for. */
  ask(): void;
  end(reason: PullEnd): void;
  readonly ended: Promise<PullEnd>;
}

const maxMessages = 1000;
/**
 * Of all shards together at a time: a server drops a connection that it cannot write to when more
 * than 64 MB (its `max_pending`) wait for it.
 */
const maxBytesUnderWay = 16 * 1024 * 1024;
const nanosPerMs = 1_000_000;
const expiresMs = 30_000;
const heartbeatMs = 1000;
/** A server that owes so many heartbeats has forgotten what it was asked for. */
const silenceMs = 3500;
const lookMs = 250;
/** A consumer that says nothing for so long may be gone for good; without a leader none does. */
const patienceMs = 20_000;
/**
 * What cannot hold the next message gets none, for ever: with its envelope of subject, reply and
 * headers. What the server takes now says nothing of what lies there.
 */
const leastBytes = maxMessageBytes + 8192;

export function pullMessages(parts: PullParts, consumer: string): Pull {
  const { link, closing } = parts;
  const { connection } = link;
  const stream = link.names.stream(parts.shard);
  const subject = `$JS.API.CONSUMER.MSG.NEXT.${stream}.${consumer}`;
  const inbox = createInbox();
  const ended = Promise.withResolvers<PullEnd>();
  /** Requests so far, and how many messages are still to come of the last one. */
  let requests = 0;
  let awaited = 0;
  let expected = 1;
  let over = link.present();
  /** When anything came, and when anything came that means well, or nothing was to be heard. */
  let heardMs = performance.now();
  let wellMs = heardMs;

  const lookFor = lookForConsumer(link, { stream, consumer }, () => end('removed'));
  const subscription = connection.subscribe(`${inbox}.*`, {
    callback: (error, message) => {
      heardMs = performance.now();
      if (error !== null) return end('removed');
      const delivery = readDelivery(message);
      if (delivery === undefined) return hearStatus(message);
      if (delivery.consumerSequence !== expected) return end('gap');
      wellMs = heardMs;
      expected++;
      awaited--;
      parts.deliver(delivery);
      ask();
    },
  });
  const looking = setInterval(() => {
    const nowMs = performance.now();
    if (!link.isConnected() || parts.room() <= 0) wellMs = nowMs;
    else if (nowMs - wellMs > patienceMs) return end('silence');
    // What was asked over another connection has no answer any more.
    const isUnanswered = link.present() !== over || nowMs - heardMs > silenceMs;
    if (awaited > 0 && isUnanswered && link.isConnected()) {
      awaited = 0;
      lookFor();
    }
    ask();
  }, lookMs);
  const closed = () => end('closed');
  closing.addEventListener('abort', closed, { once: true });
  if (closing.aborted) closed();
  else ask();

  function ask(): void {
    const room = parts.room();
    if (awaited > 0 || room <= 0 || subscription.isClosed() || !link.isConnected()) return;
    const share = Math.min(room, Math.floor(maxBytesUnderWay / link.options.shards));
    awaited = maxMessages;
    over = link.present();
    requests++;
    heardMs = performance.now();
    const request = {
      batch: maxMessages,
      max_bytes: Math.max(share, leastBytes),
      expires: expiresMs * nanosPerMs,
      idle_heartbeat: heartbeatMs * nanosPerMs,
    };
    connection.publish(subject, JSON.stringify(request), { reply: `${inbox}.${requests}` });
  }

  function hearStatus({ subject: about, headers }: Msg): void {
    const code = headers?.code ?? 0;
    const description = headers?.description ?? '';
    if (/deleted/i.test(description)) return end('removed');
    const isOver = code === 408 || /exceeds maxbytes|batch completed/i.test(description);
    if (isOver || code === 100) wellMs = heardMs;
    if (code === 100 || about !== `${inbox}.${requests}`) return;
    awaited = 0;
    // Anything else, such as that it has no leader, may take a while.
    if (isOver) ask();
  }

  function end(reason: PullEnd): void {
    clearInterval(looking);
    subscription.unsubscribe();
    closing.removeEventListener('abort', closed);
    ended.resolve(reason);
  }

  return { ask, end, ended: ended.promise };
}

/** For when nobody answers what a consumer was asked: it is gone, or has no leader for now. */
function lookForConsumer(
  link: NatsLink,
  { stream, consumer }: { readonly stream: string; readonly consumer: string },
  gone: () => void,
): () => void {
  let isLooking = false;
  async function look(): Promise<void> {
    try {
      const found = await listConsumers(link, stream);
      if (!found.includes(consumer)) gone();
    } catch {
      // The next request shows whether it is still so.
    }
    isLooking = false;
  }
  return () => {
    if (isLooking) return;
    isLooking = true;
    void look();
  };
}
