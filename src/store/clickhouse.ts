/**
 * The store on ClickHouse: embedded engine and cluster alike. It executes statements made in sql/
 * and translates failures; it decides neither what a filter means nor when to read.
 */
import type { Layout, StampedBatch } from '../model/batch.ts';
import type { FacetsPlan, HistogramPlan, ListPlan, LogFilter, LogRecord } from '../model/plan.ts';
import { createStoreEvents, type ReadKind, type StoreEvents } from '../telemetry/store-events.ts';
import type { Instruments } from '../telemetry/instruments.ts';
import { type Connection, type ConnectionOptions, openConnection } from './connection.ts';
import { overLimit, toInsertError, toReadError } from './failures.ts';
import { embeddedTarget, migrate } from './migrate.ts';
import type { Store } from './port.ts';
import { openReceiptFloor, type ReceiptFloor, unknownFloor } from './receipt-floor.ts';
import { tableName } from './sql/columns.ts';
import { compileFacets, type FacetRow, toFacetsResults } from './sql/facets.ts';
import { compileHistogram, type HistogramRow, toHistogramResult } from './sql/histogram.ts';
import { compileDeleteStream } from './sql/housekeeping.ts';
import { compileInsert, type InsertMode } from './sql/insert-logs.ts';
import { compileList, type LogRow, toLogRecord } from './sql/list-logs.ts';
import { listWindows } from './sql/list-windows.ts';
import { encodeOuterRows } from './sql/outer-rows.ts';
import type { ReadLimits } from './sql/statement.ts';

export interface ClickHouseStoreOptions extends ConnectionOptions {
  readonly database: string;
  readonly limits: ReadLimits;
  /**
   * Resolves once no earlier insert can land: the engine process of that time is gone, or its
   * queries are killed.
   */
  readonly fence: () => Promise<void>;
}

/** The store, with what housekeeping needs of it. */
export interface ClickHouseStore extends Store {
  readonly connection: Connection;
  readonly database: string;
  readonly events: StoreEvents;
  /** Rows of this process's inserts so far. */
  insertedRows(): number;
}

/**
 * Connects, and brings the tables up to date. @throws Error where the store is away or its schema
 * is newer.
 */
export async function openClickHouseStore(
  options: ClickHouseStoreOptions,
  instruments: Instruments,
): Promise<ClickHouseStore> {
  const connection = openConnection(options);
  const events = createStoreEvents(instruments);
  try {
    events.migrated(await migrate(connection, embeddedTarget(options.database)));
    // Only an embedded engine has no other writers.
    const isAlone = options.socketPath !== undefined;
    const floor = isAlone ? await openReceiptFloor(connection, options.database) : unknownFloor;
    return createStore(connection, floor, events, options);
  } catch (error) {
    await connection.close();
    throw error;
  }
}

function createStore(
  connection: Connection,
  floor: ReceiptFloor,
  events: StoreEvents,
  options: ClickHouseStoreOptions,
): ClickHouseStore {
  const table = tableName(options.database, 'logs');
  const { limits } = options;
  let insertedRows = 0;

  async function insert(_: Layout, batches: readonly StampedBatch[], mode: InsertMode) {
    if (batches.length === 0) return;
    const rows = batches.reduce((sum, batch) => sum + batch.rows, 0);
    const startedAt = performance.now();
    floor.lower(batches);
    try {
      await connection.insert(compileInsert(table, batches, mode), encodeOuterRows(batches));
    } catch (error) {
      const failure = toInsertError(error);
      const insert = { rows, failure: failure.failure, seconds: secondsSince(startedAt) };
      events.insertFailed(insert, failure);
      throw failure;
    }
    insertedRows += rows;
    events.inserted({ rows, batches: batches.length, mode, seconds: secondsSince(startedAt) });
  }

  async function list(plan: ListPlan): Promise<LogRecord[]> {
    const startedAt = performance.now();
    const rows: LogRow[] = [];
    for (const window of listWindows(plan, BigInt(Date.now()) * 1_000_000n)) {
      const maxSeconds = limits.maxSeconds - secondsSince(startedAt);
      if (maxSeconds < 0.001) throw overLimit(undefined);
      const step = { window, limit: plan.limit - rows.length, limits: { ...limits, maxSeconds } };
      rows.push(...(await connection.query<LogRow>('read', compileList(table, plan, step))));
      if (rows.length >= plan.limit) break;
    }
    if (plan.direction === 'newer') rows.reverse();
    return rows.map(toLogRecord);
  }

  async function histogram(plan: HistogramPlan) {
    const statement = compileHistogram(table, plan, limits);
    return toHistogramResult(plan, await connection.query<HistogramRow>('read', statement));
  }

  async function facets(plan: FacetsPlan) {
    const statement = compileFacets(table, plan, limits);
    return toFacetsResults(plan, await connection.query<FacetRow>('read', statement));
  }

  /**
   * A limit of receipt that no row is older than hides nothing, and need not be checked row by row.
   */
  function checked<Plan extends { readonly filter: LogFilter }>(plan: Plan): Plan {
    const streams = plan.filter.streams.map((stream) =>
      stream.receivedFromNanos <= floor.nanos() ? { ...stream, receivedFromNanos: 0n } : stream,
    );
    return { ...plan, filter: { ...plan.filter, streams } };
  }

  async function timed<Result>(kind: ReadKind, read: Promise<Result>): Promise<Result> {
    const startedAt = performance.now();
    try {
      const result = await read;
      events.read(kind, secondsSince(startedAt));
      return result;
    } catch (error) {
      const failure = toReadError(error);
      events.readFailed(kind, secondsSince(startedAt), failure);
      throw failure;
    }
  }

  return {
    connection,
    database: options.database,
    events,
    insertedRows: () => insertedRows,
    insert,
    fence: options.fence,
    list: (plan) => timed('list', list(checked(plan))),
    histogram: (plan) => timed('histogram', histogram(checked(plan))),
    facets: (plan) => timed('facets', facets(checked(plan))),
    async deleteStreamData(accountId, streamId, untilNanos) {
      const statement = compileDeleteStream(table, { accountId, streamId, untilNanos });
      try {
        await connection.execute('housekeeping', statement);
      } catch (error) {
        throw toReadError(error);
      }
    },
    async ping() {
      try {
        await connection.query('read', { sql: pingSql, params: {} });
        return true;
      } catch {
        return false;
      }
    },
    close: () => connection.close(),
  };
}

const pingSql = 'SELECT 1 SETTINGS max_execution_time = 2';

function secondsSince(startedAt: number): number {
  return (performance.now() - startedAt) / 1000;
}
