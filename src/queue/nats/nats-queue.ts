/**
 * The queue that several nodes share at NATS JetStream: gateways append to shards, each shard is
 * drained by one writer at a time, and every node follows their progress.
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
import { larger } from '../../std/big-integers.ts';
import { createAppender } from './append.ts';
import { openBucket } from './bucket.ts';
import { type NatsLink, type NatsSettings, openNatsLink } from './connection.ts';
import { queueUnavailable } from './faults.ts';
import { createIdempotencyKeys } from './idempotency-keys.ts';
import { openProgress } from './progress.ts';
import { provision } from './provision.ts';
import { dropQuarantined } from './quarantine-stream.ts';
import { claimStore, createSeriesSignal } from './signals.ts';
import { ShardWorker } from './shard-worker.ts';
import { ShardWriter } from './shard-writer.ts';
import { watchStreams } from './stream-watch.ts';

/** Room for the headers and a useful piece of a batch. */
const minPayloadBytes = 64 * 1024;
const nanosPerSecond = 1_000_000_000n;
const nanosPerMs = 1_000_000n;

/** How far a shard's clock may go back when the stream leader changes. */
const skewNanos = 1_000_000_000n;
const minPauseMs = 5;

/** @throws Error for the operator if NATS cannot be reached or used */
export async function openNatsQueue(
  settings: NatsSettings,
  instruments: Instruments,
  telemetry: QueueEvents,
): Promise<Queue> {
  refuseUnusablePrefix(settings.prefix);
  const events = createNatsEvents(instruments);
  await using parts = new AsyncDisposableStack();
  const link = parts.adopt(await openNatsLink(settings, events), (it) => it.close());
  refuseSmallPayload(link);
  await provision(link, events);
  const shards = Array.from({ length: settings.shards }, (_, shard) => shard);
  const writers = shards.map((shard) =>
    parts.adopt(new ShardWriter(link, shard, events), (it) => it.close()),
  );
  const bucket = async (name: string) =>
    parts.adopt(await openBucket(link, name, events), (it) => it.close());
  const leases = await bucket(link.names.leases);
  const keys = createIdempotencyKeys(await bucket(link.names.keys));
  const signals = await bucket(link.names.signals);
  const signal = createSeriesSignal(link, signals);
  const { board: progress } = parts.adopt(openProgress(link), (it) => it.close());
  let boundStore: string | undefined;
  async function restore(): Promise<void> {
    await provision(link, events);
    if (boundStore !== undefined) await claimStore(link, signals, boundStore);
  }
  const watching = { alsoPoll: signal.poll, restore, contentLost: signal.notice };
  const watch = parts.adopt(watchStreams({ link, telemetry: events, ...watching }), (it) =>
    it.close(),
  );
  const appender = createAppender({ link, writers, keys, progress, telemetry });
  parts.defer(() => appender.idle());

  const held = new Set<Shard>();

  const status = () => {
    const { oldestMs, ...totals } = watch.totals();
    const reason = appender.reason();
    const oldestAgeMs = oldestMs === undefined ? 0 : Math.max(0, Date.now() - oldestMs);
    let rows = 0;
    for (const shard of held) rows += shard.backlog().rows;
    return { writable: reason === '', reason, rows, oldestAgeMs, ...totals };
  };
  telemetry.watch(status);

  async function readTime(shard: number): Promise<bigint> {
    const time = await readShardTime(link, writers[shard]!, shard);
    const publishedNanos = progress.shardNanos(shard);
    return larger(time, publishedNanos);
  }

  const opened = parts.move();
  return {
    append: (content, owner, record) => appender.append(content, owner, record),
    recall: (key) => keys.recall(key),
    async bindStore(storeId) {
      await claimStore(link, signals, storeId);
      boundStore = storeId;
    },
    work(begin) {
      const shardEvents = createShardEvents(instruments);
      const shared = { link, leases, progress, forgetSeries: signal.raise };
      return new ShardWorker({ ...shared, telemetry: shardEvents }, (shard) => {
        held.add(shard);
        const work = begin(shard);
        const close = () => work.close().finally(() => held.delete(shard));
        return { ended: work.ended, close };
      });
    },
    watermarkNanos: () => progress.watermarkNanos(),
    newestReceiptNanos: (streamId) => progress.newestReceiptNanos(streamId),
    receiptCutoff: () => passCutoff(shards, readTime, sleep),
    dropQuarantined: (...batches) => dropQuarantined(link, ...batches),
    forgetSeries: () => signal.raise(),
    whenSeriesForgotten: (listener) => signal.listen(listener),
    status,
    close: () => opened.disposeAsync(),
  };
}

/** Names of streams and buckets begin with it. */
function refuseUnusablePrefix(prefix: string): void {
  if (/^[\w-]{1,64}$/.test(prefix)) return;
  throw new Error(
    `cannot use queue.prefix ${JSON.stringify(prefix)}: use 1 to 64 letters, digits, _ and -`,
  );
}

function refuseSmallPayload({ connection }: NatsLink): void {
  const bytes = connection.info?.max_payload ?? minPayloadBytes;
  if (bytes >= minPayloadBytes) return;
  throw new Error(
    `cannot use NATS with a max_payload of ${bytes} bytes: set at least ${minPayloadBytes}, ` +
      'better the default of 1MB',
  );
}

/**
 * Chooses a time later than all messages so far and waits until every shard's clock has passed it.
 * @param readTime of one shard, as `readShardTime`
 * @returns Unix ns, the last whole millisecond of a second
 */
export async function passCutoff(
  shards: readonly number[],
  readTime: (shard: number) => Promise<bigint>,
  sleepMs: (ms: number) => Promise<unknown>,
): Promise<bigint> {
  const times = await Promise.all(shards.map(readTime));
  const cutoff = endOfSecond(times.reduce((a, b) => larger(a, b), 0n) + skewNanos);
  const nextSecond = cutoff + nanosPerMs;
  await Promise.all(
    shards.map(async (shard, index) => {
      for (let time = times[index]!; time < nextSecond; time = await readTime(shard)) {
        await sleepMs(Math.max(Number((nextSecond - time) / nanosPerMs), minPauseMs));
      }
    }),
  );
  return cutoff;
}

/**
 * The time of a message that is published after the call, or of a later one. Unix ns.
 * @throws AppError `unavailable`
 */
async function readShardTime(
  { manager, names }: NatsLink,
  writer: Pick<ShardWriter, 'tick'>,
  shard: number,
): Promise<bigint> {
  try {
    await writer.tick();
    // The tick may have been drained already.
    const { state } = await manager.streams.info(names.stream(shard));
    return parseStreamTime(state.last_ts);
  } catch (cause) {
    throw cause instanceof AppError ? cause : queueUnavailable(cause);
  }
}

/** @param text RFC 3339 with up to nine digits of a second. @returns Unix ns */
export function parseStreamTime(text: string): bigint {
  const fraction = /\.(\d{1,9})/.exec(text)?.[1] ?? '';
  const seconds = BigInt(Math.floor(Date.parse(text.replace(/\.\d+/, '')) / 1000));
  return seconds * nanosPerSecond + BigInt(fraction.padEnd(9, '0'));
}

/** The last whole millisecond of the second in which `nanos` lies, or of the next one. Unix ns. */
export function endOfSecond(nanos: bigint): bigint {
  return ((nanos + nanosPerMs - 1n) / nanosPerSecond + 1n) * nanosPerSecond - nanosPerMs;
}
