/** What the main process and its workers call of each other over their channel. */
import type { Bucket } from '../admission/port.ts';
import type { Channel } from '../channel/channel.ts';
import type { GrantSource, StatisticsStore } from '../directory/port.ts';
import type { Batch, BatchOwner } from '../model/batch.ts';
import type { Appended, IdempotencyRecord } from '../queue/port.ts';

/** Served by the main process. */
export interface MainMethods extends GrantSource, StatisticsStore {
  start(): WorkerStart;
  /** The worker accepts connections from now on. */
  ready(): void;
  /** The worker could not open, for this reason. */
  failed(reason: string): void;
  connectionsEnded(ids: readonly number[]): void;
  /** The connection is cut off for what was sent over it. */
  connectionAbused(id: number): void;
  append(batch: WorkerBatch, payload: Uint8Array): Promise<Appended>;
  /** @returns the first answer, or undefined if this request is the first: then call `settle` */
  claim(
    accountId: string,
    key: Uint8Array,
    bodyDigest: Uint8Array,
  ): Promise<Uint8Array | undefined>;
  settle(key: Uint8Array): void;
  takeQuota(buckets: readonly Bucket[], events: number): Promise<QuotaCharge>;
  giveBackQuota(buckets: readonly Bucket[], events: number): void;
  /** What is not ready; empty = ready. */
  missing(): Promise<readonly string[]>;
}

/** Served by a worker. */
export interface WorkerMethods {
  /** Replies at once; a worker that does not is hung. */
  ping(): void;
  /** Drops cached grants. */
  invalidate(): void;
  forgetSeries(seriesEpoch: number): void;
  flushStatistics(): Promise<void> | undefined;
  metrics(): Promise<MetricsJson>;
  /** Ends in-flight requests and flushes; replies when done. */
  stop(): Promise<void>;
}

export type MainChannel = Channel<MainMethods>;

/** Sent to a worker when it starts. */
export interface WorkerStart {
  /** The configuration, opaque to this folder. */
  readonly settings: unknown;
  readonly number: number;
  /** URL of the ingest port as senders see it. */
  readonly ingestUrl: string;
  readonly seriesEpoch: number;
}

export interface WorkerBatch extends Pick<Batch, 'layout' | 'rows'> {
  readonly owner: BatchOwner;
  readonly idempotency: IdempotencyRecord | undefined;
  /**
   * Incremented whenever labels of series may have been deleted. A batch of an earlier epoch relies
   * on labels that may be gone.
   */
  readonly seriesEpoch: number;
}

export interface QuotaCharge {
  readonly isTaken: boolean;
  /** Levels after the charge, in the order of the buckets. */
  readonly levels: readonly number[];
}

/** A registry as prom-client's `getMetricsAsJSON` gives it. */
export type MetricsJson = readonly object[];
