/** Inserts batches, and states what is known of their rows when an insert fails. */
import { metricSections, sectionOf } from '../codec/metric-rows.ts';
import type { Layout, StampedBatch } from '../model/batch.ts';
import type { FencingToken } from '../model/fencing-token.ts';
import type { StoreEvents } from '../telemetry/store-events.ts';
import type { Connection } from './connection.ts';
import { toInsertError } from './failures.ts';
import type { Fence } from './fence.ts';
import type { Head } from './head/head.ts';
import type { MergePause } from './merges/merge-pause.ts';
import { type Store, StoreInsertError } from './port.ts';
import type { ReceiptFloor } from './receipt-floor.ts';
import type { RecentLogs } from './pages/recent-logs.ts';
import type { UnusedColumns } from './pages/unused-columns.ts';
import { compileInsert, type InsertMode } from './sql/insert-logs.ts';
import { compileInsertSection } from './sql/insert-metrics.ts';
import { encodeOuterRows } from './sql/outer-rows.ts';
import type { Placement } from './sql/tables.ts';

export interface WriterParts {
  readonly connection: Connection;
  readonly placement: Placement;
  readonly insertQuorum: string;
  readonly fence: Fence;
  readonly floor: ReceiptFloor;
  readonly events: StoreEvents;
  /** Notified of metrics once they are stored; undefined = none. */
  readonly head: Pick<Head, 'inserted' | 'forget'> | undefined;
  /** The same for logs. */
  readonly recent: Pick<RecentLogs, 'inserted' | 'forget'> | undefined;
  readonly columns: Pick<UnusedColumns, 'inserting'>;
  /** Undefined where others insert too. */
  readonly merges: Readonly<Record<Layout, Pick<MergePause, 'beforeInsert'>>> | undefined;
}

export interface Writer extends Pick<Store, 'insert'> {
  /** Log rows inserted by this process. */
  insertedRows(): number;
}

type Batches = readonly StampedBatch[];

export function createWriter(parts: WriterParts): Writer {
  const { connection, placement, insertQuorum, fence, floor, events } = parts;
  const { head, recent, columns, merges } = parts;
  let insertedRows = 0;

  async function targetOf(token: FencingToken) {
    return { placement, insertQuorum, pass: await fence.pass(token) };
  }

  async function insertLogs(batches: Batches, mode: InsertMode, token: FencingToken) {
    floor.lower(batches);
    columns.inserting(batches);
    const rows = batches.map((batch) => ({ batch, count: batch.rows, rows: batch.payload }));
    const statement = compileInsert(await targetOf(token), batches, mode);
    try {
      await connection.insert(statement, encodeOuterRows(rows));
    } catch (error) {
      // Some rows may be stored.
      forget(recent, batches);
      throw error;
    }
    insertedRows += rowsOf(batches);
    // Rows that were stored before may have another time of receipt.
    if (mode === 'missing') forget(recent, batches);
    else recent?.inserted(batches);
  }

  /** Labels before their samples. Ignores the mode, since duplicates of metrics read as one. */
  async function insertMetrics(batches: Batches, _mode: InsertMode, token: FencingToken) {
    try {
      await insertSections(batches, token);
    } catch (error) {
      // Some sections may be stored, and a batch that is refused may stay so.
      forget(head, batches);
      throw error;
    }
    head?.inserted(batches);
  }

  async function insertSections(batches: Batches, token: FencingToken) {
    for (const section of metricSections) {
      const rows = batches
        .map((batch) => ({ batch, count: undefined, rows: sectionOf(batch.payload, section) }))
        .filter((row) => row.rows.length > 0);
      if (rows.length === 0) continue;
      const statement = compileInsertSection(await targetOf(token), section, batches);
      await connection.insert(statement, encodeOuterRows(rows));
    }
  }

  const inserters = { 'logs/1': insertLogs, 'metrics/1': insertMetrics };
  return {
    async insert(layout, batches, mode, token) {
      if (!Object.hasOwn(inserters, layout)) {
        const message = `cannot store layout "${layout}": a newer version wrote it`;
        throw new StoreInsertError('data', message);
      }
      const insertRows = inserters[layout];
      if (batches.length === 0) return;
      const rows = rowsOf(batches);
      const bytes = batches.reduce((sum, { payload }) => sum + payload.length, 0);
      await merges?.[layout].beforeInsert(bytes);
      const startedAt = performance.now();
      const seconds = () => (performance.now() - startedAt) / 1000;
      try {
        await insertRows(batches, mode, token);
      } catch (cause) {
        const error = toInsertError(cause, placement);
        events.insertFailed({ rows, failure: error.failure, seconds: seconds() }, error);
        throw error;
      }
      events.inserted({ rows, batches: batches.length, mode, seconds: seconds() });
    },
    insertedRows: () => insertedRows,
  };
}

function forget(memory: Pick<Head, 'forget'> | undefined, batches: Batches): void {
  for (const { owner } of batches) memory?.forget(owner.accountId, owner.streamId);
}

function rowsOf(batches: Batches): number {
  return batches.reduce((sum, batch) => sum + batch.rows, 0);
}
