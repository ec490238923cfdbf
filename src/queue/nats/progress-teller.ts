/** Tells every node how far one shard is stored, as its holder knows it. */
import type { StampedBatch } from '../../model/batch.ts';
import type { NatsLink } from './connection.ts';
import type { ShardProgress } from './names.ts';

const leastPauseMs = 50;
/** What did not change is told again so often, for those who came later. */
const repeatMs = 2000;
/**
 * Beyond so many streams it is told of all of them at once: each takes 61 bytes, and all must fit
 * into one message of the smallest server that is used, of 64 KiB.
 */
const maxStreams = 1000;

export class ProgressTeller {
  readonly #link: NatsLink;
  readonly #shard: number;
  readonly #epoch: bigint;
  readonly #isHeld: () => boolean;
  readonly #newest = new Map<string, bigint>();
  readonly #repeating: NodeJS.Timeout;
  #watermarkNanos = 0n;
  #number = 0;
  #toldMs = Number.NEGATIVE_INFINITY;
  #waiting: NodeJS.Timeout | undefined;

  /** @param isHeld asked before each telling: another may have gone on meanwhile. */
  constructor(link: NatsLink, shard: number, epoch: bigint, isHeld: () => boolean) {
    this.#link = link;
    this.#shard = shard;
    this.#epoch = epoch;
    this.#isHeld = isHeld;
    this.#repeating = setInterval(() => {
      if (performance.now() - this.#toldMs >= repeatMs) this.#tell();
    }, repeatMs / 2);
  }

  /** To be called before the watermark passes these. */
  stored(batches: readonly StampedBatch[]): void {
    for (const { layout, owner, receivedAtNanos } of batches) {
      // Samples are no logs.
      if (layout !== 'logs/1') continue;
      const known = this.#newest.get(owner.streamId) ?? 0n;
      if (receivedAtNanos > known) this.#newest.set(owner.streamId, receivedAtNanos);
    }
  }

  /** @param watermarkNanos Unix ns, as in `Progress`, of this shard. */
  reached(watermarkNanos: bigint): void {
    if (watermarkNanos <= this.#watermarkNanos) return;
    this.#watermarkNanos = watermarkNanos;
    const pauseMs = this.#toldMs + leastPauseMs - performance.now();
    if (pauseMs <= 0) this.#tell();
    else this.#waiting ??= setTimeout(() => this.#tell(), pauseMs);
  }

  /** Tells what is not told yet. */
  close(): void {
    if (this.#waiting !== undefined) this.#tell();
    clearInterval(this.#repeating);
  }

  #tell(): void {
    clearTimeout(this.#waiting);
    this.#waiting = undefined;
    if (this.#watermarkNanos === 0n || !this.#isHeld() || !this.#link.isConnected()) return;
    this.#toldMs = performance.now();
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
    const told: [string, string][] =
      newest.size > maxStreams
        ? [['*', this.#watermarkNanos.toString()]]
        : Array.from(newest, ([streamId, nanos]) => [streamId, nanos.toString()]);
    newest.clear();
    return Object.fromEntries(told);
  }
}
