/** Who drains a part of the queue at a time, as queue and store tell each other. */

/**
 * One holder's time with one shard. Two processes may believe that a shard is theirs; the store
 * takes inserts only of the one whose epoch is the highest it has been told of.
 */
export interface Tenure {
  /** The same for every holder of this shard, and never that of another queue's. */
  readonly shard: string;
  /** Higher than that of every holder before. */
  readonly epoch: bigint;
}
