/**
 * One shard while it is this process's: reads its stream in order, hands out batches, acknowledges
 * what was released, and tells how far it has come. Whether the shard is still ours is the lease's
 * business.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { headers as createHeaders } from '@nats-io/transport-node';
import type { StampedBatch } from '../../model/batch.ts';
import type { FencingToken } from '../../model/fencing-token.ts';
import type { ShardEvents } from '../../telemetry/queue-events.ts';
import type { Shard, Taken, TakeLimits } from '../port.ts';
import { Assembler, type Damage } from './assembler.ts';
import type { NatsLink } from './connection.ts';
import type { Delivery } from './delivery.ts';
import { LeftBehind } from './left-behind.ts';
import { MessageBook } from './message-book.ts';
import { headers, messageKinds } from './names.ts';
import { ProgressTeller } from './progress-teller.ts';
import { setAside, toQuarantined } from './set-aside.ts';
import { isSameStream, mayBeSame, type ReadStream } from './same-stream.ts';
import { ShardBacklog } from './shard-backlog.ts';
import {
  ackWaitMs,
  type EarlierHolder,
  openShardConsumer,
  type ShardConsumer,
} from './shard-consumer.ts';
import { untilAborted } from './until-aborted.ts';

export interface ReaderParts {
  readonly link: NatsLink;
  readonly shard: number;
  readonly fencingToken: FencingToken;
  readonly earlier: EarlierHolder;
  /** Unix ns; every batch is stamped later. */
  readonly floorNanos: bigint;
  /** Messages are kept in memory up to so many bytes, besides what one batch needs. */
  readonly maxHeldBytes: number;
  readonly telemetry: ShardEvents;
  /** False once another process may have taken the shard. */
  readonly isHeld: () => boolean;
}

const tickMs = 200;
const keepMs = ackWaitMs / 3;
const damagePauseMs = 1000;
const lookBehindMs = 1000;
const comparePauseMs = 1000;

export class ShardReader implements Shard {
  readonly fencingToken: FencingToken;
  readonly isFirst: boolean;
  /** Resolves when it was stopped, or can no longer go on. */
  readonly ended: Promise<'closed' | 'superseded' | 'stream replaced'>;
  readonly #parts: ReaderParts;
  readonly #assembler: Assembler;
  readonly #backlog = new ShardBacklog();
  readonly #leftBehind = new LeftBehind();
  readonly #book: MessageBook;
  readonly #teller: ProgressTeller;
  readonly #closing = new AbortController();
  readonly #consumer: ShardConsumer;
  readonly #timers: NodeJS.Timeout[];
  readonly #replaced = Promise.withResolvers<'stream replaced'>();
  /**
   * Up to this message of the stream another holder may have stored what it got; infinite until
   * what may still be delivered to one can no longer be stored by it.
   */
  #suspectUntil = 0;
  #heardMs = 0;
  #wakeTaker: (() => void) | undefined;

  constructor(parts: ReaderParts) {
    const { link, shard, fencingToken, telemetry } = parts;
    this.#parts = parts;
    this.fencingToken = fencingToken;
    this.isFirst = shard === 0;
    this.#assembler = new Assembler(parts.floorNanos);
    this.#book = new MessageBook(link.connection);
    this.#teller = new ProgressTeller(link, shard, fencingToken.epoch, parts.isHeld);
    this.#consumer = openShardConsumer({
      link,
      shard,
      epoch: fencingToken.epoch,
      earlier: parts.earlier,
      telemetry,
      closing: this.#closing.signal,
      opened: ({ stream, isContested }) => {
        if (!mayBeSame(link, this.#read(), stream)) this.#replaced.resolve('stream replaced');
        this.#book.consumerOpened();
        const until = isContested ? Number.POSITIVE_INFINITY : stream.state.last_seq;
        this.#suspectUntil = Math.max(this.#suspectUntil, until);
      },
      deliver: (delivery) => this.#deliver(delivery),
      room: () => this.#room(),
    });
    this.ended = Promise.race([this.#consumer.ended, this.#replaced.promise]);
    this.#timers = [
      setInterval(() => this.#tick(), tickMs),
      setInterval(() => this.#ifConnected(() => this.#book.resend()), 1000),
      setInterval(() => this.#ifConnected(() => this.#book.keep()), keepMs),
    ];
    void this.#followConnection();
    void this.#keepLooking();
  }

  /** Unix ns: all up to it is released, all to come is stamped later. */
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
    this.#refuseLost('release');
    const finished = this.#backlog.takenUntil(batches.at(-1));
    await this.#book.acknowledge(this.#assembler.done(finished));
    this.#teller.stored(finished.map(({ batch }) => batch));
    this.#backlog.release(finished.length);
    this.#teller.reached(this.watermarkNanos);
    this.#consumer.roomMade();
    if (this.#suspectUntil === Number.POSITIVE_INFINITY) void this.#endContest();
  }

  async quarantine(batch: StampedBatch, reason: string): Promise<void> {
    this.#refuseLost('set a batch aside');
    const { link, shard } = this.#parts;
    this.#assembler.setAside(batch);
    await setAside(link, toQuarantined(batch, shard, reason));
  }

  backlog(): { readonly rows: number; readonly bytes: number } {
    return this.#backlog;
  }

  /** Lets go at once; what is not released will be delivered to the next holder. */
  async stop(): Promise<void> {
    this.#closing.abort();
    for (const timer of this.#timers) clearInterval(timer);
    this.#wakeTaker?.();
    this.#book.close();
    this.#teller.close();
    await this.#consumer.ended;
  }

  #deliver(delivery: Delivery): void {
    const { shard, telemetry, isHeld } = this.#parts;
    // A later holder may not know that this one still got it.
    if (!isHeld()) return;
    this.#heardMs = performance.now();
    const recognised = this.#book.recognise(delivery);
    if (recognised === 'known') return;
    if (recognised === 'other') return this.#replaced.resolve('stream replaced');
    const isLate = this.#book.hold(delivery);
    const isRepeated = isLate || delivery.isRepeated;
    if (isRepeated) telemetry.repeated();
    const isSuspect = isRepeated || delivery.sequence <= this.#suspectUntil;
    const { batches, damage, spent, droppedUploads } = this.#assembler.add({
      ...delivery,
      isSuspect,
    });
    if (droppedUploads > 0) telemetry.uploadsDropped({ shard, uploads: droppedUploads });
    for (const [index, each] of damage.entries()) {
      void this.#setDamageAside(each, `damage-${shard}-${delivery.sequence}-${index}`);
    }
    if (spent.length > 0) this.#forget(spent);
    if (batches.length > 0) {
      this.#backlog.add(batches);
      this.#wakeTaker?.();
    }
    if (this.#backlog.count === 0) this.#teller.reached(this.watermarkNanos);
  }

  /** The store has fenced before it took what was suspect: later messages are ours alone. */
  async #endContest(): Promise<void> {
    const { link, shard } = this.#parts;
    try {
      const { state } = await link.manager.streams.info(link.names.stream(shard));
      this.#suspectUntil = state.last_seq;
    } catch {
      // The next release asks again.
    }
  }

  /** What nobody waits for: should it come again, it is worth nothing again. */
  #forget(spent: readonly number[]): void {
    this.#book.acknowledge(spent).catch(() => undefined);
  }

  async #setDamageAside(damage: Damage, id: string): Promise<void> {
    const { link, shard, telemetry } = this.#parts;
    const { bytes, reason } = damage;
    telemetry.damaged({ shard, reason });
    while (!this.#closing.signal.aborted) {
      try {
        await setAside(link, { id, shard, bytes, reason });
        return this.#forget(this.#assembler.done([damage]));
      } catch (error) {
        telemetry.quarantineFailed(error);
      }
      const { signal } = this.#closing;
      await sleep(damagePauseMs, undefined, { signal }).catch(() => undefined);
    }
  }

  #room(): number {
    const { maxHeldBytes, isHeld } = this.#parts;
    // What is delivered here would be missing where the shard has gone.
    if (!isHeld()) return 0;
    const left = maxHeldBytes - this.#book.bytes;
    if (left > 0) return left;
    // All of it is pieces: the rest of them must come for anything to become free.
    return this.#backlog.count === 0 ? maxHeldBytes : 0;
  }

  /** Moves the clock of the stream on while nothing else does. */
  #tick(): void {
    const { link, shard, isHeld } = this.#parts;
    const isQuiet = performance.now() - this.#heardMs >= tickMs * 0.75;
    // What has no answer yet may be gone: a later message shows it.
    const isWanted = this.#backlog.count === 0 || this.#book.unconfirmed > 0;
    if (!isQuiet || !isWanted || !isHeld() || !link.isConnected()) return;
    const head = createHeaders();
    head.set(headers.kind, messageKinds.tick);
    link.connection.publish(link.names.subject(shard), undefined, { headers: head });
  }

  /** Acknowledges over a new connection only what lies in the stream that was read. */
  async #followConnection(): Promise<void> {
    const { link } = this.#parts;
    const { signal } = this.#closing;
    while (!signal.aborted) {
      await link.whenConnected(1000);
      const present = link.present();
      const isSame = !present.aborted && (await this.#compare());
      if (isSame && !present.aborted) {
        this.#book.goOn();
        await untilAborted([present, signal]);
        this.#book.holdBack();
      } else await sleep(comparePauseMs, undefined, { signal }).catch(() => undefined);
    }
  }

  /** @returns false also where there is no answer. */
  async #compare(): Promise<boolean> {
    const { link, shard, telemetry } = this.#parts;
    try {
      const isSame = await isSameStream(link, this.#read());
      if (!isSame) this.#replaced.resolve('stream replaced');
      return isSame;
    } catch (error) {
      telemetry.consumerFailed({ shard, error });
      return false;
    }
  }

  #read(): ReadStream {
    return { shard: this.#parts.shard, shardName: this.fencingToken.shard, last: this.#book.last };
  }

  /** One after the other: answers that were long under way must not count as several. */
  async #keepLooking(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      // Whoever is needed for an answer is waited for elsewhere.
      await this.#lookBehind().catch(() => undefined);
      await sleep(lookBehindMs, undefined, { signal }).catch(() => undefined);
    }
  }

  async #lookBehind(): Promise<void> {
    const { link, shard, isHeld } = this.#parts;
    if (!link.isConnected() || !isHeld()) return;
    const read = this.#read();
    const stream = await link.manager.streams.info(link.names.stream(shard));
    // What it said may have been overtaken by what was read since.
    if (!mayBeSame(link, read, stream)) await this.#compare();
    const { messages, first_seq: first } = stream.state;
    const isSeen = messages > 0 && this.#leftBehind.isSeen(first, this.#book.lowest);
    if (isSeen) this.#consumer.makeAnew('left behind');
  }

  #ifConnected(work: () => void): void {
    if (this.#parts.link.isConnected() && this.#parts.isHeld()) work();
  }

  #refuseLost(wish: string): void {
    const isOurs = this.#parts.isHeld() && !this.#closing.signal.aborted;
    if (!isOurs) throw new Error(`cannot ${wish}: the shard is no longer held by this process`);
  }
}
