/** Which shard a batch belongs into. Pure. */
import { crc32c } from '@node-rs/crc32';
import type { Batch, BatchOwner } from '../../model/batch.ts';

/**
 * Samples of one stream always go the same way: of two writes of one sample the later one counts,
 * so their order matters. Logs go where least waits, in turn where it is the same, so that a shard
 * that stands still soon gets none.
 * @param loadOf bytes that wait for a shard; infinite where it takes none
 */
export function createShardChoice(
  shards: number,
  loadOf: (shard: number) => number,
): (batch: Pick<Batch, 'layout'>, owner: BatchOwner) => number {
  let last = -1;
  return ({ layout }, { streamId }) => {
    if (layout === 'metrics/1') return crc32c(streamId) % shards;
    let best = (last + 1) % shards;
    for (let step = 1; step < shards; step++) {
      const other = (last + 1 + step) % shards;
      if (loadOf(other) < loadOf(best)) best = other;
    }
    last = best;
    return best;
  };
}
