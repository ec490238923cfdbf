/**
 * The queue on local disk: numbers and stamps batches in call order, refuses those it has no room
 * for, and tracks what was taken and released.
 */
import { type Remote, transfer } from '../../channel/channel.ts';
import { isNoRoom } from '../../files/disk-failure.ts';
import type { Batch, BatchId, BatchOwner, StampedBatch } from '../../model/batch.ts';
import { AppError } from '../../model/errors.ts';
import { messageOf, toError } from '../../std/error-text.ts';
import type { QueueEvents } from '../../telemetry/queue-events.ts';
import { decodeFrame, encodeFrame, measureFrame } from '../frame.ts';
import {
  type IdempotencyRecord,
  type QueueStatus,
  refuseTooLarge,
  type RememberedAnswer,
  type Taken,
  type TakeLimits,
} from '../port.ts';
import { Backlog, type DiskRange, type QueuedBatch } from './backlog.ts';
import { Capacity, type Refusal, toUnavailable } from './capacity.ts';
import { GroupWriter } from './group-writer.ts';
import { KeyTable } from './key-table.ts';
import type { LogMethods } from './log.ts';
import { ReceiptClock } from './receipt-clock.ts';
import type { DiskQueueSettings, Recovery } from './log-directory.ts';

export interface OpenedLog {
  readonly log: Remote<LogMethods>;
  readonly recovery: Recovery;
  /** Ends the thread of the closed log. */
  end(): Promise<void>;
}

export interface DiskQueueOptions extends DiskQueueSettings {
  /** Called once, after a write or sync that only a restart can recover from. */
  readonly onFailed?: ((error: Error) => void) | undefined;
  /** Unix ms. */
  readonly now: () => number;
}

const nanosPerMs = 1_000_000n;
const hourMs = 60 * 60 * 1000;
/** An empty queue that nothing was appended to for so long frees its last segment. */
const idleMs = 10_000;
const maxAnswerBytes = 64 * 1024 * 1024;

export class DiskQueue {
  readonly #telemetry: QueueEvents;
  readonly #onFailed: ((error: Error) => void) | undefined;
  readonly #now: () => number;
  readonly #opened: OpenedLog;
  readonly #log: Remote<LogMethods>;
  readonly #writer: bigint;
  /** Earlier batches were left by a previous process. */
  readonly #firstOwnSequence: bigint;
  readonly #groups: GroupWriter;
  readonly #backlog: Backlog;
  readonly #keys: KeyTable;
  readonly #capacity: Capacity;
  readonly #clock: ReceiptClock;
  #nextSequence: bigint;
  #released: bigint;
  #quarantinedBatches: number;
  #isClosed = false;
  #isFailureReported = false;
  #isOutOfRoom = false;
  #wakeTaker: (() => void) | undefined;
  #idleTimer: NodeJS.Timeout | undefined;

  constructor(opened: OpenedLog, options: DiskQueueOptions, telemetry: QueueEvents) {
    const { log, recovery } = opened;
    const { now, onFailed, memoryTailBytes, idempotencyKeys, idempotencyTtlHours } = options;
    this.#opened = opened;
    this.#log = log;
    this.#onFailed = onFailed;
    this.#now = now;
    this.#telemetry = telemetry;
    this.#writer = recovery.writer;
    this.#firstOwnSequence = recovery.nextSequence;
    this.#nextSequence = recovery.nextSequence;
    this.#clock = new ReceiptClock(recovery.floorNanos, now);
    this.#released = recovery.released;
    this.#quarantinedBatches = recovery.quarantinedBatches;
    this.#groups = new GroupWriter(log);
    this.#backlog = new Backlog(recovery, memoryTailBytes);
    const ttlMs = idempotencyTtlHours * hourMs;
    this.#keys = new KeyTable({ maxKeys: idempotencyKeys, ttlMs, maxAnswerBytes });
    for (const chunk of recovery.keyChunks) this.#keys.insertChunk(chunk);
    this.#capacity = new Capacity(options, recovery.freeBytes, now);
  }

  /** Resolves once the batch is synced. @throws AppError as `Queue.append` does */
  async append(
    content: Pick<Batch, 'layout' | 'rows' | 'payload'>,
    owner: BatchOwner,
    idempotency?: IdempotencyRecord,
  ): Promise<{ readonly sequence: bigint; readonly receivedAtNanos: bigint }> {
    refuseTooLarge(content.payload.length);
    const refusal = this.#refusal();
    if (refusal !== undefined) throw this.#refuse(refusal);
    const sequence = this.#nextSequence++;
    const receivedAtNanos = this.#clock.stamp();
    const { layout, rows, payload } = content;
    const id = { writer: this.#writer, sequence };
    const batch: StampedBatch = { id, receivedAtNanos, owner, layout, rows, payload };
    const frameBytes = measureFrame(batch, idempotency);
    this.#capacity.add(frameBytes);
    try {
      await this.#groups.write({ batch, idempotency, frameBytes });
    } catch (error) {
      throw this.#writeFailed(error);
    }
    this.#becameDurable({ batch, frameBytes }, idempotency);
    return { sequence, receivedAtNanos };
  }

  recall(key: Uint8Array): RememberedAnswer | undefined {
    return this.#keys.recall(key, this.#now());
  }

  /** Part of the ids of batches appended here; unique to this log. */
  get writer(): bigint {
    return this.#writer;
  }

  /** Which of these batches are still to be taken. @param ids in sequence order */
  holds(ids: readonly BatchId[]): Promise<boolean[]> {
    return this.#log.holds(ids);
  }

  /** A receive time: Unix ns, later than any earlier stamp or watermark. */
  stamp(): bigint {
    return this.#clock.stamp();
  }

  /** One call at a time. */
  async take(limits: TakeLimits): Promise<Taken | undefined> {
    while (!this.#isClosed) {
      const range = this.#backlog.diskRange;
      const batches =
        range === undefined
          ? this.#backlog.takeFromMemory(limits)
          : await this.#takeFromDisk(range, limits);
      const first = batches[0];
      if (first !== undefined) {
        const suspect = first.batch.id.sequence < this.#firstOwnSequence;
        const bytes = batches.reduce((sum, { frameBytes }) => sum + frameBytes, 0);
        return { batches: batches.map(({ batch }) => batch), bytes, suspect };
      }
      if (range === undefined) await new Promise<void>((wake) => (this.#wakeTaker = wake));
    }
    return undefined;
  }

  async release(sequence: bigint): Promise<void> {
    this.#released = sequence;
    await this.#log.release(sequence, this.#clock.last);
    this.#backlog.release(sequence);
    if (this.#backlog.batches > 0 || this.#isClosed) return;
    clearTimeout(this.#idleTimer);
    this.#idleTimer = setTimeout(() => {
      // A failure is final, and the next append reports it.
      this.freeReleased().catch(() => {});
    }, idleMs).unref();
  }

  /** Frees the last segment too, however small, if nothing is queued. */
  freeReleased(): Promise<void> {
    return this.#log.freeReleased();
  }

  async quarantine(batch: StampedBatch, reason: string): Promise<void> {
    // A retry looks for rows stored from this time on.
    const receivedAtNanos = batch.copies?.fromNanos ?? batch.receivedAtNanos;
    const frame = Buffer.from(new ArrayBuffer(measureFrame(batch)));
    encodeFrame(frame, 0, { ...batch, receivedAtNanos });
    const moved = transfer(frame, [frame.buffer]);
    this.#quarantinedBatches = await this.#log.quarantine(moved, reason);
  }

  async dropQuarantined(streamId: string, untilNanos?: bigint): Promise<void> {
    try {
      this.#quarantinedBatches = await this.#log.dropQuarantined(streamId, untilNanos);
    } catch (cause) {
      const message = `cannot delete all batches in quarantine: ${messageOf(cause)}`;
      throw new AppError('unavailable', message, { cause, retryAfterSeconds: 5 });
    }
  }

  watermarkNanos(): bigint {
    const oldest = this.#backlog.oldestNanos ?? this.#groups.oldestNanos;
    if (oldest !== undefined) return oldest - 1n;
    // Later batches are stamped after it.
    return this.#clock.pass();
  }

  async receiptCutoff(): Promise<bigint> {
    const cutoff = this.#clock.passSecond();
    try {
      await this.#log.release(this.#released, this.#clock.last);
    } catch (cause) {
      const message = 'cannot record the cutoff: the queue cannot write to its disk';
      throw new AppError('unavailable', message, { cause, retryAfterSeconds: 5 });
    }
    return cutoff;
  }

  status(): QueueStatus {
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
        oldest === undefined ? 0 : Math.max(0, this.#now() - Number(oldest / nanosPerMs)),
      quarantinedBatches: this.#quarantinedBatches,
    };
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearTimeout(this.#idleTimer);
    this.#wakeTaker?.();
    await this.#groups.idle();
    try {
      await this.#log.close(this.#clock.last);
    } finally {
      await this.#opened.end();
    }
  }

  #becameDurable(queued: QueuedBatch, idempotency: IdempotencyRecord | undefined): void {
    this.#backlog.add(queued);
    if (idempotency !== undefined) {
      const { bodyDigest, answer, key } = idempotency;
      const stampMs = Number(queued.batch.receivedAtNanos / nanosPerMs);
      this.#keys.insert(key, { bodyDigest, answer, stampMs });
    }
    if (this.#isOutOfRoom) this.#telemetry.diskFreed();
    this.#isOutOfRoom = false;
    this.#telemetry.batchAppended(queued.frameBytes);
    this.#wakeTaker?.();
  }

  async #takeFromDisk(range: DiskRange, limits: TakeLimits): Promise<QueuedBatch[]> {
    // Batches of a previous process are suspect, and are not taken together with others.
    const isOwn = range.fromSequence >= this.#firstOwnSequence;
    const untilSequence =
      isOwn || range.untilSequence < this.#firstOwnSequence
        ? range.untilSequence
        : this.#firstOwnSequence;
    const { frames, damage } = await this.#log.read({ ...range, untilSequence, ...limits });
    for (const each of damage) this.#telemetry.damageFound(each);
    const taken = frames.map((frame) => ({
      batch: decodeFrame(Buffer.from(frame.buffer, frame.byteOffset, frame.length)),
      frameBytes: frame.length,
    }));
    this.#backlog.takenFromDisk({ ...range, untilSequence }, taken);
    return taken;
  }

  #refusal(): Refusal | undefined {
    if (!this.#isClosed) this.#capacity.refresh(() => this.#log.freeBytes());
    const { failure, pendingBatches, pendingBytes } = this.#groups;
    const bytes = this.#backlog.bytes + pendingBytes;
    return this.#capacity.refusal({ isClosed: this.#isClosed, failure, pendingBatches, bytes });
  }

  #refuse(refusal: Refusal): AppError {
    this.#telemetry.appendRefused({ reason: refusal.reason });
    return toUnavailable(refusal);
  }

  #writeFailed(error: unknown): AppError {
    if (isNoRoom(error)) {
      if (!this.#isOutOfRoom) this.#telemetry.diskFull(error as Error);
      this.#isOutOfRoom = true;
      // The file system may still report free space.
      this.#capacity.measured(0);
      return this.#refuse({ reason: 'disk', detail: String(error) });
    }
    if (!this.#isFailureReported) {
      this.#isFailureReported = true;
      const failure = toError(error);
      this.#telemetry.failed(failure);
      this.#onFailed?.(failure);
    }
    return new AppError('unavailable', 'cannot accept data: the queue cannot write to its disk', {
      cause: error,
      retryAfterSeconds: 3,
    });
  }
}
