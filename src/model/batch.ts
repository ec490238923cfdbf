/** A batch: the decoded rows of one request, from decoder to queue to drain. */

/** Binary row layouts. A released layout never changes; a new one gets a new name. */
export type Layout = 'logs/1' | 'metrics/1';

/** A rejected record of a request, with the reason shown to the sender. */
export interface Rejection {
  /** Zero-based position in the request. */
  readonly index: number;
  readonly reason: string;
}

/** Result of a decoder. `payload` belongs to the caller and must not be modified. */
export interface Batch {
  readonly layout: Layout;
  /** Accepted records; at most `maxRowsPerBatch`. 0 = nothing is stored. */
  readonly rows: number;
  /** In `layout`: rows back to back for `logs/1`, sections for `metrics/1`. */
  readonly payload: Uint8Array;
  /** The first rejections; the count is exact. */
  readonly rejected: readonly Rejection[];
  readonly rejectedCount: number;
  /** Number of rejected records by reason, a fixed text without data of the sender. */
  readonly rejectedByReason: ReadonlyMap<string, number>;
  /** Changes made to accepted records, counted by a fixed text. Absent = none. */
  readonly warnings?: ReadonlyMap<string, number>;
  /** What the answer says of each record, for a protocol that has items. Not stored. */
  readonly items?: string;
  /** Layout `metrics/1` only: the parts of `rows`. */
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

/** What quotas and counters count: logs, samples and native histograms. */
export function countEvents({ rows, written }: Pick<Batch, 'rows' | 'written'>): number {
  return written === undefined ? rows : written.samples + written.histograms;
}

/** 128 bits: unique across gateways, directories and restarts. */
export interface BatchId {
  /** 64 random bits, created with the queue's directory and again by a restore. */
  readonly writer: bigint;
  /** 64 bits, never reused by the same writer. */
  readonly sequence: bigint;
}

/** Owner of a batch; the same for each of its rows. */
export interface BatchOwner {
  readonly accountId: string;
  readonly streamId: string;
  readonly receiverId: string;
}

/** A batch in the queue. */
export interface StampedBatch {
  readonly id: BatchId;
  /**
   * Unix ns, assigned at append, never decreasing with `sequence`. Rows without a timestamp get it.
   */
  readonly receivedAtNanos: bigint;
  readonly owner: BatchOwner;
  readonly layout: Layout;
  readonly rows: number;
  readonly payload: Uint8Array;
  /**
   * Set when rows of this batch may already be stored with another time of receipt: the range of
   * that time.
   */
  readonly copies?: { readonly fromNanos: bigint; readonly untilNanos: bigint } | undefined;
}
