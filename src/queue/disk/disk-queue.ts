/**
 * The queue on local disk as its users see it: numbers and stamps batches in the order of the
 * calls, refuses what there is no room for, and keeps account of what was taken and released. Group
 * writer, backlog and log do the rest.
 */
import type { Batch, BatchId, BatchOwner, StampedBatch } from '../../model/batch.ts';
import { isNoRoom } from '../../files/disk-failure.ts';
import { AppError } from '../../model/errors.ts';
import type { QueueEvents } from '../../telemetry/queue-events.ts';
import type {
  IdempotencyRecord,
  QueueStatus,
  RememberedAnswer,
  Taken,
  TakeLimits,
} from '../port.ts';
import { Backlog } from './backlog.ts';
import { DiskSpace } from './disk-space.ts';
import { decodeFrame, encodeFrame, measureFrame } from '../frame.ts';
import { GroupWriter } from './group-writer.ts';
import type { KeyTable } from './key-table.ts';
import type { LogHost, OpenedHost } from './log-host.ts';
import type { QueuedBatch } from './memory-tail.ts';
import type { QueueLimits } from './queue-limits.ts';
import { ReceiptClock } from './receipt-clock.ts';
import { recoverKeys } from './recovered-keys.ts';
import { type Refusal, refusalOf, toUnavailable } from './refusal.ts';
import { toError } from '../../std/error-text.ts';

/** Where in the order of the log a batch came to lie. */
export interface Numbered {
  readonly sequence: bigint;
  readonly receivedAtNanos: bigint;
}

const nanosPerMs = 1_000_000n;

export class DiskQueue {
  readonly #limits: QueueLimits;
  readonly #telemetry: QueueEvents;
  readonly #host: LogHost;
  readonly #writer: bigint;
  /** Batches before it were left by an earlier process. */
  readonly #firstOwnSequence: bigint;
  readonly #groups: GroupWriter;
  readonly #backlog: Backlog;
  readonly #keys: KeyTable;
  readonly #space: DiskSpace;
  readonly #clock: ReceiptClock;
  #nextSequence: bigint;
  #released: bigint;
  #quarantinedBatches: number;
  #isMeasuring = false;
  #isClosed = false;
  #isFailureTold = false;
  #isOutOfRoom = false;
  #wakeTaker: (() => void) | undefined;

  constructor(opened: OpenedHost, limits: QueueLimits, telemetry: QueueEvents) {
    const { host, recovery } = opened;
    this.#host = host;
    this.#limits = limits;
    this.#telemetry = telemetry;
    this.#writer = recovery.writer;
    this.#firstOwnSequence = recovery.nextSequence;
    this.#nextSequence = recovery.nextSequence;
    this.#clock = new ReceiptClock(recovery.floorNanos, limits.now);
    this.#released = recovery.released;
    this.#quarantinedBatches = recovery.quarantinedBatches;
    this.#groups = new GroupWriter(host);
    this.#backlog = new Backlog(recovery, limits.memoryTailBytes);
    this.#keys = recoverKeys(recovery, limits);
    const minFreeBytes = limits.minFreeDiskBytes;
    this.#space = new DiskSpace({ minFreeBytes }, recovery.freeBytes, limits.now());
  }

  async append(
    content: Pick<Batch, 'layout' | 'rows' | 'payload'>,
    owner: BatchOwner,
    idempotency?: IdempotencyRecord,
  ): Promise<Numbered> {
    this.#refuseTooLarge(content.payload.length);
    this.#measureSpace();
    const refusal = this.#refusal();
    if (refusal !== undefined) throw this.#refuse(refusal);
    const sequence = this.#nextSequence++;
    const receivedAtNanos = this.#clock.stamp();
    const { layout, rows, payload } = content;
    const id = { writer: this.#writer, sequence };
    const batch: StampedBatch = { id, receivedAtNanos, owner, layout, rows, payload };
    const frameBytes = measureFrame(batch, idempotency);
    this.#space.add(frameBytes);
    try {
      await this.#groups.write({ batch, idempotency, frameBytes });
    } catch (error) {
      throw this.#writeFailed(error);
    }
    this.#becameDurable({ batch, frameBytes }, idempotency);
    return { sequence, receivedAtNanos };
  }

  recall(key: Uint8Array): RememberedAnswer | undefined {
    return this.#keys.recall(key, this.#limits.now());
  }

  /** Of the batches appended here: no other log has it. */
  get writer(): bigint {
    return this.#writer;
  }

  /** Which of these it has and will hand out; in the order of their sequences. */
  holds(ids: readonly BatchId[]): Promise<boolean[]> {
    return this.#host.holds(ids);
  }

  /** A time of receipt: Unix ns, past every one that was given or told as complete. */
  stamp(): bigint {
    return this.#clock.stamp();
  }

  /** One taker at a time. */
  async take(limits: TakeLimits): Promise<Taken | undefined> {
    while (!this.#isClosed) {
      const range = this.#backlog.diskRange;
      const batches =
        range === undefined
          ? this.#backlog.takeFromMemory(limits)
          : await this.#takeFromDisk(limits);
      const first = batches[0];
      if (first !== undefined) {
        const suspect = first.batch.id.sequence < this.#firstOwnSequence;
        return { batches: batches.map(({ batch }) => batch), suspect };
      }
      if (range === undefined) await this.#untilWoken();
    }
    return undefined;
  }

  async release(sequence: bigint): Promise<void> {
    this.#released = sequence;
    await this.#host.release(sequence, this.#clock.last);
    this.#backlog.release(sequence);
  }

  async quarantine(batch: StampedBatch, reason: string): Promise<void> {
    // Since when rows of it may be stored: from there on they are looked for when it is retried.
    const receivedAtNanos = batch.copies?.fromNanos ?? batch.receivedAtNanos;
    const frame = Buffer.from(new ArrayBuffer(measureFrame(batch)));
    encodeFrame(frame, 0, { ...batch, receivedAtNanos });
    this.#quarantinedBatches = await this.#host.quarantine(frame, reason);
  }

  watermarkNanos(): bigint {
    const oldest = this.#backlog.oldestNanos ?? this.#groups.oldestNanos;
    if (oldest !== undefined) return oldest - 1n;
    // Whoever is told "all up to now" must never see a batch stamped before it later.
    return this.#clock.pass();
  }

  async drawLine(): Promise<bigint> {
    const line = this.#clock.passSecond();
    try {
      await this.#host.release(this.#released, this.#clock.last);
    } catch (cause) {
      throw new AppError('unavailable', 'cannot draw a line: the queue cannot write to its disk', {
        cause,
        retryAfterSeconds: 5,
      });
    }
    return line;
  }

  status(): QueueStatus {
    this.#measureSpace();
    const refusal = this.#refusal();
    const oldest = this.#backlog.oldestNanos;
    const { bytes, batches, rows } = this.#backlog;
    return {
      writable: refusal === undefined,
      reason: refusal?.detail ?? '',
      bytes,
      batches,
      rows,
      oldestAgeMs:
        oldest === undefined ? 0 : Math.max(0, this.#limits.now() - Number(oldest / nanosPerMs)),
      quarantinedBatches: this.#quarantinedBatches,
    };
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#wakeTaker?.();
    await this.#groups.idle();
    await this.#host.close(this.#clock.last);
  }

  #becameDurable(queued: QueuedBatch, idempotency: IdempotencyRecord | undefined): void {
    this.#backlog.add(queued);
    if (idempotency !== undefined) {
      const { bodyDigest, answer, key } = idempotency;
      const stampMs = Number(queued.batch.receivedAtNanos / nanosPerMs);
      this.#keys.insert(key, { bodyDigest, answer, stampMs });
    }
    if (this.#isOutOfRoom) this.#telemetry.roomAgain();
    this.#isOutOfRoom = false;
    this.#telemetry.batchAppended(queued.frameBytes);
    this.#wakeTaker?.();
  }

  async #takeFromDisk(limits: TakeLimits): Promise<QueuedBatch[]> {
    const range = this.#backlog.diskRange;
    if (range === undefined) return [];
    // What an earlier process left is never taken together with what this one appended.
    const isOwn = range.fromSequence >= this.#firstOwnSequence;
    const untilSequence =
      isOwn || range.untilSequence < this.#firstOwnSequence
        ? range.untilSequence
        : this.#firstOwnSequence;
    const { frames, damage } = await this.#host.read({ ...range, untilSequence, ...limits });
    for (const each of damage) this.#telemetry.damageFound(each);
    const taken = frames.map((frame) => ({
      batch: decodeFrame(Buffer.from(frame.buffer, frame.byteOffset, frame.length)),
      frameBytes: frame.length,
    }));
    this.#backlog.tookFromDisk({ ...range, untilSequence }, taken);
    return taken;
  }

  #untilWoken(): Promise<void> {
    return new Promise((resolve) => {
      this.#wakeTaker = () => {
        this.#wakeTaker = undefined;
        resolve();
      };
    });
  }

  #refuseTooLarge(payloadBytes: number): void {
    const { maxBatchBytes } = this.#limits;
    if (payloadBytes <= maxBatchBytes) return;
    throw new AppError(
      'too_large',
      `cannot queue ${payloadBytes} bytes at once: the limit is ${maxBatchBytes}; ` +
        'send smaller batches',
    );
  }

  #refusal(): Refusal | undefined {
    const { failure, pendingBatches, pendingBytes } = this.#groups;
    return refusalOf(
      {
        isClosed: this.#isClosed,
        failure,
        pendingBatches,
        bytes: this.#backlog.bytes + pendingBytes,
        missingDiskBytes: this.#space.missingBytes,
      },
      this.#limits,
    );
  }

  #refuse(refusal: Refusal): AppError {
    this.#telemetry.appendRefused({ reason: refusal.reason });
    return toUnavailable(refusal);
  }

  #writeFailed(error: unknown): AppError {
    if (isNoRoom(error)) {
      if (!this.#isOutOfRoom) this.#telemetry.outOfRoom(error as Error);
      this.#isOutOfRoom = true;
      // Whatever the file system reports as free: it has just refused a write.
      this.#space.measured(0, this.#limits.now());
      return this.#refuse({ reason: 'disk', detail: String(error) });
    }
    if (!this.#isFailureTold) {
      this.#isFailureTold = true;
      const failure = toError(error);
      this.#telemetry.failed(failure);
      this.#limits.onFailed?.(failure);
    }
    return new AppError('unavailable', 'cannot take in data: the queue cannot write to its disk', {
      cause: error,
      retryAfterSeconds: 3,
    });
  }

  #measureSpace(): void {
    if (this.#isMeasuring || this.#isClosed || !this.#space.isStale(this.#limits.now())) return;
    this.#isMeasuring = true;
    const measured = (freeBytes: number) => {
      this.#isMeasuring = false;
      this.#space.measured(freeBytes, this.#limits.now());
    };
    // A disk that cannot even be measured has no room.
    this.#host.freeBytes().then(measured, () => measured(0));
  }
}
