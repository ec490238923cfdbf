/** Inserts batches of logs and says what is known of their rows where that fails. */
import type { StampedBatch } from '../model/batch.ts';
import type { FencingToken } from '../model/fencing-token.ts';
import type { StoreEvents } from '../telemetry/store-events.ts';
import type { Connection } from './connection.ts';
import { toInsertError } from './failures.ts';
import type { Fence } from './fence.ts';
import type { ReceiptFloor } from './receipt-floor.ts';
import { compileInsert, type InsertMode } from './sql/insert-logs.ts';
import { encodeOuterRows, type OuterRow } from './sql/outer-rows.ts';
import type { Placement } from './sql/tables.ts';

export interface LogWriter {
  /** @throws StoreInsertError */
  insert(batches: readonly StampedBatch[], mode: InsertMode, token: FencingToken): Promise<void>;
  /** Rows of this process's inserts so far. */
  insertedRows(): number;
}

export interface LogWriterParts {
  readonly connection: Connection;
  readonly placement: Placement;
  readonly insertQuorum: string;
  readonly fence: Pick<Fence, 'pass'>;
  readonly floor: ReceiptFloor;
  readonly events: StoreEvents;
}

export function createLogWriter(parts: LogWriterParts): LogWriter {
  const { connection, placement, insertQuorum, fence, floor, events } = parts;
  let insertedRows = 0;
  return {
    async insert(batches, mode, token) {
      if (batches.length === 0) return;
      const rows = batches.reduce((sum, batch) => sum + batch.rows, 0);
      const startedAt = performance.now();
      const seconds = () => (performance.now() - startedAt) / 1000;
      floor.lower(batches);
      try {
        const target = { placement, insertQuorum, pass: await fence.pass(token) };
        await connection.insert(
          compileInsert(target, batches, mode),
          encodeOuterRows(batches.map(toOuterRow)),
        );
      } catch (cause) {
        const error = toInsertError(cause, placement);
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
