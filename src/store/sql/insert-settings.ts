/**
 * How an insert is cut into blocks, that it is no asynchronous one, and what a cluster must have of
 * it before it counts. Pure.
 */
import type { StampedBatch } from '../../model/batch.ts';
import type { InsertPass } from './insert-pass.ts';
import type { Placement } from './placement.ts';

export const rowsPerBlock = 65_536;

/** Where an insert goes, and what it carries. */
export interface InsertTarget {
  readonly placement: Placement;
  /** Replicas that must have it, of a cluster: `auto` = most of them, or a number. */
  readonly insertQuorum: string;
  /** Undefined where nobody else inserts. */
  readonly pass: InsertPass | undefined;
}

/**
 * One thread and one block for all rows, so that an insert makes one part a day of receipt. The
 * engine reads `max_block_size` outer rows at a time: enough of them for a usual block, and no
 * more.
 */
export function insertSettings(batches: readonly StampedBatch[], target: InsertTarget): string {
  const rows = batches.reduce((sum, batch) => sum + batch.rows, 0);
  const outerRowsPerBlock = Math.ceil((rowsPerBlock * batches.length) / Math.max(rows, 1));
  return `SETTINGS
  async_insert = 0,
  max_block_size = ${Math.min(Math.max(outerRowsPerBlock, 1), rowsPerBlock)},
  min_insert_block_size_rows = 1000000,
  min_insert_block_size_bytes = 0,
  max_insert_threads = 1,
  max_threads = 1,
  input_format_parallel_parsing = 0${clusterSettings(target)}`;
}

/**
 * An insert that lost its session with Keeper must not come back to life in another one: nobody
 * waits for it then. The token is that of no other insert, so it tells apart only the same
 * statement sent twice by something on the way.
 */
function clusterSettings({ placement, insertQuorum, pass }: InsertTarget): string {
  if (placement.cluster === undefined) return '';
  const token = pass === undefined ? '' : `\n  insert_deduplication_token = '${pass.queryId}',`;
  return `,${token}
  insert_deduplicate = 1,
  deduplicate_insert = 'enable',
  deduplicate_insert_select = 'enable_even_for_bad_queries',
  distributed_foreground_insert = 1,
  insert_distributed_one_random_shard = 0,
  insert_quorum = '${insertQuorum}',
  insert_quorum_parallel = 1,
  insert_quorum_timeout = ${quorumMillis},
  insert_keeper_max_retries = 0`;
}

/** Less than whoever sent it waits for the answer. */
const quorumMillis = 60_000;
