/**
 * The queue between acknowledgement and store, as its two users see it: the ingest spine appends,
 * the drain takes and releases. It knows nothing of what a payload means.
 */
import type { Batch, BatchOwner, StampedBatch } from '../model/batch.ts';

/** Remembered with a batch so that a repeated request gets the first answer. */
export interface IdempotencyRecord {
  /** 16-byte digest of (receiver, key). */
  readonly key: Uint8Array;
  /** 16-byte digest of the request body. */
  readonly bodyDigest: Uint8Array;
  /** The answer's body, as bytes to send again. */
  readonly answer: Uint8Array;
}

export interface RememberedAnswer {
  readonly bodyDigest: Uint8Array;
  readonly answer: Uint8Array;
}

export interface Appended {
  readonly sequence: bigint;
  readonly receivedAtNanos: bigint;
}

export interface QueueStatus {
  readonly writable: boolean;
  /** Why appends are refused, for the operator; empty when writable. */
  readonly reason: string;
  /** Bytes on disk not yet released. */
  readonly bytes: number;
  readonly batches: number;
  readonly rows: number;
  /** Age of the oldest batch not yet released; 0 when empty. */
  readonly oldestAgeMs: number;
  readonly quarantinedBatches: number;
}

export interface TakeLimits {
  readonly maxRows: number;
  readonly maxBytes: number;
}

export interface Taken {
  /** In sequence order, at least one; the first one may exceed the limits alone. */
  readonly batches: readonly StampedBatch[];
  /**
   * True while an earlier process may have stored some of these rows: insert only what is missing.
   */
  readonly suspect: boolean;
}

export interface Queue {
  /**
   * Resolves once the batch is on disk (written and synced); then it survives any crash. The
   * payload belongs to the queue from now on, which frees its memory.
   * @throws AppError `unavailable` when the log has failed, the disk is too full, or the backlog is
   *   at its cap.
   */
  append(
    batch: Pick<Batch, 'layout' | 'rows' | 'payload'>,
    owner: BatchOwner,
    idempotency?: IdempotencyRecord,
  ): Promise<Appended>;

  /** The answer given to an earlier durable request with this key, if it is still remembered. */
  recall(key: Uint8Array): RememberedAnswer | undefined;

  /**
   * The next batches in order, as soon as there is one; undefined once closed. One taker at a time.
   */
  take(limits: TakeLimits): Promise<Taken | undefined>;

  /**
   * Makes durable that all batches up to `sequence` need no further work, then frees their space,
   * on disk and in memory: payloads that were taken are gone.
   */
  release(sequence: bigint): Promise<void>;

  /** Sets a taken batch aside on disk, with the reason, so that it no longer blocks the rest. */
  quarantine(batch: StampedBatch, reason: string): Promise<void>;

  /**
   * Unix ns W such that every batch with receivedAtNanos <= W has been released, and no later
   * append will be stamped <= W.
   */
  watermarkNanos(): bigint;

  /**
   * Draws a line between what was appended before the call and everything after it, whatever the
   * clock does; it resolves once the line is durable.
   * @returns Unix ns, the last whole millisecond of a second: earlier batches were received then or
   *   before, later ones not before the next second.
   * @throws AppError `unavailable`
   */
  drawLine(): Promise<bigint>;

  status(): QueueStatus;

  /** Finishes appends under way, syncs and lets go of the directory. */
  close(): Promise<void>;
}
