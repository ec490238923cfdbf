/**
 * A batch: what one request brought, decoded and encoded as rows ready for the store, from decoder
 * to queue to drain.
 */

/**
 * The binary row layouts a batch may be in. A released layout never changes; a new one gets a new
 * name.
 */
export type Layout = 'logs/1' | 'metrics/1';

/** A record of the request that cannot be taken, with the reason shown to its sender. */
export interface Rejection {
  /** Zero-based position in the request. */
  readonly index: number;
  readonly reason: string;
}

/**
 * What a decoder returns. `payload` is owned by the receiver of the batch and must not be written
 * to again.
 */
export interface Batch {
  readonly layout: Layout;
  /** Accepted records in `payload`; at most `maxRowsPerBatch`. Without one nothing is stored. */
  readonly rows: number;
  /** In `layout`: of `logs/1`, `rows` rows back to back; of `metrics/1`, its sections. */
  readonly payload: Uint8Array;
  /** The first rejections, capped; the count is exact. */
  readonly rejected: readonly Rejection[];
  readonly rejectedCount: number;
  /** How many records each reason rejected; reasons are fixed words, none of the sender's. */
  readonly rejectedByReason: ReadonlyMap<string, number>;
  /**
   * What was taken, but not quite as it was sent, and how often: fixed words, none of the sender's.
   * Absent = nothing.
   */
  readonly warnings?: ReadonlyMap<string, number>;
  /** Of layout `metrics/1` only: what `rows` counts, apart. */
  readonly written?: MetricCounts;
}

/** Records of metrics by kind. */
export interface MetricCounts {
  readonly samples: number;
  /** Native histograms. */
  readonly histograms: number;
  readonly exemplars: number;
  /** Type, unit and help of a metric. */
  readonly metadata: number;
}

/**
 * What quotas charge and counters count: logs, samples and native histograms. What only goes along
 * with samples is free.
 */
export function countEvents({ rows, written }: Pick<Batch, 'rows' | 'written'>): number {
  return written === undefined ? rows : written.samples + written.histograms;
}

/** 128 bits: unique across gateways, directories and restarts. */
export interface BatchId {
  /** 64 random bits made with the queue's directory, and anew where that is restored. */
  readonly writer: bigint;
  /** 64 bits, never reused under one writer. */
  readonly sequence: bigint;
}

/** Whose a batch is; the same for each of its rows. */
export interface BatchOwner {
  readonly accountId: string;
  readonly streamId: string;
  readonly receiverId: string;
}

/** A batch as the queue keeps it and the store takes it. */
export interface StampedBatch {
  readonly id: BatchId;
  /**
   * Unix ns, fixed at append, never decreasing with `sequence`. Rows without a time of their own
   * get it.
   */
  readonly receivedAtNanos: bigint;
  readonly owner: BatchOwner;
  readonly layout: Layout;
  readonly rows: number;
  readonly payload: Uint8Array;
  /**
   * Where rows of this batch that were stored before may have another time of receipt: the span
   * in which it lies.
   */
  readonly copies?: { readonly fromNanos: bigint; readonly untilNanos: bigint } | undefined;
}
