/** How much a queue on local disk takes in, keeps in memory and remembers. */
export interface QueueLimits {
  readonly minFreeDiskBytes: number;
  readonly maxBacklogBytes: number;
  readonly maxBatchBytes: number;
  readonly memoryTailBytes: number;
  readonly idempotencyTtlMs: number;
  readonly idempotencyKeys: number;
  /** See `DiskQueueOptions`. */
  readonly onFailed?: (error: Error) => void;
  /** Unix ms. */
  readonly now: () => number;
}
