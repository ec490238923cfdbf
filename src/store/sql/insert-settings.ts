/** Settings of inserts: blocks, synchronous execution, and the quorum of a cluster. Pure. */
import type { StampedBatch } from '../../model/batch.ts';
import type { InsertPass } from './fences.ts';
import type { Placement } from './tables.ts';

export const rowsPerBlock = 65_536;

/** Placement, quorum and fencing token of an insert. */
export interface InsertTarget {
  readonly placement: Placement;
  /** Replicas of a cluster that must have the rows: a number, or `auto` for a majority. */
  readonly insertQuorum: string;
  /** Undefined where this process is the only writer. */
  readonly pass: InsertPass | undefined;
}

/**
 * One thread and one block for all rows, so that an insert makes one part for each day of receipt.
 * `max_block_size` counts outer rows: as many as make a block of the usual size.
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
 * An insert that lost its Keeper session must not be retried in another one: its sender has timed
 * out by then. The deduplication token is unique, so it catches only a statement repeated in
 * transit.
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

/** Less than the timeout of the client. */
const quorumMillis = 60_000;
