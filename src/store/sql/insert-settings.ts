/** How an insert is cut into blocks, and that it is no asynchronous one. Pure. */
import type { StampedBatch } from '../../model/batch.ts';

export const rowsPerBlock = 65_536;

/**
 * One thread and one block for all rows, so that an insert makes one part a day of receipt. The
 * engine reads `max_block_size` outer rows at a time: enough of them for a usual block, and no
 * more.
 */
export function insertSettings(batches: readonly StampedBatch[]): string {
  const rows = batches.reduce((sum, batch) => sum + batch.rows, 0);
  const outerRowsPerBlock = Math.ceil((rowsPerBlock * batches.length) / Math.max(rows, 1));
  return `SETTINGS
  async_insert = 0,
  max_block_size = ${Math.min(Math.max(outerRowsPerBlock, 1), rowsPerBlock)},
  min_insert_block_size_rows = 1000000,
  min_insert_block_size_bytes = 0,
  max_insert_threads = 1,
  max_threads = 1,
  input_format_parallel_parsing = 0`;
}
