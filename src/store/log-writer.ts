/** Inserts batches of logs and says what is known of their rows where that fails. */
import type { StampedBatch } from '../model/batch.ts';
import type { StoreEvents } from '../telemetry/store-events.ts';
import type { Connection } from './connection.ts';
import { toInsertError } from './failures.ts';
import type { ReceiptFloor } from './receipt-floor.ts';
import { compileInsert, type InsertMode } from './sql/insert-logs.ts';
import { encodeOuterRows, type OuterRow } from './sql/outer-rows.ts';

export interface LogWriter {
  /** @throws StoreInsertError */
  insert(batches: readonly StampedBatch[], mode: InsertMode): Promise<void>;
  /** Rows of this process's inserts so far. */
  insertedRows(): number;
}

export interface LogWriterParts {
  readonly connection: Connection;
  readonly table: string;
  readonly floor: ReceiptFloor;
  readonly events: StoreEvents;
}

export function createLogWriter({ connection, table, floor, events }: LogWriterParts): LogWriter {
  let insertedRows = 0;
  return {
    async insert(batches, mode) {
      if (batches.length === 0) return;
      const rows = batches.reduce((sum, batch) => sum + batch.rows, 0);
      const startedAt = performance.now();
      const seconds = () => (performance.now() - startedAt) / 1000;
      floor.lower(batches);
      try {
        await connection.insert(
          compileInsert(table, batches, mode),
          encodeOuterRows(batches.map(toOuterRow)),
        );
      } catch (cause) {
        const error = toInsertError(cause);
        events.insertFailed({ rows, failure: error.failure, seconds: seconds() }, error);
        throw error;
      }
      insertedRows += rows;
      events.inserted({ rows, batches: batches.length, mode, seconds: seconds() });
    },
    insertedRows: () => insertedRows,
  };
}

function toOuterRow(batch: StampedBatch): OuterRow {
  return { batch, count: batch.rows, rows: batch.payload };
}
