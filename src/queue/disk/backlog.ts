/**
 * Tracks durable batches until they are released: those in memory, those only on disk, and those
 * taken. Does no I/O.
 */
import type { StampedBatch } from '../../model/batch.ts';
import type { TakeLimits } from '../port.ts';
import { freeMemory, ownMemory } from '../../std/free-memory.ts';
import type { Recovery } from './log-directory.ts';

export interface QueuedBatch {
  readonly batch: StampedBatch;
  /** Bytes of its frame on disk. */
  readonly frameBytes: number;
}

export interface DiskRange {
  readonly fromSequence: bigint;
  readonly untilSequence: bigint;
}

/** A batch that is taken and not released. */
interface Held {
  readonly sequence: bigint;
  readonly receivedAtNanos: bigint;
  readonly rows: number;
  readonly frameBytes: number;
  /** Of its payload, freed on release. */
  readonly memory: ArrayBuffer | undefined;
}

export class Backlog {
  readonly #maxTailBytes: number;
  readonly #tail = new MemoryTail();
  /** First sequence in the tail; undefined while new batches are left on disk. */
  #tailFrom: bigint | undefined;
  /** Of batches on disk only: next sequence, bytes, and a lower bound of the receive times. */
  #diskFrom: bigint;
  #diskBytes: number;
  #diskNanos: bigint;
  /** After the last durable sequence. */
  #end: bigint;
  #held: Held[] = [];
  #batches: number;
  #rows: number;
  #bytes: number;

  constructor(recovery: Recovery, maxTailBytes: number) {
    this.#maxTailBytes = maxTailBytes;
    this.#diskFrom = recovery.released + 1n;
    this.#diskBytes = recovery.bytes;
    this.#diskNanos = recovery.oldestNanos ?? 0n;
    this.#end = recovery.bytes === 0 ? this.#diskFrom : recovery.nextSequence;
    this.#batches = recovery.batches;
    this.#rows = recovery.rows;
    this.#bytes = recovery.bytes;
  }

  get batches(): number {
    return this.#batches;
  }

  get rows(): number {
    return this.#rows;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** A lower bound of the receive times of unreleased batches; undefined when there is none. */
  get oldestNanos(): bigint | undefined {
    const held = this.#held[0]?.receivedAtNanos;
    if (held !== undefined) return held;
    return this.diskRange === undefined ? this.#tail.oldest?.receivedAtNanos : this.#diskNanos;
  }

  /** What must be read from disk before the tail may be taken. */
  get diskRange(): DiskRange | undefined {
    const untilSequence = this.#tailFrom ?? this.#end;
    if (this.#diskFrom >= untilSequence) return undefined;
    return { fromSequence: this.#diskFrom, untilSequence };
  }

  /** Adds a batch that has become durable; in sequence order. */
  add(queued: QueuedBatch): void {
    const { sequence } = queued.batch.id;
    this.#openTail(sequence);
    this.#end = sequence + 1n;
    this.#batches++;
    this.#rows += queued.batch.rows;
    this.#bytes += queued.frameBytes;
    if (this.#tailFrom === undefined) {
      this.#diskBytes += queued.frameBytes;
      return;
    }
    this.#tail.push(queued);
    if (this.#tail.bytes > this.#maxTailBytes) this.#spill();
  }

  takeFromMemory(limits: TakeLimits): QueuedBatch[] {
    const taken = this.#tail.take(limits);
    this.#hold(taken, ({ payload }) => ownMemory(payload));
    return taken;
  }

  /** @param taken the batches read from `range`; none where it holds no more readable ones */
  takenFromDisk(range: DiskRange, taken: readonly QueuedBatch[]): void {
    const last = taken.at(-1)?.batch;
    for (const { frameBytes } of taken) this.#diskBytes -= frameBytes;
    const nothingLeft = last === undefined || this.#diskBytes <= 0;
    this.#diskFrom = nothingLeft ? range.untilSequence : last.id.sequence + 1n;
    if (last !== undefined) this.#diskNanos = last.receivedAtNanos + 1n;
    // Buffers that were read for this take are not shared.
    this.#hold(taken, ({ payload }) => payload.buffer as ArrayBuffer);
    if (this.diskRange === undefined) this.#diskBytes = 0;
    this.#resetIfEmpty();
  }

  release(sequence: bigint): void {
    const kept = this.#held.findIndex((each) => each.sequence > sequence);
    const released = this.#held.splice(0, kept < 0 ? this.#held.length : kept);
    for (const each of released) {
      this.#batches--;
      this.#rows -= each.rows;
      this.#bytes -= each.frameBytes;
    }
    // Batches read from disk together share a buffer.
    const needed = new Set(this.#held.map(({ memory }) => memory));
    freeMemory(released.map(({ memory }) => memory).filter((each) => !needed.has(each)));
    this.#resetIfEmpty();
  }

  /** Keeps batches in memory again once little is left on disk, so that the drain catches up. */
  #openTail(sequence: bigint): void {
    if (this.#tailFrom !== undefined) return;
    if (this.diskRange === undefined) this.#diskFrom = sequence;
    else if (this.#diskBytes > this.#maxTailBytes / 4) return;
    this.#tailFrom = sequence;
  }

  /** Drops the tail, whose batches are on disk as well. */
  #spill(): void {
    const oldest = this.#tail.oldest;
    if (this.diskRange === undefined && oldest !== undefined) {
      this.#diskFrom = oldest.id.sequence;
      this.#diskNanos = oldest.receivedAtNanos;
    }
    this.#diskBytes += this.#tail.frameBytes;
    this.#tail.clear();
    this.#tailFrom = undefined;
  }

  #hold(
    taken: readonly QueuedBatch[],
    memoryOf: (batch: StampedBatch) => ArrayBuffer | undefined,
  ): void {
    for (const { batch, frameBytes } of taken) {
      const { receivedAtNanos, rows } = batch;
      const memory = memoryOf(batch);
      this.#held.push({ sequence: batch.id.sequence, receivedAtNanos, rows, frameBytes, memory });
    }
  }

  /** Damaged batches are counted at recovery but never taken: an empty queue resets the counts. */
  #resetIfEmpty(): void {
    const isEmpty = this.#held.length === 0 && this.diskRange === undefined;
    if (!isEmpty || this.#tail.oldest !== undefined) return;
    this.#batches = 0;
    this.#rows = 0;
    this.#bytes = 0;
  }
}

/** Approximate memory of a batch besides its payload. */
const overheadBytes = 512;

/**
 * The newest batches, so that a drain that keeps up never reads the disk. Over its limit, the
 * backlog drops them and reads them from the log instead.
 */
class MemoryTail {
  #batches: QueuedBatch[] = [];
  #bytes = 0;
  #frameBytes = 0;

  /** Approximate memory. */
  get bytes(): number {
    return this.#bytes;
  }

  /** On disk. */
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

  /** Removes the oldest batches up to the limits, at least one where there is one. */
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
