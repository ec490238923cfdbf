/**
 * Group commit: batches that arrive while the log syncs are written and synced together in the next
 * group, one group at a time. A full disk rejects the pending batches; any other failure is final.
 */
import type { StampedBatch } from '../../model/batch.ts';
import type { IdempotencyRecord } from '../port.ts';
import { isNoRoom } from '../../files/disk-failure.ts';
import { encodeFrame } from '../frame.ts';
import { type Remote, transfer } from '../../channel/channel.ts';
import type { LogMethods } from './log.ts';
import { toError } from '../../std/error-text.ts';

export interface GroupEntry {
  readonly batch: StampedBatch;
  readonly idempotency: IdempotencyRecord | undefined;
  readonly frameBytes: number;
}

interface Waiting {
  readonly entry: GroupEntry;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

/** A larger batch is a group by itself. */
const groupBytes = 8 * 1024 * 1024;
const smallestBufferBytes = 64 * 1024;

export class GroupWriter {
  readonly #log: Remote<LogMethods>;
  #spare: ArrayBuffer | undefined;
  #waiting: Waiting[] = [];
  #inFlight: Waiting[] = [];
  #pendingBytes = 0;
  #scheduled = false;
  #failure: Error | undefined;
  #onIdle: (() => void) | undefined;

  constructor(log: Remote<LogMethods>) {
    this.#log = log;
  }

  /** The final failure, after which nothing is written. */
  get failure(): Error | undefined {
    return this.#failure;
  }

  get pendingBatches(): number {
    return this.#waiting.length + this.#inFlight.length;
  }

  get pendingBytes(): number {
    return this.#pendingBytes;
  }

  /** Receive time of the oldest batch not known to be durable, failed ones included. */
  get oldestNanos(): bigint | undefined {
    return (this.#inFlight[0] ?? this.#waiting[0])?.entry.batch.receivedAtNanos;
  }

  /** Resolves once the entry is durable, in the order of the calls. */
  write(entry: GroupEntry): Promise<void> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    this.#pendingBytes += entry.frameBytes;
    const written = new Promise<void>((resolve, reject) => {
      this.#waiting.push({ entry, resolve, reject });
    });
    if (!this.#scheduled && this.#inFlight.length === 0) {
      this.#scheduled = true;
      // After the current round of I/O events, so that its requests share one sync.
      setImmediate(() => void this.#writeGroup());
    }
    return written;
  }

  /** Resolves once nothing is pending, or after a final failure. */
  idle(): Promise<void> {
    if (this.pendingBatches === 0 || this.#failure !== undefined) return Promise.resolve();
    return new Promise((resolve) => {
      this.#onIdle = resolve;
    });
  }

  async #writeGroup(): Promise<void> {
    this.#scheduled = false;
    while (this.#waiting.length > 0) {
      const { count, bytes } = measureGroup(this.#waiting);
      this.#inFlight = this.#waiting.splice(0, count);
      const buffer = this.#bufferFor(bytes);
      encodeGroup(Buffer.from(buffer), this.#inFlight);
      try {
        this.#keepSpare(await this.#log.append(transfer(buffer, [buffer]), bytes));
      } catch (thrown) {
        const error = toError(thrown);
        if (!isNoRoom(error)) return this.#fail(error);
        this.#refuse(error);
        continue;
      }
      const written = this.#inFlight;
      this.#inFlight = [];
      this.#pendingBytes -= bytes;
      for (const { resolve } of written) resolve();
    }
    this.#onIdle?.();
  }

  /** The log kept none of them. */
  #refuse(error: Error): void {
    const refused = [...this.#inFlight, ...this.#waiting];
    this.#inFlight = [];
    this.#waiting = [];
    this.#pendingBytes = 0;
    for (const { reject } of refused) reject(error);
  }

  /** Pending entries still count: the disk may hold them, and a restart may recover them. */
  #fail(error: Error): void {
    this.#failure = error;
    for (const { reject } of [...this.#inFlight, ...this.#waiting]) reject(error);
    this.#onIdle?.();
  }

  #bufferFor(bytes: number): ArrayBuffer {
    const spare = this.#spare;
    this.#spare = undefined;
    if (spare !== undefined && spare.byteLength >= bytes) return spare;
    // Powers of two: a busy queue soon stops allocating.
    const size = 2 ** Math.ceil(Math.log2(Math.max(bytes, smallestBufferBytes)));
    return new ArrayBuffer(bytes > groupBytes ? bytes : size);
  }

  #keepSpare(buffer: ArrayBuffer): void {
    if (buffer.byteLength <= groupBytes) this.#spare = buffer;
  }
}

function measureGroup(waiting: readonly Waiting[]): { count: number; bytes: number } {
  let count = 0;
  let bytes = 0;
  for (const { entry } of waiting) {
    if (count > 0 && bytes + entry.frameBytes > groupBytes) break;
    bytes += entry.frameBytes;
    count++;
  }
  return { count, bytes };
}

function encodeGroup(target: Buffer, group: readonly Waiting[]): void {
  let offset = 0;
  for (const { entry } of group) {
    offset = encodeFrame(target, offset, entry.batch, entry.idempotency);
  }
}
