/**
 * The queue between acknowledgement and store, as its users see it: the ingest spine appends,
 * drains take and release, readers ask how far it has come. It knows nothing of what a payload
 * means, nor whether those are one process or many.
 */
import type { Batch, BatchOwner, StampedBatch } from '../model/batch.ts';
import type { FencingToken } from '../model/fencing-token.ts';

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
  /**
   * Set where an earlier request with the same idempotency key proves to have been durable: that
   * one counts, and this is its answer.
   */
  readonly first?: RememberedAnswer | undefined;
}

export interface QueueStatus {
  readonly writable: boolean;
  /** Why appends are refused, for the operator; empty when writable. */
  readonly reason: string;
  /** Bytes not yet released. */
  readonly bytes: number;
  readonly batches: number;
  /** As far as this process has seen them. */
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
  /** In their order, at least one; the first one may exceed the limits alone. */
  readonly batches: readonly StampedBatch[];
  /**
   * True where an earlier process, or an earlier attempt, may have stored some of these rows:
   * insert only what is missing.
   */
  readonly suspect: boolean;
}

/** What a queue tells of how far its batches are stored. */
export interface Progress {
  /**
   * Unix ns W such that every batch with receivedAtNanos <= W has been released, and no later
   * append will be stamped <= W.
   */
  watermarkNanos(): bigint;
  /**
   * The newest time of receipt of logs stored in a stream, so that whoever waits for new ones need
   * not ask the store. Unix ns; 0 where none were stored since the start.
   * @param streamId undefined = of all streams.
   */
  newestReceiptNanos(streamId: string | undefined): bigint;
}

/** The batches that one drain takes, in order, while they are its to take. */
export interface Shard {
  readonly fencingToken: FencingToken;
  /** True for exactly one of all shards: who drains it also keeps house in the store. */
  readonly isFirst: boolean;

  /**
   * The next batches in order, as soon as there is one; undefined once the shard is closed or
   * another's. One taker at a time.
   */
  take(limits: TakeLimits): Promise<Taken | undefined>;

  /**
   * Makes durable that all batches up to the last of these need no further work, then frees their
   * space: payloads that were taken are gone.
   * @param batches the last ones taken and not yet released, in order; at least one
   */
  release(batches: readonly StampedBatch[]): Promise<void>;

  /** Sets a taken batch aside durably, with the reason, so that it no longer blocks the rest. */
  quarantine(batch: StampedBatch, reason: string): Promise<void>;

  /** What waits here to be taken or released. */
  backlog(): { readonly rows: number; readonly bytes: number };
}

/** Something that works on a shard, e.g. a drain. */
export interface ShardWork {
  /**
   * Resolves where it can do no more, as when the store takes nothing of this holder any more: the
   * shard is let go of then. Absent = it never ends by itself.
   */
  readonly ended?: Promise<unknown> | undefined;
  /** Ends what is under way; what is not released stays in the queue. */
  close(): Promise<void>;
}

export interface Queue extends Progress {
  /**
   * Resolves once the batch is durable; then it survives any crash. The payload belongs to the
   * queue from now on, which frees its memory.
   * @throws AppError `unavailable` when the queue has failed, has no room, or is away; `malformed`
   *   when the idempotency key came with another body before
   */
  append(
    batch: Pick<Batch, 'layout' | 'rows' | 'payload'>,
    owner: BatchOwner,
    idempotency?: IdempotencyRecord,
  ): Promise<Appended>;

  /**
   * The answer given to an earlier durable request with this key, if it is still remembered.
   * @throws AppError `unavailable`
   */
  recall(key: Uint8Array): Promise<RememberedAnswer | undefined>;

  /**
   * Sees to it that all who work on this queue fill one store; to be called before `work`.
   * @param storeId the same for everyone who fills this store
   * @throws Error in words for the operator where others fill another one
   */
  bindStore(storeId: string): Promise<void>;

  /**
   * Begins work on every shard that is or becomes this process's, one at a time on each; to be
   * called once. A shard that is lost has its work closed.
   * @returns what ends all work; resolves when the last has ended. To be closed before the queue.
   */
  work(begin: (shard: Shard) => ShardWork): ShardWork;

  /**
   * Draws a line between what was appended before the call and everything after it, whatever the
   * clock does; it resolves once the line is durable.
   * @returns Unix ns, the last whole millisecond of a second: earlier batches were received then or
   *   before, later ones not before the next second.
   * @throws AppError `unavailable`
   */
  drawLine(): Promise<bigint>;

  /**
   * Tells every gateway that labels of series may be gone: deleted with their stream's data, or set
   * aside with a batch that the store would not take. Those of this process hear it at once.
   * @throws AppError `unavailable` where others could not be told
   */
  forgetSeries(): Promise<void>;
  /** @param listener called whenever any process has called `forgetSeries`. */
  whenSeriesForgotten(listener: () => void): void;

  /** Of the whole queue as this process knows it. */
  status(): QueueStatus;

  /** Finishes appends under way and lets go of what it holds. */
  close(): Promise<void>;
}
