/**
 * Appends batches to the queue: numbers them, chooses their shards, and stores a batch with an
 * idempotency key once. A batch that cannot be sent is refused at once.
 */
import { randomBytes } from 'node:crypto';
import { crc32c } from '@node-rs/crc32';
import type { Batch, BatchOwner, StampedBatch } from '../../model/batch.ts';
import type { AppError } from '../../model/errors.ts';
import { freeMemory, ownMemory } from '../../std/free-memory.ts';
import type { QueueEvents } from '../../telemetry/queue-events.ts';
import { type Appended, type IdempotencyRecord, refuseTooLarge } from '../port.ts';
import type { NatsLink } from './connection.ts';
import { queueUnavailable } from './faults.ts';
import type { ClaimedKey, IdempotencyKeys } from './idempotency-keys.ts';
import type { ProgressBoard } from './progress.ts';
import type { ShardWriter } from './shard-writer.ts';

type Content = Pick<Batch, 'layout' | 'rows' | 'payload'>;

/** Unacknowledged payloads; admission usually stops far below. */
const maxPendingBytes = 512 * 1024 * 1024;
/** Added to the load of a shard without a known holder. */
const undrainedBytes = 2 * maxPendingBytes;
/** Appends wait this long for a reconnect, such as during the shutdown of a server. */
const reconnectGraceMs = 1000;
/** Later, another gateway may have taken over the claim and published its batch. */
const freshMs = 1000;
const notConnected = 'not connected to NATS';

export interface AppenderParts {
  readonly link: NatsLink;
  /** By shard. */
  readonly writers: readonly ShardWriter[];
  readonly keys: IdempotencyKeys;
  readonly progress: Pick<ProgressBoard, 'shardNanos'>;
  readonly telemetry: Pick<QueueEvents, 'batchAppended' | 'appendRefused'>;
}

export function createAppender(parts: AppenderParts) {
  const { link, writers, keys, telemetry } = parts;
  const writer = randomBytes(8).readBigUInt64LE();
  let sequence = 0n;
  const settling = new Set<Promise<void>>();
  const choose = createShardChoice(writers.length, (shard) => shardLoad(parts, shard));

  async function append(
    content: Content,
    owner: BatchOwner,
    record?: IdempotencyRecord,
  ): Promise<Appended> {
    const payloadBytes = content.payload.length;
    refuseTooLarge(payloadBytes);
    await requireReachable();
    const shard = choose(content, owner);
    // The stream sets its time of receipt.
    const { layout, rows, payload } = content;
    const id = { writer, sequence: sequence++ };
    const batch = { id, receivedAtNanos: 0n, owner, layout, rows, payload };
    let appended: Appended = {};
    if (record === undefined) await writers[shard]!.write({ batch });
    else appended = await appendIdempotent(batch, shard, record);
    if (appended.first === undefined) telemetry.batchAppended(payloadBytes);
    return appended;
  }

  async function appendIdempotent(
    batch: StampedBatch,
    shard: number,
    record: IdempotencyRecord,
  ): Promise<Appended> {
    const refusal = writers[shard]!.reason;
    // Before the claim: a batch under an earlier claim is suspect.
    if (refusal !== '') throw refuse('away', refusal);
    const claimedAtMs = Date.now();
    const isFresh = startFreshness(link);
    const held = await keys.claim(record, { id: batch.id, shard });
    const { first } = held;
    if (held.isDone) {
      freeMemory([ownMemory(batch.payload)]);
      return { first };
    }
    const copiesSinceMs = () => held.claimedAtMs ?? (isFresh() ? undefined : claimedAtMs);
    const target = writers[held.shard];
    if (target === undefined) throw refuse('away', 'another node has set queue.shards higher');
    await target.write({ batch: { ...batch, id: held.id }, copiesSinceMs });
    settle(record, held);
    return { first };
  }

  /** In the background: a repetition that comes earlier finds the batch in the queue. */
  function settle(record: IdempotencyRecord, held: ClaimedKey): void {
    const settled = keys.settle(record, held).catch(() => undefined);
    settling.add(settled);
    void settled.then(() => settling.delete(settled));
  }

  async function requireReachable(): Promise<void> {
    const graceMs = reconnectGraceMs - link.disconnectedMs();
    if (!link.isConnected() && graceMs > 0) await link.whenConnected(graceMs);
    if (!link.isConnected()) throw refuse('away', notConnected);
    const pendingBytes = writers.reduce((sum, each) => sum + each.pendingBytes, 0);
    if (pendingBytes > maxPendingBytes) {
      throw refuse('busy', `${pendingBytes} bytes wait for JetStream`);
    }
    const refusal = reason();
    if (refusal !== '') throw refuse('away', refusal);
  }

  function refuse(why: 'away' | 'busy', detail: string): AppError {
    telemetry.appendRefused({ reason: why });
    return queueUnavailable(detail);
  }

  /** Why no shard takes batches; empty if one does. */
  function reason(): string {
    if (link.disconnectedMs() > reconnectGraceMs) return notConnected;
    const reasons = writers.map((each) => each.reason);
    return reasons.every((each) => each !== '') ? reasons.join('; ') : '';
  }

  return {
    append,
    reason,
    /** Resolves once nothing is in flight. */
    async idle(): Promise<void> {
      await Promise.all(writers.map((each) => each.idle()));
      await Promise.all(settling);
    },
  };
}

/** While shards are being added, a shard without a known holder is the last choice. */
function shardLoad({ writers, progress }: AppenderParts, shard: number): number {
  const isDrained = progress.shardNanos(shard) > 0n;
  return writers[shard]!.load + (isDrained ? 0 : undrainedBytes);
}

/** @returns whether a claim is certainly too recent for a stored copy of its batch */
function startFreshness(link: NatsLink): () => boolean {
  const startedAt = performance.now();
  const lost = link.lost();
  return () => !lost.aborted && performance.now() - startedAt < freshMs;
}

/**
 * Samples of one stream always go to the same shard, since the later of two writes of a sample
 * counts. Logs go to the shard with the least load, round-robin among equals.
 * @param loadOf bytes that wait for a shard; infinite if it refuses batches
 */
export function createShardChoice(
  shards: number,
  loadOf: (shard: number) => number,
): (batch: Pick<Batch, 'layout'>, owner: BatchOwner) => number {
  let last = -1;
  return ({ layout }, { streamId }) => {
    if (layout === 'metrics/1') return crc32c(streamId) % shards;
    let best = (last + 1) % shards;
    for (let step = 1; step < shards; step++) {
      const other = (last + 1 + step) % shards;
      if (loadOf(other) < loadOf(best)) best = other;
    }
    last = best;
    return best;
  };
}
