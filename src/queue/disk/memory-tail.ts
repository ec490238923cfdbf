/**
 * The newest batches of the queue, kept in memory so that a drain that keeps up never reads the
 * disk. Bounded: when it overflows, the queue lets go of it and reads the log instead.
 */
import type { StampedBatch } from '../../model/batch.ts';
import type { TakeLimits } from '../port.ts';
import { freeMemory, ownMemory } from '../../std/free-memory.ts';

export interface QueuedBatch {
  readonly batch: StampedBatch;
  /** Bytes of its frame on disk. */
  readonly frameBytes: number;
}

/** Memory a batch takes besides its payload, roughly. */
const overheadBytes = 512;

export class MemoryTail {
  #batches: QueuedBatch[] = [];
  #bytes = 0;
  #frameBytes = 0;

  /** Memory taken, roughly. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Bytes the same batches take on disk. */
  get frameBytes(): number {
    return this.#frameBytes;
  }

  get oldest(): StampedBatch | undefined {
    return this.#batches[0]?.batch;
  }

  push(queued: QueuedBatch): void {
    this.#batches.push(queued);
    this.#bytes += sizeOf(queued);
    this.#frameBytes += queued.frameBytes;
  }

  /** Removes the oldest batches up to the limits, but at least one where there is one. */
  take(limits: TakeLimits): QueuedBatch[] {
    let count = 0;
    let rows = 0;
    let bytes = 0;
    for (const queued of this.#batches) {
      rows += queued.batch.rows;
      bytes += queued.frameBytes;
      if (count > 0 && (rows > limits.maxRows || bytes > limits.maxBytes)) break;
      this.#bytes -= sizeOf(queued);
      this.#frameBytes -= queued.frameBytes;
      count++;
    }
    return this.#batches.splice(0, count);
  }

  /** Lets go of all of it, memory included. */
  clear(): void {
    freeMemory(this.#batches.map(({ batch }) => ownMemory(batch.payload)));
    this.#batches = [];
    this.#bytes = 0;
    this.#frameBytes = 0;
  }
}

function sizeOf(queued: QueuedBatch): number {
  return queued.batch.payload.length + overheadBytes;
}
