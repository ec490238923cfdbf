/**
 * The pull consumer of one shard. Each holder creates its own, named after its epoch, and removes
 * the consumer of the holder before, whose acknowledgements the server then ignores. A consumer is
 * used over one connection and delivers in stream order; any loss ends it.
 */
import { AckPolicy, DeliverPolicy, ReplayPolicy, type StreamInfo } from '@nats-io/jetstream';
import { createInbox, type Msg } from '@nats-io/transport-node';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FencingToken } from '../../model/fencing-token.ts';
import type { ShardEvents } from '../../telemetry/queue-events.ts';
import type { NatsLink } from './connection.ts';
import { errorCodes, hasCode } from './faults.ts';
import { type Delivery, maxMessageBytes, readDelivery } from './messages.ts';
import { whileConnected } from './publish.ts';

export interface ConsumerParts {
  readonly link: NatsLink;
  readonly shard: number;
  readonly fencingToken: FencingToken;
  /** Of the previous holder; 0 = there was none. */
  readonly earlierEpoch: bigint;
  readonly telemetry: Pick<ShardEvents, 'consumerFailed'>;
  readonly closing: AbortSignal;
  readonly deliver: (delivery: Delivery) => void;
  /** How many bytes may be requested; 0 = none at the moment. */
  readonly room: () => number;
}

export type ConsumerEnd =
  | 'closed'
  /** A holder with a higher epoch has a consumer. */
  | 'superseded'
  /** The stream was deleted and created again: another shard for the store. */
  | 'stream replaced'
  /** A delivery was lost. */
  | 'gap'
  /** The server no longer responds for this consumer. */
  | 'silence'
  | 'removed'
  | 'disconnected';

export type ShardConsumer = ReturnType<typeof openShardConsumer>;

/** Redelivery is not used: after any loss the next consumer delivers everything again. */
const ackWaitMs = 24 * 60 * 60 * 1000;
const maxAckPending = 20_000;
const pauseMs = 200;
const attempts = 5;
const { workIsConsumed, workIsConsumedFiltered } = errorCodes;
const maxMessages = 1000;
/**
 * For all shards of a connection together: a server closes a connection that it cannot write to
 * once 64 MB (`max_pending`) wait for it.
 */
const maxInFlightBytes = 16 * 1024 * 1024;
/**
 * A request smaller than the next message, with subject, reply and headers, is never served. Stored
 * messages may be larger than what the server accepts now.
 */
const minBytes = maxMessageBytes + 8192;
const nanosPerMs = 1_000_000;
const expiresMs = 30_000;
const heartbeatMs = 1000;
/** Without a heartbeat for this long, the server has lost the request. */
const silenceMs = 3500;
/** Longer than it takes to elect a leader. */
export const unresponsiveMs = 20_000;
const checkEveryMs = 250;

export function openShardConsumer(parts: ConsumerParts) {
  const { link, shard, fencingToken, telemetry, closing } = parts;
  let pull: ReturnType<typeof pullMessages> | undefined;

  async function run(): Promise<ConsumerEnd> {
    while (!closing.aborted) {
      await link.whenConnected(1000);
      const lost = link.lost();
      if (lost.aborted) continue;
      try {
        const stream = await claim(parts, lost);
        if (stream === undefined) return 'superseded';
        const isSame = link.names.shardName(shard, stream.created) === fencingToken.shard;
        if (!isSame) return 'stream replaced';
        pull = pullMessages(parts, lost);
        return await pull.ended;
      } catch (error) {
        telemetry.consumerFailed({ shard, error });
      }
      await sleep(pauseMs, undefined, { signal: closing }).catch(() => undefined);
    }
    return 'closed';
  }
  return {
    /** Requests more messages if there is room and no request is open. */
    requestMore: () => pull?.requestMore(),
    end: (reason: ConsumerEnd) => pull?.end(reason),
    ended: run(),
  };
}

/**
 * Replaces every consumer of the stream by that of this epoch. A work queue stream has one consumer
 * at most, so no other holder gets a message once all servers know.
 * @returns undefined if a later holder has a consumer
 */
async function claim(
  { link, shard, fencingToken: { epoch }, earlierEpoch }: ConsumerParts,
  lost: AbortSignal,
): Promise<StreamInfo | undefined> {
  const { consumers, streams } = link.manager;
  const stream = link.names.stream(shard);
  const send = <T>(request: () => Promise<T>) => whileConnected(lost, request);
  const add = (name: bigint) => send(() => consumers.add(stream, toConfig(name)));
  for (let attempt = 1; ; attempt++) {
    const found = await send(() => listConsumers(link, stream));
    if (found.some((name) => epochOf(name) > epoch)) return undefined;
    for (const name of found) {
      await send(() => consumers.delete(stream, name)).catch(ignoreMissing);
    }
    try {
      await add(epoch);
      return await send(() => streams.info(stream));
    } catch (error) {
      // Another consumer was created in between, or a removal has not reached every server.
      const isConsumed = hasCode(error, workIsConsumed, workIsConsumedFiltered);
      if (!isConsumed || attempt === attempts) throw error;
      // A consumer that its cluster has forgotten must be created again before it can be deleted.
      if (found.length === 0) await add(earlierEpoch).catch(() => undefined);
      await sleep(pauseMs);
    }
  }
}

/** @param present the connection that the consumer is used over */
function pullMessages(parts: ConsumerParts, lost: AbortSignal) {
  const { link, shard, fencingToken, closing } = parts;
  const { connection, names } = link;
  const consumer = toConsumerName(fencingToken.epoch);
  const subject = `$JS.API.CONSUMER.MSG.NEXT.${names.stream(shard)}.${consumer}`;
  const inbox = createInbox();
  const ended = Promise.withResolvers<ConsumerEnd>();
  const over = AbortSignal.any([closing, lost]);
  let requests = 0;
  let isOpen = false;
  /** Messages still to come for the open request. */
  let awaited = 0;
  let expected = 1;
  /** When anything was last received or requested. */
  let receivedMs = 0;
  /** When the server last served this consumer, or nothing was requested. */
  let servedMs = performance.now();

  const subscription = connection.subscribe(`${inbox}.*`, {
    callback(error, message) {
      receivedMs = performance.now();
      if (error !== null) return end('removed');
      const delivery = readDelivery(message);
      if (delivery === undefined) return onStatus(message);
      if (delivery.consumerSequence !== expected++) return end('gap');
      servedMs = receivedMs;
      if (--awaited === 0) isOpen = false;
      parts.deliver(delivery);
      requestMore();
    },
  });
  const checking = setInterval(() => {
    const nowMs = performance.now();
    if (!isOpen && parts.room() <= 0) servedMs = nowMs;
    else if (nowMs - servedMs > unresponsiveMs) return end('silence');
    // A new leader does not know the request.
    if (nowMs - receivedMs > silenceMs) isOpen = false;
    requestMore();
  }, checkEveryMs);
  const stop = () => end(closing.aborted ? 'closed' : 'disconnected');
  over.addEventListener('abort', stop, { once: true });
  if (over.aborted) stop();
  else requestMore();

  function requestMore(): void {
    const room = parts.room();
    if (isOpen || room <= 0 || subscription.isClosed()) return;
    isOpen = true;
    awaited = maxMessages;
    receivedMs = performance.now();
    const share = Math.min(room, Math.floor(maxInFlightBytes / link.settings.shards));
    const request = {
      batch: maxMessages,
      max_bytes: Math.max(share, minBytes),
      expires: expiresMs * nanosPerMs,
      idle_heartbeat: heartbeatMs * nanosPerMs,
    };
    connection.publish(subject, JSON.stringify(request), { reply: `${inbox}.${++requests}` });
  }

  function onStatus({ subject: replyTo, headers }: Msg): void {
    const code = headers?.code ?? 0;
    const description = headers?.description ?? '';
    if (/deleted/i.test(description)) return end('removed');
    const isServed = code === 408 || /exceeds maxbytes|batch completed/i.test(description);
    if (isServed || code === 100) servedMs = receivedMs;
    if (code === 100 || replyTo !== `${inbox}.${requests}`) return;
    isOpen = false;
    // After any other status, such as no leader, the next check requests again.
    if (isServed) requestMore();
  }

  function end(reason: ConsumerEnd): void {
    clearInterval(checking);
    subscription.unsubscribe();
    over.removeEventListener('abort', stop);
    ended.resolve(reason);
  }

  return { requestMore, end, ended: ended.promise };
}

function toConfig(epoch: bigint) {
  return {
    durable_name: toConsumerName(epoch),
    ack_policy: AckPolicy.Explicit,
    ack_wait: ackWaitMs * nanosPerMs,
    deliver_policy: DeliverPolicy.All,
    replay_policy: ReplayPolicy.Instant,
    max_deliver: -1,
    max_ack_pending: maxAckPending,
  };
}

/** The epoch in the name keeps a late holder from removing the consumer of a later one. */
function toConsumerName(epoch: bigint): string {
  return `e${epoch}`;
}

/** @returns 0 for consumers that Weir did not create */
function epochOf(consumerName: string): bigint {
  return BigInt(/^e(\d+)$/.exec(consumerName)?.[1] ?? 0);
}

/**
 * Names of all consumers. The client's list omits those without a leader.
 * @throws Error if there is no response
 */
async function listConsumers(link: NatsLink, stream: string): Promise<readonly string[]> {
  const subject = `$JS.API.CONSUMER.NAMES.${stream}`;
  const timeout = { timeout: link.settings.timeoutMs };
  const response = await link.connection.request(subject, JSON.stringify({ offset: 0 }), timeout);
  const { consumers, error } = response.json<ConsumerNames>();
  if (error !== undefined) {
    throw new Error(`cannot list the consumers of ${stream}: ${error.description ?? ''}`);
  }
  return consumers ?? [];
}

/** `io.nats.jetstream.api.v1.consumer_names_response` */
interface ConsumerNames {
  readonly consumers?: readonly string[] | null;
  readonly error?: { readonly description?: string };
}

function ignoreMissing(error: unknown): void {
  if (!hasCode(error, errorCodes.consumerNotFound)) throw error;
}
