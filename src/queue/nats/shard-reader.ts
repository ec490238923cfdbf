/**
 * A shard while this process holds it: receives its messages in order, hands out batches,
 * acknowledges what was released and publishes the shard's progress. It has one consumer and ends
 * with it; unacknowledged messages are then delivered to the next reader.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { headers as createHeaders } from '@nats-io/transport-node';
import type { StampedBatch } from '../../model/batch.ts';
import type { FencingToken } from '../../model/fencing-token.ts';
import type { ShardEvents } from '../../telemetry/queue-events.ts';
import type { Shard, Taken, TakeLimits } from '../port.ts';
import { acknowledge } from './acknowledge.ts';
import { Assembler, type Damage } from './assembler.ts';
import { type Delivery, headers, messageKinds } from './messages.ts';
import { ProgressPublisher } from './progress.ts';
import { quarantine, toQuarantined } from './quarantine-messages.ts';
import { whileConnected } from './publish.ts';
import { ShardBacklog } from './shard-backlog.ts';
import {
  type ConsumerEnd,
  type ConsumerParts,
  openShardConsumer,
  type ShardConsumer,
} from './shard-consumer.ts';

export interface ReaderParts
  extends Pick<ConsumerParts, 'link' | 'shard' | 'fencingToken' | 'earlierEpoch'> {
  /** Unix ns; every time of receipt is later. */
  readonly floorNanos: bigint;
  /** Bytes of messages kept in memory; a larger upload may exceed it. */
  readonly maxHeldBytes: number;
  readonly telemetry: ShardEvents;
  /** As `Queue.forgetSeries`. */
  readonly forgetSeries: () => Promise<void>;
  /** False once another process may have taken the shard. */
  readonly isHeld: () => boolean;
}

/** A message that is not acknowledged. */
interface HeldMessage {
  reply: string;
  readonly bytes: number;
}

const tickMs = 200;
const damagePauseMs = 1000;

export class ShardReader implements Shard {
  readonly fencingToken: FencingToken;
  readonly isFirst: boolean;
  readonly ended: Promise<ConsumerEnd>;
  readonly #parts: ReaderParts;
  readonly #assembler: Assembler;
  readonly #backlog = new ShardBacklog();
  readonly #messages = new Map<number, HeldMessage>();
  readonly #progress: ProgressPublisher;
  readonly #closing = new AbortController();
  readonly #consumer: ShardConsumer;
  readonly #ticking: NodeJS.Timeout;
  /**
   * Last message of the stream that an earlier holder may have stored; infinite until the store has
   * fenced the earlier holders, which it does before the first suspect insert.
   */
  #suspectUntil = Number.POSITIVE_INFINITY;
  #lastSequence = 0;
  #heldBytes = 0;
  #deliveredMs = 0;
  #wakeTaker: (() => void) | undefined;

  constructor(parts: ReaderParts) {
    const { link, shard, fencingToken, earlierEpoch, telemetry } = parts;
    this.#parts = parts;
    this.fencingToken = fencingToken;
    this.isFirst = shard === 0;
    this.#assembler = new Assembler(parts.floorNanos);
    this.#progress = new ProgressPublisher(link, shard, fencingToken.epoch, parts.isHeld);
    this.#consumer = openShardConsumer({
      link,
      shard,
      fencingToken,
      earlierEpoch,
      telemetry,
      closing: this.#closing.signal,
      deliver: (delivery) => this.#deliver(delivery),
      room: () => this.#room(),
    });
    this.ended = this.#consumer.ended;
    this.#ticking = setInterval(() => this.#tick(), tickMs);
    // Also while its work is being closed: nothing is sent over another connection.
    void this.ended.then(() => this.stop());
  }

  /** Unix ns: everything up to it is released, later messages get a later time of receipt. */
  get watermarkNanos(): bigint {
    const oldest = this.#backlog.oldestNanos;
    return oldest === undefined ? this.#assembler.lastNanos : oldest - 1n;
  }

  async take(limits: TakeLimits): Promise<Taken | undefined> {
    while (!this.#closing.signal.aborted) {
      const taken = this.#backlog.take(limits);
      if (taken !== undefined) return taken;
      await new Promise<void>((resolve) => (this.#wakeTaker = resolve));
    }
    return undefined;
  }

  async release(batches: readonly StampedBatch[]): Promise<void> {
    this.#requireHeld('release');
    const finished = this.#backlog.takenUntil(batches.at(-1));
    await this.#acknowledge(this.#assembler.done(finished));
    this.#progress.stored(finished.map(({ batch }) => batch));
    this.#backlog.release(finished.length);
    this.#progress.reached(this.watermarkNanos);
    this.#consumer.requestMore();
    if (this.#suspectUntil === Number.POSITIVE_INFINITY) void this.#endSuspicion();
  }

  async quarantine(batch: StampedBatch, reason: string): Promise<void> {
    this.#requireHeld('quarantine a batch');
    const { link, shard } = this.#parts;
    this.#assembler.quarantined(batch);
    await quarantine(link, toQuarantined(batch, shard, reason));
  }

  backlog(): { readonly rows: number; readonly bytes: number } {
    return this.#backlog;
  }

  /** Stops at once; what is not released stays in the stream. */
  async stop(): Promise<void> {
    this.#closing.abort();
    clearInterval(this.#ticking);
    this.#wakeTaker?.();
    this.#progress.close();
    await this.#consumer.ended;
  }

  #deliver(delivery: Delivery): void {
    const { shard, telemetry, isHeld } = this.#parts;
    // A later holder may have claimed the stream already and would not treat it as suspect.
    if (!isHeld()) return;
    this.#deliveredMs = performance.now();
    const { sequence, reply, data } = delivery;
    const held = this.#messages.get(sequence);
    if (held !== undefined) return void (held.reply = reply);
    const isRepeated = delivery.isRepeated || sequence <= this.#lastSequence;
    if (isRepeated) telemetry.repeated();
    this.#lastSequence = Math.max(sequence, this.#lastSequence);
    this.#messages.set(sequence, { reply, bytes: data.length });
    this.#heldBytes += data.length;
    const isSuspect = isRepeated || sequence <= this.#suspectUntil;
    const { batches, damage, spent, droppedUploads } = this.#assembler.add({
      ...delivery,
      isSuspect,
    });
    if (droppedUploads > 0) telemetry.uploadsDropped({ shard, uploads: droppedUploads });
    for (const [index, each] of damage.entries()) {
      void this.#quarantineDamage(each, `damage-${shard}-${sequence}-${index}`);
    }
    this.#discard(spent);
    if (batches.length > 0) {
      this.#backlog.add(batches);
      this.#wakeTaker?.();
    }
    if (this.#backlog.count === 0) this.#progress.reached(this.watermarkNanos);
  }

  /** Resolves when the server confirmed that it will not deliver these messages again. */
  async #acknowledge(sequences: readonly number[]): Promise<void> {
    const messages = sequences.flatMap((sequence) => this.#messages.get(sequence) ?? []);
    for (const { bytes } of messages) this.#heldBytes -= bytes;
    const { connection } = this.#parts.link;
    const closing = this.#closing.signal;
    try {
      await whileConnected(closing, () => acknowledge({ connection, closing }, messages));
    } catch (cause) {
      // The next consumer delivers again what the server did not take.
      this.#consumer.end('silence');
      throw new Error('cannot release: NATS did not confirm the acknowledgement', { cause });
    }
    for (const sequence of sequences) this.#messages.delete(sequence);
  }

  /** Acknowledges messages without a batch; delivered again, they are discarded again. */
  #discard(sequences: readonly number[]): void {
    if (sequences.length > 0) this.#acknowledge(sequences).catch(() => undefined);
  }

  async #endSuspicion(): Promise<void> {
    const { link, shard } = this.#parts;
    try {
      const { state } = await link.manager.streams.info(link.names.stream(shard));
      this.#suspectUntil = state.last_seq;
    } catch {
      // The next release retries.
    }
  }

  async #quarantineDamage(damage: Damage, id: string): Promise<void> {
    const { link, shard, telemetry, forgetSeries } = this.#parts;
    const { bytes, reason } = damage;
    telemetry.damaged({ shard, reason });
    const { signal } = this.#closing;
    while (!signal.aborted) {
      try {
        // It may have had labels of series.
        await forgetSeries();
        await quarantine(link, { id, shard, bytes, reason });
        return this.#discard(this.#assembler.done([damage]));
      } catch (error) {
        telemetry.quarantineFailed(error);
      }
      await sleep(damagePauseMs, undefined, { signal }).catch(() => undefined);
    }
  }

  #room(): number {
    const { maxHeldBytes, isHeld } = this.#parts;
    // Messages delivered here would be missing at the next holder.
    if (!isHeld()) return 0;
    const left = maxHeldBytes - this.#heldBytes;
    if (left > 0) return left;
    // All of them are pieces: only further pieces free memory.
    return this.#backlog.count === 0 ? maxHeldBytes : 0;
  }

  /** Advances the time of an idle stream. */
  #tick(): void {
    const { link, shard, isHeld } = this.#parts;
    const isQuiet = performance.now() - this.#deliveredMs >= tickMs * 0.75;
    if (!isQuiet || this.#backlog.count > 0 || !isHeld() || !link.isConnected()) return;
    const head = createHeaders();
    head.set(headers.kind, messageKinds.tick);
    link.connection.publish(link.names.subject(shard), undefined, { headers: head });
  }

  #requireHeld(action: string): void {
    const isOurs = this.#parts.isHeld() && !this.#closing.signal.aborted;
    if (!isOurs) throw new Error(`cannot ${action}: the shard is no longer held by this process`);
  }
}
