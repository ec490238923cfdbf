/**
 * The queue that several nodes share at NATS JetStream, put together: what gateways append goes
 * into shards, which writers hold one at a time each, and all hear how far they have come.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { AppError } from '../../model/errors.ts';
import type { Instruments } from '../../telemetry/instruments.ts';
import {
  createNatsEvents,
  createShardEvents,
  type QueueEvents,
} from '../../telemetry/queue-events.ts';
import type { Queue, Shard } from '../port.ts';
import { createAppender } from './append.ts';
import { openBucket } from './bucket.ts';
import { createIdempotencyKeys } from './idempotency-keys.ts';
import { type NatsLink, openNatsLink } from './connection.ts';
import type { NatsQueueOptions } from './nats-options.ts';
import { openProgress } from './progress.ts';
import { provision } from './provision.ts';
import { queueUnavailable } from './publish-fault.ts';
import { createSeriesSignal } from './series-signal.ts';
import { createStoreClaim } from './store-claim.ts';
import { openShardWork } from './shard-work.ts';
import { ShardWriter } from './shard-writer.ts';
import { drawLineThrough, readShardTime } from './stream-clock.ts';
import { watchStreams } from './stream-watch.ts';

/** Less could not hold the headers and a useful piece of a batch. */
const leastPayloadBytes = 64 * 1024;

/** @throws Error in words for the operator where NATS cannot be reached or does not suit. */
export async function openNatsQueue(
  options: NatsQueueOptions,
  instruments: Instruments,
  telemetry: QueueEvents,
): Promise<Queue> {
  refuseUnusablePrefix(options.prefix);
  const events = createNatsEvents(instruments);
  await using parts = new AsyncDisposableStack();
  const link = parts.adopt(await openNatsLink(options, events), (it) => it.close());
  refuseSmallPayload(link);
  await provision(link, events);
  const shards = Array.from({ length: options.shards }, (_, shard) => shard);
  const writers = shards.map((shard) =>
    parts.adopt(new ShardWriter(link, shard, events), (it) => it.close()),
  );
  const bucket = (name: string) => parts.adopt(openBucket(link, name, events), (it) => it.close());
  const leases = bucket(link.names.leases);
  const keys = createIdempotencyKeys(bucket(link.names.keys));
  const signals = bucket(link.names.signals);
  const signal = createSeriesSignal(link, signals);
  const progress = parts.adopt(openProgress(link), (it) => it.close());
  const storeClaim = createStoreClaim(link, signals);
  const restore = () => provision(link, events).then(storeClaim.renew);
  const watch = parts.adopt(
    watchStreams({ link, telemetry: events, alsoLook: signal.look, restore }),
    (it) => it.close(),
  );
  const appender = createAppender({ link, writers, keys, progress, telemetry });
  parts.defer(() => appender.idle());

  /** Shards that are drained here. */
  const held = new Set<Shard>();

  const status = () => {
    const { bytes, batches, oldestMs, quarantinedBatches } = watch.totals();
    const reason = appender.reason();
    const oldestAgeMs = oldestMs === undefined ? 0 : Math.max(0, Date.now() - oldestMs);
    let rows = 0;
    for (const shard of held) rows += shard.backlog().rows;
    return {
      writable: reason === '',
      reason,
      bytes,
      batches,
      rows,
      oldestAgeMs,
      quarantinedBatches,
    };
  };
  telemetry.watch(status);

  async function readTime(shard: number): Promise<bigint> {
    try {
      const time = await readShardTime(link, writers[shard]!, shard);
      const toldNanos = progress.shardNanos(shard);
      return time > toldNanos ? time : toldNanos;
    } catch (cause) {
      throw cause instanceof AppError ? cause : queueUnavailable(cause);
    }
  }

  const opened = parts.move();
  return {
    append: (content, owner, record) => appender.append(content, owner, record),
    recall: (key) => keys.recall(key),
    bindStore: (storeId) => storeClaim.bind(storeId),
    work(begin) {
      const shardEvents = createShardEvents(instruments);
      return openShardWork({ link, leases, progress, telemetry: shardEvents }, (shard) => {
        held.add(shard);
        const work = begin(shard);
        const close = () => work.close().finally(() => held.delete(shard));
        return { ended: work.ended, close };
      });
    },
    watermarkNanos: () => progress.watermarkNanos(),
    newestReceiptNanos: (streamId) => progress.newestReceiptNanos(streamId),
    drawLine: () => drawLineThrough(shards, readTime, sleep),
    forgetSeries: () => signal.raise(),
    whenSeriesForgotten: (listener) => signal.listen(listener),
    status,
    close: () => opened.disposeAsync(),
  };
}

/** Streams and buckets are named after it, and NATS takes few characters there. */
function refuseUnusablePrefix(prefix: string): void {
  if (/^[\w-]{1,64}$/.test(prefix)) return;
  throw new Error(
    `cannot use queue.prefix ${JSON.stringify(prefix)}: take 1 to 64 letters, digits, _ and -`,
  );
}

function refuseSmallPayload({ connection }: NatsLink): void {
  const bytes = connection.info?.max_payload ?? leastPayloadBytes;
  if (bytes >= leastPayloadBytes) return;
  throw new Error(
    `cannot use NATS with a max_payload of ${bytes} bytes: set at least ${leastPayloadBytes}, ` +
      'better the default of 1MB',
  );
}
