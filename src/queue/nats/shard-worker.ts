/**
 * Competes with other writers for the leases of shards, so that each shard has one holder and every
 * writer about as many, and runs work on the shards that it holds.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { larger } from '../../std/big-integers.ts';
import { randomBase32 } from '../../std/random-id.ts';
import type { ShardEvents, ShardLoss } from '../../telemetry/queue-events.ts';
import type { Shard, ShardWork } from '../port.ts';
import type { Bucket } from './bucket.ts';
import type { NatsLink } from './connection.ts';
import { Lease, LeaseBoard, type LeaseWatch, presence, toEpoch, watchLeases } from './leases.ts';
import type { ProgressBoard } from './progress.ts';
import { whileConnected } from './publish.ts';
import type { ConsumerEnd } from './shard-consumer.ts';
import { ShardReader } from './shard-reader.ts';

export interface ShardWorkParts {
  readonly link: NatsLink;
  readonly leases: Bucket;
  readonly progress: Pick<ProgressBoard, 'shardNanos' | 'shardEpoch'>;
  readonly telemetry: ShardEvents;
  /** As `Queue.forgetSeries`. */
  readonly forgetSeries: () => Promise<void>;
}

interface Holding {
  readonly lease: Lease;
  readonly reader: ShardReader;
  readonly work: ShardWork;
  /** Set once the shard is being released. */
  end: Promise<void> | undefined;
  isReleased: boolean;
}

/** For each shard. */
const maxHeldBytes = 64 * 1024 * 1024;
/** Renewals of a lease, and reads of the others', within its duration. */
const beatsPerLease = 5;
const stepMs = 100;
const retryPauseMs = 300;

/** Begins at once; see `Queue.work`. */
export class ShardWorker implements ShardWork {
  readonly #parts: ShardWorkParts;
  readonly #begin: (shard: Shard) => ShardWork;
  readonly #me = randomBase32(16);
  readonly #leaseMs: number;
  readonly #board: LeaseBoard;
  readonly #watch: LeaseWatch;
  readonly #holdings = new Map<number, Holding>();
  readonly #taking = new Map<number, Promise<void>>();
  /**
   * By shard, Unix ns: watermarks that this writer reached. Without a connection they are not
   * recorded, though other nodes may have received them.
   */
  readonly #reached = new Map<number, bigint>();
  readonly #timers: NodeJS.Timeout[];
  #beat: Promise<void> = Promise.resolve();
  #isBeating = false;
  #isClosing = false;

  constructor(parts: ShardWorkParts, begin: (shard: Shard) => ShardWork) {
    this.#parts = parts;
    this.#begin = begin;
    const { shards } = parts.link.settings;
    this.#leaseMs = parts.link.settings.leaseSeconds * 1000;
    this.#board = new LeaseBoard(this.#me, shards, this.#leaseMs);
    this.#watch = watchLeases(parts, this.#board, this.#me, () => this.#step());
    this.#timers = [
      setInterval(() => this.#startBeat(), this.#leaseMs / beatsPerLease),
      setInterval(() => this.#step(), stepMs),
    ];
    this.#startBeat();
  }

  /** Finishes the work in progress, then releases the leases. */
  async close(): Promise<void> {
    this.#isClosing = true;
    await this.#beat;
    // From now on the other writers' shares are larger: they take released shards at once.
    await this.#tryLease('writer', () => this.#announce(presence.left));
    await Promise.all(this.#taking.values());
    const shards = [...this.#holdings.keys()];
    await Promise.all(shards.map((shard) => this.#release(shard, 'closed')));
    for (const timer of this.#timers) clearInterval(timer);
    this.#watch.close();
    await this.#beat;
    await this.#tryLease('writer', () => this.#removeEntry());
  }

  #startBeat(): void {
    if (this.#isBeating || !this.#parts.link.isConnected()) return;
    this.#isBeating = true;
    this.#beat = this.#beatOnce().finally(() => {
      this.#isBeating = false;
    });
  }

  /** Announces this writer, renews its leases and reads those of the others. */
  async #beatOnce(): Promise<void> {
    const renewals = Array.from(this.#holdings, ([shard, holding]) =>
      this.#tryLease(toShardKey(shard), () => this.#renew(holding)),
    );
    await Promise.all([
      ...renewals,
      this.#isClosing ? undefined : this.#tryLease('writer', () => this.#announce(presence.here)),
      this.#tryLease('all', () => this.#watch.refresh()),
    ]);
    this.#step();
  }

  async #announce(what: string): Promise<void> {
    await this.#parts.leases.put(toWriterKey(this.#me), Buffer.from(what));
  }

  async #renew({ lease, reader, isReleased }: Holding): Promise<void> {
    if (isReleased) return;
    const { watermarkNanos, fencingToken } = reader;
    await lease.renew({ epoch: fencingToken.epoch, watermarkNanos });
  }

  /** Ends work without a lease, hands surplus shards over, takes free ones. */
  #step(): void {
    for (const [shard, { lease, reader, end }] of this.#holdings) {
      if (lease.isValid()) continue;
      if (end === undefined) void this.#release(shard, 'not renewed');
      // Closing work may wait for an acknowledgement that no longer counts.
      else void reader.stop();
    }
    if (this.#isClosing) return;
    if (!this.#watch.isReady() || !this.#parts.link.isConnected()) return;
    const nowMs = performance.now();
    const active = [...this.#holdings].filter(([, { end }]) => end === undefined);
    let room = this.#board.share(nowMs) - active.length - this.#taking.size;
    for (const [shard] of active.sort(([a], [b]) => b - a)) {
      if (room >= 0) break;
      room++;
      void this.#release(shard, 'handed over');
    }
    for (let shard = 0; shard < this.#parts.link.settings.shards && room > 0; shard++) {
      const isOurs = this.#holdings.has(shard) || this.#taking.has(shard);
      if (isOurs || !this.#board.isFree(shard, nowMs)) continue;
      room--;
      const taking = this.#takeOrPause(shard);
      this.#taking.set(shard, taking);
      void taking.then(() => this.#taking.delete(shard));
    }
  }

  async #takeOrPause(shard: number): Promise<void> {
    const isDone = await this.#tryLease(toShardKey(shard), () => this.#take(shard));
    if (!isDone) await sleep(retryPauseMs);
  }

  async #take(shard: number): Promise<void> {
    const { link, leases, progress, telemetry, forgetSeries } = this.#parts;
    const entry = this.#board.shard(shard);
    const streamInfo = (name: string) =>
      whileConnected(link.lost(), () => link.manager.streams.info(name));
    const [work, bucket] = await Promise.all([
      streamInfo(link.names.stream(shard)),
      streamInfo(`KV_${link.names.leases}`),
    ]);
    const terms = { leases, key: toShardKey(shard), me: this.#me, leaseMs: this.#leaseMs };
    const lease = await Lease.take(terms, entry);
    if (lease === undefined) return this.#watch.refresh();
    const earlierEpoch = BigInt(entry.value.epoch);
    // A bucket that was restored or created again may not know the last holder.
    const epochs = [earlierEpoch, progress.shardEpoch(shard)];
    const epoch = toEpoch(epochs, bucket, lease.takenRevision);
    const recordedNanos = BigInt(entry.value.watermarkNanos);
    const publishedNanos = larger(progress.shardNanos(shard), this.#reached.get(shard) ?? 0n);
    const reader = new ShardReader({
      link,
      shard,
      fencingToken: { shard: link.names.shardName(shard, work.created), epoch },
      earlierEpoch,
      floorNanos: larger(recordedNanos, publishedNanos),
      maxHeldBytes,
      telemetry,
      forgetSeries,
      isHeld: () => lease.isValid(),
    });
    telemetry.shardTaken({ shard, epoch });
    const holding = { lease, reader, work: this.#begin(reader), end: undefined, isReleased: false };
    this.#holdings.set(shard, holding);
    void reader.ended.then((reason) => this.#readerEnded(shard, reason));
    void holding.work.ended?.then(() => {
      // Work that was closed may end much later.
      if (this.#holdings.get(shard) === holding) void this.#release(shard, 'superseded');
    });
  }

  #readerEnded(shard: number, reason: ConsumerEnd): void {
    if (reason === 'closed') return;
    const isConsumerLost = reason !== 'superseded' && reason !== 'stream replaced';
    if (isConsumerLost) this.#parts.telemetry.consumerLost({ shard, reason });
    void this.#release(shard, isConsumerLost ? 'consumer lost' : reason);
  }

  #release(shard: number, reason: ShardLoss): Promise<void> {
    const holding = this.#holdings.get(shard);
    if (holding === undefined) return Promise.resolve();
    holding.end ??= this.#end(shard, holding, reason);
    return holding.end;
  }

  async #end(shard: number, holding: Holding, reason: ShardLoss): Promise<void> {
    const { lease, reader, work } = holding;
    const isOrderly = reason === 'closed' || reason === 'handed over';
    // Without the lease or the consumer nothing may be released any more.
    if (!isOrderly) await reader.stop();
    await work.close();
    const { watermarkNanos, fencingToken } = reader;
    await reader.stop();
    this.#reached.set(shard, watermarkNanos);
    if (reason === 'superseded' && !this.#isClosing) {
      // The store may know higher epochs, such as after a restore of the leases: paces retries.
      await sleep(this.#leaseMs / beatsPerLease);
    }
    holding.isReleased = true;
    if (lease.isValid() && this.#parts.link.isConnected()) {
      await this.#tryLease(toShardKey(shard), async () => {
        await this.#beat;
        await lease.release({ epoch: fencingToken.epoch, watermarkNanos });
      });
    }
    this.#holdings.delete(shard);
    this.#parts.telemetry.shardLost({ shard, reason });
  }

  /** The next beat or step tries again. @returns whether it succeeded */
  async #tryLease(key: string, work: () => Promise<unknown>): Promise<boolean> {
    try {
      await work();
      return true;
    } catch (error) {
      this.#parts.telemetry.leaseFailed({ key, error });
      return false;
    }
  }

  async #removeEntry(): Promise<void> {
    const { link, leases } = this.#parts;
    if (!link.isConnected()) return;
    const filter = leases.subject(toWriterKey(this.#me));
    await link.manager.streams.purge(`KV_${link.names.leases}`, { filter });
  }
}

function toShardKey(shard: number): string {
  return `shard.${shard}`;
}

function toWriterKey(id: string): string {
  return `writer.${id}`;
}
