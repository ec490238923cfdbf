/**
 * The gateway's side of the queue: numbers batches, chooses their shards, and takes care that a
 * batch with an idempotency key is there once. What cannot go out is refused at once.
 */
import { randomBytes } from 'node:crypto';
import type { Batch, BatchId, BatchOwner, StampedBatch } from '../../model/batch.ts';
import { AppError } from '../../model/errors.ts';
import { freeMemory, ownMemory } from '../../std/free-memory.ts';
import type { QueueEvents } from '../../telemetry/queue-events.ts';
import type { Appended, IdempotencyRecord } from '../port.ts';
import type { ClaimedKey, IdempotencyKeys } from './idempotency-keys.ts';
import type { NatsLink } from './connection.ts';
import type { ProgressBoard } from './progress.ts';
import { queueUnavailable } from './publish-fault.ts';
import { createShardChoice } from './shard-choice.ts';
import type { ShardWriter } from './shard-writer.ts';

export type Content = Pick<Batch, 'layout' | 'rows' | 'payload'>;

export interface Appender {
  append(content: Content, owner: BatchOwner, record?: IdempotencyRecord): Promise<Appended>;
  /** Why nothing is taken, for the operator; empty while anything is. */
  reason(): string;
  /** Resolves once nothing is under way. */
  idle(): Promise<void>;
}

const maxBatchBytes = 128 * 1024 * 1024;
/** Of payloads not acknowledged yet; admission bounds what comes in long before. */
const maxPendingBytes = 512 * 1024 * 1024;
/** A shard that nobody drains, as far as is known here, counts as one for which so much waits. */
const undrainedBytes = 2 * maxPendingBytes;
/** A connection that was lost only now is waited for: a server may just be handing over. */
const reconnectGraceMs = 1000;
/** Beyond it, somebody else may have published what we have claimed. */
const freshMs = 1000;
const notConnected = 'not connected to NATS';

export interface AppenderParts {
  readonly link: NatsLink;
  /** One for each shard. */
  readonly writers: readonly ShardWriter[];
  readonly keys: IdempotencyKeys;
  readonly progress: Pick<ProgressBoard, 'shardNanos'>;
  readonly telemetry: Pick<QueueEvents, 'batchAppended' | 'appendRefused'>;
}

export function createAppender(parts: AppenderParts): Appender {
  const { link, writers, keys, telemetry } = parts;
  const writer = randomBytes(8).readBigUInt64LE();
  let sequence = 0n;
  const noting = new Set<Promise<void>>();
  const choose = createShardChoice(writers.length, (shard) => loadOf(parts, shard));

  const nextId = (): BatchId => ({ writer, sequence: sequence++ });

  async function append(
    content: Content,
    owner: BatchOwner,
    record?: IdempotencyRecord,
  ): Promise<Appended> {
    refuseTooLarge(content.payload.length);
    const payloadBytes = content.payload.length;
    await reach();
    const shard = choose(content, owner);
    const batch = toBatch(nextId(), content, owner);
    let appended: Appended = {};
    if (record === undefined) await writers[shard]!.write({ batch });
    else appended = await appendOnce(batch, shard, record);
    if (appended.first === undefined) telemetry.batchAppended(payloadBytes);
    return appended;
  }

  async function appendOnce(
    batch: StampedBatch,
    shard: number,
    record: IdempotencyRecord,
  ): Promise<Appended> {
    const refusal = writers[shard]!.reason;
    // Before the key is claimed, for which the next attempt would be looked at more closely.
    if (refusal !== '') throw refuse('away', refusal);
    const claimedAtMs = Date.now();
    const isFresh = watchFreshness(link);
    const held = await keys.claim(record, { id: batch.id, shard });
    const { first } = held;
    if (held.isDone) {
      freeMemory([ownMemory(batch.payload)]);
      return { first };
    }
    const copiesSinceMs = () => held.claimedAtMs ?? (isFresh() ? undefined : claimedAtMs);
    const entry = { batch: { ...batch, id: held.id }, copiesSinceMs };
    const target = writers[held.shard];
    if (target === undefined) throw refuse('away', 'another node has set queue.shards higher');
    await target.write(entry);
    note(record, held);
    return { first };
  }

  /** Nobody waits for it: a repetition that comes before finds the batch in the queue. */
  function note(record: IdempotencyRecord, held: ClaimedKey): void {
    const noted = keys.settle(record, held).catch(() => undefined);
    noting.add(noted);
    void noted.finally(() => noting.delete(noted));
  }

  async function reach(): Promise<void> {
    const graceMs = reconnectGraceMs - link.awayMs();
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

  function reason(): string {
    if (link.awayMs() > reconnectGraceMs) return notConnected;
    const reasons = writers.map((each) => each.reason);
    return reasons.every((each) => each !== '') ? reasons.join('; ') : '';
  }

  return {
    append,
    reason,
    async idle() {
      await Promise.all(writers.map((each) => each.idle()));
      await Promise.all(noting);
    },
  };
}

/** While shards are being added, nodes that know fewer pass over what nobody has told of. */
function loadOf({ writers, progress }: AppenderParts, shard: number): number {
  const isDrained = progress.shardNanos(shard) > 0n;
  return writers[shard]!.load + (isDrained ? 0 : undrainedBytes);
}

/** Tells for how long nobody else can have taken a claim over, sent it and seen NATS forget it. */
function watchFreshness(link: NatsLink): () => boolean {
  const startedAt = performance.now();
  const present = link.present();
  return () => !present.aborted && performance.now() - startedAt < freshMs;
}

function toBatch(id: BatchId, { layout, rows, payload }: Content, owner: BatchOwner): StampedBatch {
  // When it was received is told by the stream that takes it.
  return { id, receivedAtNanos: 0n, owner, layout, rows, payload };
}

function refuseTooLarge(payloadBytes: number): void {
  if (payloadBytes <= maxBatchBytes) return;
  throw new AppError(
    'too_large',
    `cannot queue ${payloadBytes} bytes at once: the limit is ${maxBatchBytes}; ` +
      'send smaller batches',
  );
}
