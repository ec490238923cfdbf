/**
 * The batches of a shard that are in memory: those that wait to be taken, and those taken and not
 * released. Pure bookkeeping.
 */
import type { StampedBatch } from '../../model/batch.ts';
import type { Taken, TakeLimits } from '../port.ts';
import type { HeldBatch } from './assembler.ts';

export class ShardBacklog {
  #waiting: HeldBatch[] = [];
  #taken: HeldBatch[] = [];
  #rows = 0;
  #bytes = 0;

  /** Of all that waits or is taken. */
  get rows(): number {
    return this.#rows;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get count(): number {
    return this.#waiting.length + this.#taken.length;
  }

  /** Unix ns, of the oldest batch; undefined where there is none. */
  get oldestNanos(): bigint | undefined {
    return (this.#taken[0] ?? this.#waiting[0])?.batch.receivedAtNanos;
  }

  add(batches: readonly HeldBatch[]): void {
    for (const held of batches) {
      this.#waiting.push(held);
      this.#rows += held.batch.rows;
      this.#bytes += held.batch.payload.length;
    }
  }

  /** @returns undefined where nothing waits. */
  take({ maxRows, maxBytes }: TakeLimits): Taken | undefined {
    const first = this.#waiting[0];
    if (first === undefined) return undefined;
    let rows = 0;
    let bytes = 0;
    let count = 0;
    for (const { batch, isSuspect } of this.#waiting) {
      rows += batch.rows;
      bytes += batch.payload.length;
      const isTooMuch = rows > maxRows || bytes > maxBytes;
      if (isSuspect !== first.isSuspect || (count > 0 && isTooMuch)) break;
      count++;
    }
    const taken = this.#waiting.splice(0, count);
    this.#taken.push(...taken);
    return { batches: taken.map(({ batch }) => batch), suspect: first.isSuspect };
  }

  /** All that were taken up to this one. @throws Error where it was not. */
  takenUntil(last: StampedBatch | undefined): readonly HeldBatch[] {
    const index = this.#taken.findLastIndex(({ batch: { id } }) => {
      return id.sequence === last?.id.sequence && id.writer === last.id.writer;
    });
    if (index < 0) throw new Error('cannot release a batch that was not taken');
    return this.#taken.slice(0, index + 1);
  }

  /** Lets go of the first `count` that were taken. */
  release(count: number): void {
    for (const { batch } of this.#taken.splice(0, count)) {
      this.#rows -= batch.rows;
      this.#bytes -= batch.payload.length;
    }
  }
}
