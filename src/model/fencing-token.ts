/** Tells queue and store which process may write the batches of a shard. */

/**
 * Two processes may believe that they hold a shard. The store takes inserts only with the highest
 * epoch that it has seen for the shard.
 */
export interface FencingToken {
  /** Unique among all queues; the same for every holder of this shard. */
  readonly shard: string;
  /** Higher than that of every earlier holder. */
  readonly epoch: bigint;
}
