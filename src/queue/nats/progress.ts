/** How far the queue is stored: published by the holder of each shard, followed by every node. */
import type { StampedBatch } from '../../model/batch.ts';
import { larger } from '../../std/big-integers.ts';
import type { Progress } from '../port.ts';
import type { NatsLink } from './connection.ts';

/** What a holder publishes on its shard's progress subject, as JSON. */
export interface ShardProgress {
  readonly shard: number;
  /** Decimal epoch of the holder. */
  readonly epoch: string;
  /** Counts the messages of this epoch from 0: a gap is a lost message. */
  readonly number: number;
  /** Decimal Unix ns, as in `Progress`, of this shard. */
  readonly watermarkNanos: string;
  /**
   * Decimal Unix ns by stream id: newest time of receipt of logs stored since the last message.
   * `*` = in any stream.
   */
  readonly newestReceipts: Readonly<Record<string, string>>;
}

/** The watermark is 0 until a message of each shard was received. */
export function openProgress({ connection, names, settings }: NatsLink) {
  const board = new ProgressBoard(settings.shards);
  const subscription = connection.subscribe(names.progress('*'), {
    callback(error, message) {
      const progress = error === null ? parse(message.data) : undefined;
      if (progress !== undefined) board.apply(progress);
    },
  });
  return { board, close: () => subscription.unsubscribe() };
}

interface ShardView {
  readonly epoch: bigint;
  readonly number: number;
  readonly watermarkNanos: bigint;
}

export class ProgressBoard implements Progress {
  readonly #expected: number;
  /** More than expected while shards are being added. */
  readonly #shards = new Map<number, ShardView>();
  readonly #newest = new Map<string, bigint>();
  /** Applies to every stream, since a lost message may have been about any of them. */
  #newestOfAny = 0n;
  #newestOfAll = 0n;
  #watermarkNanos = 0n;

  constructor(shards: number) {
    this.#expected = shards;
  }

  apply(progress: ShardProgress): void {
    const { shard, number } = progress;
    const epoch = BigInt(progress.epoch);
    const known = this.#shards.get(shard);
    if (known !== undefined && epoch < known.epoch) return;
    const watermarkNanos = BigInt(progress.watermarkNanos);
    // Before the watermark: a reader that sees it must see the receipts it covers.
    for (const [streamId, nanos] of Object.entries(progress.newestReceipts)) {
      this.#note(streamId, BigInt(nanos));
    }
    // The lost message may have been about any stream.
    const isNext = known?.epoch === epoch && known.number + 1 === number;
    if (!isNext) this.#note('*', watermarkNanos);
    this.#shards.set(shard, {
      epoch,
      number,
      watermarkNanos: larger(watermarkNanos, known?.watermarkNanos ?? 0n),
    });
    this.#advance();
  }

  /** Unix ns: watermark of one shard; 0 before the first message. */
  shardNanos(shard: number): bigint {
    return this.#shards.get(shard)?.watermarkNanos ?? 0n;
  }

  /** Highest epoch of one shard; 0 before the first message. */
  shardEpoch(shard: number): bigint {
    return this.#shards.get(shard)?.epoch ?? 0n;
  }

  watermarkNanos(): bigint {
    return this.#watermarkNanos;
  }

  newestReceiptNanos(streamId: string | undefined): bigint {
    if (streamId === undefined) return this.#newestOfAll;
    return larger(this.#newest.get(streamId) ?? 0n, this.#newestOfAny);
  }

  /** Never goes back, also when a further shard appears. */
  #advance(): void {
    for (let shard = 0; shard < this.#expected; shard++) if (!this.#shards.has(shard)) return;
    let least: bigint | undefined;
    for (const { watermarkNanos } of this.#shards.values()) {
      if (least === undefined || watermarkNanos < least) least = watermarkNanos;
    }
    this.#watermarkNanos = larger(this.#watermarkNanos, least ?? 0n);
  }

  #note(streamId: string, nanos: bigint): void {
    this.#newestOfAll = larger(this.#newestOfAll, nanos);
    if (streamId === '*') this.#newestOfAny = larger(this.#newestOfAny, nanos);
    else this.#newest.set(streamId, larger(this.#newest.get(streamId) ?? 0n, nanos));
  }
}

/** @returns undefined if it is no progress of Weir */
function parse(data: Uint8Array): ShardProgress | undefined {
  try {
    const found = JSON.parse(Buffer.from(data).toString()) as Partial<ShardProgress>;
    const { shard, epoch, number, watermarkNanos, newestReceipts } = found;
    const isValid = [shard, number].every(isCount) && typeof newestReceipts === 'object';
    const nanos = [epoch, watermarkNanos, ...Object.values(newestReceipts ?? {})];
    if (!isValid || !nanos.every((text) => /^\d+$/.test(String(text)))) return undefined;
    return found as ShardProgress;
  } catch {
    return undefined;
  }
}

function isCount(value: unknown): boolean {
  return Number.isInteger(value) && Number(value) >= 0;
}

const minPauseMs = 50;
/** Repeats unchanged progress, for nodes that started since. */
const repeatMs = 2000;
/**
 * Above it, `*` replaces the list: at 61 bytes each they must fit into the smallest max_payload.
 */
const maxStreams = 1000;

export class ProgressPublisher {
  readonly #link: NatsLink;
  readonly #shard: number;
  readonly #epoch: bigint;
  readonly #isHeld: () => boolean;
  readonly #newest = new Map<string, bigint>();
  readonly #repeating: NodeJS.Timeout;
  #watermarkNanos = 0n;
  #number = 0;
  #publishedMs = Number.NEGATIVE_INFINITY;
  #waiting: NodeJS.Timeout | undefined;

  /** @param isHeld whether this process still holds the shard */
  constructor(link: NatsLink, shard: number, epoch: bigint, isHeld: () => boolean) {
    this.#link = link;
    this.#shard = shard;
    this.#epoch = epoch;
    this.#isHeld = isHeld;
    this.#repeating = setInterval(() => {
      if (performance.now() - this.#publishedMs >= repeatMs) this.#publish();
    }, repeatMs / 2);
  }

  /** To be called before the watermark passes these batches. */
  stored(batches: readonly StampedBatch[]): void {
    for (const { layout, owner, receivedAtNanos } of batches) {
      if (layout !== 'logs/1') continue;
      const known = this.#newest.get(owner.streamId) ?? 0n;
      if (receivedAtNanos > known) this.#newest.set(owner.streamId, receivedAtNanos);
    }
  }

  /** @param watermarkNanos Unix ns, as in `Progress`, of this shard. */
  reached(watermarkNanos: bigint): void {
    if (watermarkNanos <= this.#watermarkNanos) return;
    this.#watermarkNanos = watermarkNanos;
    const pauseMs = this.#publishedMs + minPauseMs - performance.now();
    if (pauseMs <= 0) this.#publish();
    else this.#waiting ??= setTimeout(() => this.#publish(), pauseMs);
  }

  /** Publishes what is pending. */
  close(): void {
    if (this.#waiting !== undefined) this.#publish();
    clearInterval(this.#repeating);
  }

  #publish(): void {
    clearTimeout(this.#waiting);
    this.#waiting = undefined;
    if (this.#watermarkNanos === 0n || !this.#isHeld() || !this.#link.isConnected()) return;
    this.#publishedMs = performance.now();
    const progress: ShardProgress = {
      shard: this.#shard,
      epoch: this.#epoch.toString(),
      number: this.#number++,
      watermarkNanos: this.#watermarkNanos.toString(),
      newestReceipts: this.#takeNewest(),
    };
    const subject = this.#link.names.progress(this.#shard);
    this.#link.connection.publish(subject, JSON.stringify(progress));
  }

  #takeNewest(): Record<string, string> {
    const newest = this.#newest;
    const receipts: [string, string][] =
      newest.size > maxStreams
        ? [['*', this.#watermarkNanos.toString()]]
        : Array.from(newest, ([streamId, nanos]) => [streamId, nanos.toString()]);
    newest.clear();
    return Object.fromEntries(receipts);
  }
}
