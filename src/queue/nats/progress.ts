/**
 * How far the whole queue is stored, put together from what the holders of all shards tell. It
 * knows nothing of who they are.
 */
import type { Progress } from '../port.ts';
import type { NatsLink } from './connection.ts';
import type { ShardProgress } from './names.ts';

export interface ProgressBoard extends Progress {
  /** Unix ns: what this process has heard of one shard; 0 where it heard nothing. */
  shardNanos(shard: number): bigint;
  /** The highest that this process has heard of; 0 where it heard nothing. */
  shardEpoch(shard: number): bigint;
  close(): void;
}

/** Listens from now on; the watermark is 0 until each shard was heard of. */
export function openProgress({ connection, names, options }: NatsLink): ProgressBoard {
  const heard = new HeardProgress(options.shards);
  const subscription = connection.subscribe(names.progress('*'), {
    callback(error, message) {
      const progress = error === null ? parse(message.data) : undefined;
      if (progress !== undefined) heard.hear(progress);
    },
  });
  return {
    watermarkNanos: () => heard.watermarkNanos(),
    newestReceiptNanos: (streamId) => heard.newestReceiptNanos(streamId),
    shardNanos: (shard) => heard.shardNanos(shard),
    shardEpoch: (shard) => heard.shardEpoch(shard),
    close: () => subscription.unsubscribe(),
  };
}

interface HeardShard {
  readonly epoch: bigint;
  readonly number: number;
  readonly watermarkNanos: bigint;
}

/** What was heard; pure. */
export class HeardProgress implements Progress {
  readonly #expected: number;
  /** More than are expected where other nodes have more already. */
  readonly #shards = new Map<number, HeardShard>();
  readonly #newest = new Map<string, bigint>();
  /** Of all streams: until then something may have been stored that this process was not told. */
  #newestOfAny = 0n;
  #newestOfAll = 0n;

  #watermarkNanos = 0n;

  constructor(shards: number) {
    this.#expected = shards;
  }

  hear(progress: ShardProgress): void {
    const { shard, number } = progress;
    const epoch = BigInt(progress.epoch);
    const known = this.#shards.get(shard);
    if (known !== undefined && epoch < known.epoch) return;
    const watermarkNanos = BigInt(progress.watermarkNanos);
    // Newest first: whoever sees the watermark must see what it vouches for.
    for (const [streamId, nanos] of Object.entries(progress.newestReceipts)) {
      this.#note(streamId, BigInt(nanos));
    }
    // What was told in between is lost: any stream may have got something until then.
    const isNext = known?.epoch === epoch && known.number + 1 === number;
    if (!isNext) this.#note('*', watermarkNanos);
    this.#shards.set(shard, {
      epoch,
      number,
      watermarkNanos: later(watermarkNanos, known?.watermarkNanos ?? 0n),
    });
    this.#goOn();
  }

  shardNanos(shard: number): bigint {
    return this.#shards.get(shard)?.watermarkNanos ?? 0n;
  }

  shardEpoch(shard: number): bigint {
    return this.#shards.get(shard)?.epoch ?? 0n;
  }

  watermarkNanos(): bigint {
    return this.#watermarkNanos;
  }

  newestReceiptNanos(streamId: string | undefined): bigint {
    if (streamId === undefined) return this.#newestOfAll;
    return later(this.#newest.get(streamId) ?? 0n, this.#newestOfAny);
  }

  /** Not back, where one more shard was heard of. */
  #goOn(): void {
    for (let shard = 0; shard < this.#expected; shard++) if (!this.#shards.has(shard)) return;
    let least: bigint | undefined;
    for (const { watermarkNanos } of this.#shards.values()) {
      if (least === undefined || watermarkNanos < least) least = watermarkNanos;
    }
    this.#watermarkNanos = later(this.#watermarkNanos, least ?? 0n);
  }

  #note(streamId: string, nanos: bigint): void {
    this.#newestOfAll = later(this.#newestOfAll, nanos);
    if (streamId === '*') this.#newestOfAny = later(this.#newestOfAny, nanos);
    else this.#newest.set(streamId, later(this.#newest.get(streamId) ?? 0n, nanos));
  }
}

/** @returns undefined for what is none of ours. */
function parse(data: Uint8Array): ShardProgress | undefined {
  try {
    const told = JSON.parse(Buffer.from(data).toString()) as Partial<ShardProgress>;
    const { shard, epoch, number, watermarkNanos, newestReceipts } = told;
    const isWhole = [shard, number].every(isCount) && typeof newestReceipts === 'object';
    const nanos = [epoch, watermarkNanos, ...Object.values(newestReceipts ?? {})];
    if (!isWhole || !nanos.every((text) => /^\d+$/.test(String(text)))) return undefined;
    return told as ShardProgress;
  } catch {
    return undefined;
  }
}

function isCount(value: unknown): boolean {
  return Number.isInteger(value) && Number(value) >= 0;
}

function later(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}
