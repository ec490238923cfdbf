/**
 * The one consumer of a shard's stream: created again for each epoch, which fences the earlier
 * holder's acknowledgements, and again whenever a delivery may have been lost, so that messages
 * always come in the order of the stream.
 */
import {
  AckPolicy,
  DeliverPolicy,
  JetStreamApiError,
  ReplayPolicy,
  type StreamInfo,
} from '@nats-io/jetstream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ShardEvents } from '../../telemetry/queue-events.ts';
import type { NatsLink } from './connection.ts';
import { epochOf, listConsumers, toConsumerName } from './consumer-names.ts';
import type { Delivery } from './delivery.ts';
import { errorCodes } from './error-codes.ts';
import { type Pull, type PullEnd, pullMessages } from './pull.ts';

/** Far longer than it takes until `MessageBook.keep` is called again. */
export const ackWaitMs = 60_000;
const maxAckPending = 20_000;
const pauseMs = 200;
const attempts = 5;

/** The last holder of the shard that is known of. */
export interface EarlierHolder {
  /** 0 = there was none. */
  readonly epoch: bigint;
  /** False where it may still believe that the shard is its own. */
  readonly hasLetGo: boolean;
}

export interface Claimed {
  /** Up to its last message another holder may have got what lay there. */
  readonly stream: StreamInfo;
  /**
   * True where a holder that did not let go had a consumer: a server that hears late of its removal
   * may deliver later messages to it.
   */
  readonly isContested: boolean;
}

export interface ConsumerParts {
  readonly link: NatsLink;
  readonly shard: number;
  readonly epoch: bigint;
  readonly earlier: EarlierHolder;
  readonly telemetry: ShardEvents;
  /** Ends it. */
  readonly closing: AbortSignal;
  /** Told before the first delivery of each consumer. */
  readonly opened: (claimed: Claimed) => void;
  readonly deliver: (delivery: Delivery) => void;
  /** How many bytes there is room for; 0 = none at the moment. */
  readonly room: () => number;
}

export interface ShardConsumer {
  /** To be called when there may be room again. */
  readonly roomMade: () => void;
  /** Has the consumer made anew, as one that will not deliver all that is in the stream. */
  readonly makeAnew: (reason: PullEnd) => void;
  /** Resolves when it was closed, or the shard is another's. */
  readonly ended: Promise<'closed' | 'superseded'>;
}

export function openShardConsumer(parts: ConsumerParts): ShardConsumer {
  let pull: Pull | undefined;
  /** Also by what an attempt that failed has found and removed: the next one finds it no more. */
  let isContested = false;
  async function run(): Promise<'closed' | 'superseded'> {
    const { link, shard, epoch, telemetry, closing } = parts;
    while (!closing.aborted) {
      await link.whenConnected(1000);
      if (!link.isConnected()) continue;
      try {
        const stream = await claim(parts, () => (isContested = true));
        if (stream === undefined) return 'superseded';
        if (closing.aborted) break;
        parts.opened({ stream, isContested });
        isContested = false;
        const pulling = pullMessages(parts, toConsumerName(epoch));
        pull = pulling;
        const reason = await pulling.ended;
        if (!closing.aborted) telemetry.consumerLost({ shard, reason });
      } catch (error) {
        telemetry.consumerFailed({ shard, error });
      }
      pull = undefined;
      await sleep(pauseMs, undefined, { signal: closing }).catch(() => undefined);
    }
    return 'closed';
  }
  return {
    roomMade: () => pull?.ask(),
    makeAnew: (reason) => pull?.end(reason),
    ended: run(),
  };
}

/**
 * Removes whatever consumer there is and makes this one. A stream of work has no two consumers, so
 * nobody else gets a message once all servers know.
 * @param contested called before the consumer of a holder that did not let go is removed
 * @returns undefined where a later holder was here.
 */
async function claim(parts: ConsumerParts, contested: () => void): Promise<StreamInfo | undefined> {
  const { link, shard, epoch, earlier } = parts;
  const { consumers, streams } = link.manager;
  const stream = link.names.stream(shard);
  const peaceful = [epoch, ...(earlier.hasLetGo ? [earlier.epoch] : [])].map(toConsumerName);
  for (let attempt = 1; ; attempt++) {
    const found = await listConsumers(link, stream);
    if (found.some((name) => epochOf(name) > epoch)) return undefined;
    if (found.some((name) => !peaceful.includes(name))) contested();
    for (const name of found) await consumers.delete(stream, name).catch(ignoreMissing);
    try {
      await consumers.add(stream, toConfig(epoch));
      break;
    } catch (error) {
      // Another one was made in between, or one that was deleted is not gone everywhere yet.
      if (!isConsumed(error) || attempt === attempts) throw error;
      // Where a leader keeps what its cluster has forgotten, it must be known again to be deleted.
      if (found.length === 0) await consumers.add(stream, toConfig(earlier.epoch)).catch(() => {});
      await sleep(pauseMs);
    }
  }
  // Only now: before, somebody else may have made a consumer and removed it.
  return streams.info(stream);
}

function toConfig(epoch: bigint) {
  return {
    durable_name: toConsumerName(epoch),
    ack_policy: AckPolicy.Explicit,
    ack_wait: ackWaitMs * 1_000_000,
    deliver_policy: DeliverPolicy.All,
    replay_policy: ReplayPolicy.Instant,
    max_deliver: -1,
    max_ack_pending: maxAckPending,
  };
}

function ignoreMissing(error: unknown): void {
  if (!hasCode(error, errorCodes.consumerNotFound)) throw error;
}

function isConsumed(error: unknown): boolean {
  const { workIsConsumed, workIsConsumedFiltered } = errorCodes;
  return hasCode(error, workIsConsumed) || hasCode(error, workIsConsumedFiltered);
}

function hasCode(error: unknown, code: number): boolean {
  return error instanceof JetStreamApiError && error.code === code;
}
