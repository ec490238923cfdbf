/**
 * A writer's part in draining the queue: competes with other writers for shards, so that each has
 * one holder and all hold about as many, and has work done on those that it holds.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { randomBase32 } from '../../std/random-id.ts';
import type { ShardEvents, ShardLoss } from '../../telemetry/queue-events.ts';
import type { Shard, ShardWork } from '../port.ts';
import type { Bucket } from './bucket.ts';
import type { NatsLink } from './connection.ts';
import { toEpoch } from './epoch.ts';
import { Lease } from './lease.ts';
import { LeaseBoard } from './lease-board.ts';
import { type LeaseWatch, presence, watchLeases } from './lease-watch.ts';
import type { ProgressBoard } from './progress.ts';
import { ShardReader } from './shard-reader.ts';

export interface ShardWorkParts {
  readonly link: NatsLink;
  readonly leases: Bucket;
  readonly progress: Pick<ProgressBoard, 'shardNanos' | 'shardEpoch'>;
  readonly telemetry: ShardEvents;
  /** Of one shard, kept in memory; default 64 MiB. */
  readonly maxHeldBytes?: number;
}

/** A shard that this process holds. */
interface Holding {
  readonly lease: Lease;
  readonly reader: ShardReader;
  readonly work: ShardWork;
  /** Set once it is being let go of. */
  end: Promise<void> | undefined;
  isReleased: boolean;
}

const defaultMaxHeldBytes = 64 * 1024 * 1024;
/** So often within a lease it is renewed, and the others' are looked at. */
const beatsPerLease = 5;
const stepMs = 100;

/** Begins at once; see `Queue.work`. */
export function openShardWork(
  parts: ShardWorkParts,
  begin: (shard: Shard) => ShardWork,
): ShardWork {
  const writer = new Writer(parts, begin);
  return { close: () => writer.close() };
}

class Writer {
  readonly #parts: ShardWorkParts;
  readonly #begin: (shard: Shard) => ShardWork;
  readonly #me = randomBase32(16);
  readonly #board: LeaseBoard;
  readonly #watch: LeaseWatch;
  readonly #holdings = new Map<number, Holding>();
  readonly #taking = new Map<number, Promise<void>>();
  readonly #timers: NodeJS.Timeout[];
  #beat: Promise<void> = Promise.resolve();
  #isBeating = false;
  #isClosing = false;

  constructor(parts: ShardWorkParts, begin: (shard: Shard) => ShardWork) {
    this.#parts = parts;
    this.#begin = begin;
    const { shards, leaseMs } = parts.link.options;
    this.#board = new LeaseBoard(this.#me, shards, leaseMs);
    this.#watch = watchLeases(parts, this.#board, this.#me, () => this.#step());
    const beat = () => this.#startBeat();
    this.#timers = [
      setInterval(beat, leaseMs / beatsPerLease),
      setInterval(() => this.#step(), Math.min(stepMs, leaseMs / beatsPerLease)),
    ];
    beat();
  }

  /** Ends all work in good order: what is under way is finished, then others may take over. */
  async close(): Promise<void> {
    this.#isClosing = true;
    await this.#beat;
    // Others may then hold more; they take what is let go of at once.
    await this.#tryLease('writer', () => this.#sayHere(presence.left));
    await Promise.all(this.#taking.values());
    const shards = [...this.#holdings.keys()];
    await Promise.all(shards.map((shard) => this.#letGo(shard, 'closed')));
    for (const timer of this.#timers) clearInterval(timer);
    this.#watch.close();
    await this.#beat;
    await this.#tryLease('writer', () => this.#leave());
  }

  #startBeat(): void {
    if (this.#isBeating || !this.#parts.link.isConnected()) return;
    this.#isBeating = true;
    this.#beat = this.#beatOnce().finally(() => {
      this.#isBeating = false;
    });
  }

  /** Says that this writer is there, renews what it holds, and looks what the others do. */
  async #beatOnce(): Promise<void> {
    const renewals = Array.from(this.#holdings, ([shard, holding]) =>
      this.#tryLease(toShardKey(shard), () => this.#renew(holding)),
    );
    await Promise.all([
      ...renewals,
      this.#isClosing ? undefined : this.#tryLease('writer', () => this.#sayHere(presence.here)),
      this.#tryLease('all', () => this.#watch.look()),
    ]);
    this.#step();
  }

  async #sayHere(what: string): Promise<void> {
    await this.#parts.leases.put(toWriterKey(this.#me), Buffer.from(what));
  }

  async #renew({ lease, reader, isReleased }: Holding): Promise<void> {
    if (isReleased) return;
    const { watermarkNanos, fencingToken } = reader;
    await lease.renew({ epoch: fencingToken.epoch, watermarkNanos });
  }

  /** Lets go of what is lost or too much, takes what is free and wanted. */
  #step(): void {
    for (const [shard, { lease, reader, end }] of this.#holdings) {
      if (lease.isValid()) continue;
      if (end === undefined) void this.#letGo(shard, 'not renewed');
      // Its work is being closed, and may be waiting for acknowledgements that no longer count.
      else void reader.stop();
    }
    if (this.#isClosing) return;
    if (!this.#watch.ready() || !this.#parts.link.isConnected()) return;
    const nowMs = performance.now();
    const active = [...this.#holdings].filter(([, { end }]) => end === undefined);
    let room = this.#board.share(nowMs) - active.length - this.#taking.size;
    for (const [shard] of active.sort(([a], [b]) => b - a)) {
      if (room >= 0) break;
      room++;
      void this.#letGo(shard, 'handed over');
    }
    for (let shard = 0; shard < this.#parts.link.options.shards && room > 0; shard++) {
      const isOurs = this.#holdings.has(shard) || this.#taking.has(shard);
      if (isOurs || !this.#board.isFree(shard, nowMs)) continue;
      room--;
      const taking = this.#tryLease(toShardKey(shard), () => this.#take(shard));
      this.#taking.set(shard, taking);
      void taking.then(() => this.#taking.delete(shard));
    }
  }

  async #take(shard: number): Promise<void> {
    const { link, leases, progress, telemetry } = this.#parts;
    const { leaseMs } = link.options;
    const entry = this.#board.shard(shard);
    const [work, bucket] = await Promise.all([
      link.manager.streams.info(link.names.stream(shard)),
      link.manager.streams.info(`KV_${link.names.leases}`),
    ]);
    const terms = { leases, key: toShardKey(shard), me: this.#me, leaseMs };
    const lease = await Lease.take(terms, entry);
    if (lease === undefined) return this.#watch.look();
    const earlierEpoch = BigInt(entry.value.epoch);
    // A bucket that was restored from a copy, or made anew, does not know of the last holder.
    const epochs = [earlierEpoch, progress.shardEpoch(shard)];
    const epoch = toEpoch(epochs, bucket, lease.takenRevision);
    const told = BigInt(entry.value.watermarkNanos);
    const heard = progress.shardNanos(shard);
    const reader = new ShardReader({
      link,
      shard,
      fencingToken: { shard: link.names.shardName(shard, work.created), epoch },
      earlier: { epoch: earlierEpoch, hasLetGo: entry.value.holder === '' },
      floorNanos: told > heard ? told : heard,
      maxHeldBytes: this.#parts.maxHeldBytes ?? defaultMaxHeldBytes,
      telemetry,
      isHeld: () => lease.isValid(),
    });
    telemetry.shardTaken({ shard, epoch });
    const holding = { lease, reader, work: this.#begin(reader), end: undefined, isReleased: false };
    this.#holdings.set(shard, holding);
    void reader.ended.then((reason) => {
      if (reason !== 'closed') void this.#letGo(shard, reason);
    });
    void holding.work.ended?.then(() => {
      // Work that was closed may end much later.
      if (this.#holdings.get(shard) === holding) void this.#letGo(shard, 'superseded');
    });
  }

  #letGo(shard: number, reason: ShardLoss): Promise<void> {
    const holding = this.#holdings.get(shard);
    if (holding === undefined) return Promise.resolve();
    holding.end ??= this.#end(shard, holding, reason);
    return holding.end;
  }

  async #end(shard: number, holding: Holding, reason: ShardLoss): Promise<void> {
    const { lease, reader, work } = holding;
    const isOrderly = reason === 'closed' || reason === 'handed over';
    // Where it is another's already, nothing may be released any more.
    if (!isOrderly) await reader.stop();
    await work.close();
    const { watermarkNanos, fencingToken } = reader;
    await reader.stop();
    if (reason === 'superseded' && !this.#isClosing) {
      // The store may know higher epochs, as of leases that were restored from a copy: not at once.
      await sleep(this.#parts.link.options.leaseMs / beatsPerLease);
    }
    holding.isReleased = true;
    if (lease.isValid()) {
      await this.#tryLease(toShardKey(shard), async () => {
        await this.#beat;
        await lease.release({ epoch: fencingToken.epoch, watermarkNanos });
      });
    }
    this.#holdings.delete(shard);
    this.#parts.telemetry.shardLost({ shard, reason });
  }

  /** What fails is tried again with the next beat. */
  async #tryLease(key: string, work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#parts.telemetry.leaseFailed({ key, error });
    }
  }

  async #leave(): Promise<void> {
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
