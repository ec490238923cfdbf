/** The batches of a shard in memory: those that wait, and those taken and not released. */
import type { StampedBatch } from '../../model/batch.ts';
import type { Taken, TakeLimits } from '../port.ts';
import type { HeldBatch } from './assembler.ts';

export class ShardBacklog {
  #waiting: HeldBatch[] = [];
  #taken: HeldBatch[] = [];
  #rows = 0;
  #bytes = 0;

  get rows(): number {
    return this.#rows;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get count(): number {
    return this.#waiting.length + this.#taken.length;
  }

  /** Time of receipt of the oldest batch, Unix ns. */
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

  /** @returns undefined if no batch waits */
  take({ maxRows, maxBytes }: TakeLimits): Taken | undefined {
    const first = this.#waiting[0];
    if (first === undefined) return undefined;
    let rows = 0;
    let bytes = 0;
    let count = 0;
    for (const { batch, isSuspect } of this.#waiting) {
      const { length } = batch.payload;
      const isTooMuch = rows + batch.rows > maxRows || bytes + length > maxBytes;
      if (isSuspect !== first.isSuspect || (count > 0 && isTooMuch)) break;
      rows += batch.rows;
      bytes += length;
      count++;
    }
    const taken = this.#waiting.splice(0, count);
    // Too many, in small batches, for the arguments of one call.
    this.#taken = this.#taken.concat(taken);
    return { batches: taken.map(({ batch }) => batch), bytes, suspect: first.isSuspect };
  }

  /** The taken batches up to this one. @throws Error if it was not taken */
  takenUntil(last: StampedBatch | undefined): readonly HeldBatch[] {
    const index = this.#taken.findLastIndex(({ batch: { id } }) => {
      return id.sequence === last?.id.sequence && id.writer === last.id.writer;
    });
    if (index < 0) throw new Error('cannot release a batch that was not taken');
    return this.#taken.slice(0, index + 1);
  }

  /** Removes the first `count` taken batches. */
  release(count: number): void {
    for (const { batch } of this.#taken.splice(0, count)) {
      this.#rows -= batch.rows;
      this.#bytes -= batch.payload.length;
    }
  }
}
