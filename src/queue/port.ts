/**
 * The durable queue between acknowledgement and store: gateways append, drains take and release,
 * readers ask for the watermark. Payloads are opaque; users may be one process or many.
 */
import type { Batch, BatchOwner, StampedBatch } from '../model/batch.ts';
import { AppError } from '../model/errors.ts';
import type { FencingToken } from '../model/fencing-token.ts';
import type { QueueGauges } from '../telemetry/queue-events.ts';

/** Stored with a batch so that a repeated request gets the first response. */
export interface IdempotencyRecord {
  /** 16-byte digest of (receiver, key). */
  readonly key: Uint8Array;
  /** 16-byte digest of the request body. */
  readonly bodyDigest: Uint8Array;
  /** Body of the answer. */
  readonly answer: Uint8Array;
}

export interface RememberedAnswer {
  readonly bodyDigest: Uint8Array;
  readonly answer: Uint8Array;
}

export interface Appended {
  /** The answer of an earlier durable request with the same key, which counts in its place. */
  readonly first?: RememberedAnswer | undefined;
}

/** @throws AppError `malformed` where a key came with another body before */
export function requireSameBody(now: Uint8Array, first: Uint8Array): void {
  if (Buffer.compare(now, first) === 0) return;
  throw new AppError(
    'malformed',
    'cannot use this Idempotency-Key: it came with another body before; a new body needs a new key',
    { parameter: 'Idempotency-Key' },
  );
}

const maxBatchBytes = 128 * 1024 * 1024;

/** @throws AppError `too_large` */
export function refuseTooLarge(payloadBytes: number): void {
  if (payloadBytes <= maxBatchBytes) return;
  throw new AppError(
    'too_large',
    `cannot queue ${payloadBytes} bytes at once: the limit is ${maxBatchBytes}; ` +
      'send smaller batches',
  );
}

export interface QueueStatus extends QueueGauges {
  /** Why appends are refused, for the operator; empty when writable. */
  readonly reason: string;
}

export interface TakeLimits {
  readonly maxRows: number;
  readonly maxBytes: number;
}

export interface Taken {
  /** In order, at least one; the first may exceed the limits. */
  readonly batches: readonly StampedBatch[];
  /** Of these batches, as `backlog` and the limits count them. */
  readonly bytes: number;
  /** True where rows may be in the store already: insert only those that are missing. */
  readonly suspect: boolean;
}

/** How far batches are stored. */
export interface Progress {
  /**
   * Unix ns W such that every batch with receivedAtNanos <= W has been released, and no later
   * append will be stamped <= W.
   */
  watermarkNanos(): bigint;
  /**
   * The newest receive time of logs stored in a stream, which saves a live tail from polling the
   * store. Unix ns; 0 where none were stored since the start.
   * @param streamId undefined = of all streams
   */
  newestReceiptNanos(streamId: string | undefined): bigint;
}

/** A part of the queue that one drain at a time takes from, in order. */
export interface Shard {
  readonly fencingToken: FencingToken;
  /** True for exactly one of all shards: its drain also runs the store's housekeeping. */
  readonly isFirst: boolean;

  /**
   * Waits for the next batches; undefined once the shard is closed or lost. One call at a time.
   */
  take(limits: TakeLimits): Promise<Taken | undefined>;

  /**
   * Records durably that all batches up to the last of these are done, then frees their space and
   * their payloads.
   * @param batches the first ones taken and not yet released, in order; at least one
   */
  release(batches: readonly StampedBatch[]): Promise<void>;

  /** Moves a taken batch to the quarantine, durably, so that it no longer blocks the rest. */
  quarantine(batch: StampedBatch, reason: string): Promise<void>;

  /** Not yet released. */
  backlog(): { readonly rows: number; readonly bytes: number };
}

/** Work on a shard: a drain. */
export interface ShardWork {
  /**
   * Resolves when the work can no longer proceed, as after a newer fencing token: the shard is
   * released then. Absent = only `close` ends it.
   */
  readonly ended?: Promise<unknown> | undefined;
  /** Unreleased batches stay in the queue. */
  close(): Promise<void>;
}

export interface Queue extends Progress {
  /**
   * Resolves once the batch is durable: it survives any crash. The queue owns the payload and frees
   * its memory.
   * @throws AppError `unavailable` when the queue has failed, is full or unreachable; `malformed`
   *   when the idempotency key came with another body before
   */
  append(
    batch: Pick<Batch, 'layout' | 'rows' | 'payload'>,
    owner: BatchOwner,
    idempotency?: IdempotencyRecord,
  ): Promise<Appended>;

  /**
   * The answer of an earlier durable request with this key, unless it has expired.
   * @throws AppError `unavailable`
   */
  recall(key: Uint8Array): Promise<RememberedAnswer | undefined>;

  /**
   * Ensures that all drains of this queue fill the same store; to be called before `work`.
   * @throws Error for the operator where the queue is bound to another store
   */
  bindStore(storeId: string): Promise<void>;

  /**
   * Begins work on each shard that this process holds or acquires, and closes it when the shard is
   * lost. To be called once.
   * @returns all work, to be closed before the queue
   */
  work(begin: (shard: Shard) => ShardWork): ShardWork;

  /**
   * Separates earlier from later appends by receive time, whatever the clock does. Resolves once
   * that is durable.
   * @returns Unix ns, the last whole millisecond of a second: earlier batches were received then or
   *   before, later ones in the next second or after
   * @throws AppError `unavailable`
   */
  receiptCutoff(): Promise<bigint>;

  /**
   * Deletes the batches of a stream from the quarantine.
   * @param untilNanos Unix ns of receipt; absent = all
   * @throws Error when that fails
   */
  dropQuarantined(streamId: string, untilNanos?: bigint): Promise<void>;

  /**
   * Notifies every gateway that labels of series may be missing from the store: deleted with their
   * stream, or quarantined with a batch. Listeners of this process are called at once.
   * @throws AppError `unavailable` where other gateways could not be notified
   */
  forgetSeries(): Promise<void>;
  /** @param listener called after `forgetSeries` in any process */
  whenSeriesForgotten(listener: () => void): void;

  /** Of the whole queue, as far as this process knows. */
  status(): QueueStatus;

  /** Finishes pending appends and releases all resources. */
  close(): Promise<void>;
}
