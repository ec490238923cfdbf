/**
 * The store on ClickHouse: embedded engine and cluster alike. It executes statements made in sql/
 * and translates failures; it decides neither what a filter means nor when to read.
 */
import assert from 'node:assert/strict';
import type { Instruments } from '../telemetry/instruments.ts';
import { createStoreEvents, type StoreEvents } from '../telemetry/store-events.ts';
import { createArrivalsReader } from './arrivals-reader.ts';
import { type Connection, type ConnectionOptions, openConnection } from './connection.ts';
import { toReadError } from './failures.ts';
import { createLogReader } from './log-reader.ts';
import { createLogWriter } from './log-writer.ts';
import { createMetricsWriter } from './metrics-writer.ts';
import { embeddedTarget, migrate } from './migrate.ts';
import type { Store } from './port.ts';
import { createSamplesReader } from './samples-reader.ts';
import { createSeriesReader } from './series-reader.ts';
import { openReceiptFloor, type ReceiptFloor, unknownFloor } from './receipt-floor.ts';
import { tableName } from './sql/columns.ts';
import { compileDeleteStream } from './sql/housekeeping.ts';
import type { ReadLimits } from './sql/statement.ts';
import { storedTables } from './sql/stored-tables.ts';

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
  const { database, limits } = options;
  const table = tableName(database, 'logs');
  const writer = createLogWriter({ connection, table, floor, events });
  const metricsWriter = createMetricsWriter({ connection, database, events });
  return {
    ...createLogReader({ connection, table, floor, events, limits }),
    ...createArrivalsReader({ connection, table, events, limits }),
    ...createSeriesReader({ connection, database, events, limits }),
    ...createSamplesReader({ connection, database, events, limits }),
    connection,
    database,
    events,
    insertedRows: writer.insertedRows,
    insert(layout, batches, mode) {
      switch (layout) {
        case 'logs/1':
          return writer.insert(batches, mode);
        case 'metrics/1':
          return metricsWriter.insert(batches, mode);
        default:
          assert.fail(`cannot store layout "${String(layout satisfies never)}"`);
      }
    },
    fence: options.fence,
    async deleteStreamData(accountId, streamId, untilNanos) {
      const range = { accountId, streamId, untilNanos };
      try {
        for (const name of storedTables) {
          const statement = compileDeleteStream(database, name, range);
          await connection.execute('housekeeping', statement);
        }
      } catch (error) {
        throw toReadError(error);
      }
    },
    async ping() {
      try {
        const patience = AbortSignal.timeout(pingMillis);
        await connection.query('read', { sql: pingSql, params: {} }, patience);
        return true;
      } catch {
        return false;
      }
    },
    close: () => connection.close(),
  };
}

/** Less than it takes to notice that an engine hangs: probes of health cannot wait for that. */
const pingMillis = 2_000;
const pingSql = 'SELECT 1 SETTINGS max_execution_time = 2';
