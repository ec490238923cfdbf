/**
 * The store on ClickHouse: embedded engine and cluster alike. It executes statements made in sql/
 * and translates failures; it decides neither what a filter means nor when to read.
 */
import assert from 'node:assert/strict';
import { ClickHouseError } from '@clickhouse/client';
import type { Instruments } from '../telemetry/instruments.ts';
import { createStoreEvents, type StoreEvents } from '../telemetry/store-events.ts';
import { createArrivalsReader } from './arrivals-reader.ts';
import { type Connection, type ConnectionOptions, openConnection } from './connection.ts';
import { ensureDurableTables } from './durable-tables.ts';
import { toReadError } from './failures.ts';
import { createRestartFence, createSharedFence, type Fence } from './fence.ts';
import { readIdentity } from './identity.ts';
import { createLogReader } from './log-reader.ts';
import { createLogWriter } from './log-writer.ts';
import { createMetricsWriter } from './metrics-writer.ts';
import { migrate } from './migrate.ts';
import type { Store } from './port.ts';
import { openReceiptFloor, type ReceiptFloor, unknownFloor } from './receipt-floor.ts';
import { createSamplesReader } from './samples-reader.ts';
import { createSeriesReader } from './series-reader.ts';
import { checkServer, explain } from './server-check.ts';
import { compileDeleteStream } from './sql/housekeeping.ts';
import type { ReadLimits } from './sql/statement.ts';
import type { StorageTiers } from './sql/table-settings.ts';
import { type Placement, storedTables, tableName } from './sql/tables.ts';
import { applyStorageTiers } from './storage-tiers.ts';
import { assertNoTableLost, noteTables } from './table-inventory.ts';

export interface ClickHouseStoreOptions extends ConnectionOptions, StorageTiers {
  readonly database: string;
  readonly limits: ReadLimits;
  /** As the server knows it; undefined = one server. */
  readonly cluster: string | undefined;
  /** Replicas that must have an insert, of a cluster: `auto` = most of them, or a number. */
  readonly insertQuorum: string;
  /**
   * Of an engine where no other process inserts: ends whatever it was doing. Undefined where others
   * insert too.
   */
  readonly restart: (() => Promise<void>) | undefined;
  /** Where the tables of an embedded engine are noted; undefined = nowhere. */
  readonly inventoryFile?: string | undefined;
}

/** The store, with what housekeeping needs of it. */
export interface ClickHouseStore extends Store {
  readonly connection: Connection;
  readonly placement: Placement;
  readonly events: StoreEvents;
  /** Rows of this process's inserts so far. */
  insertedRows(): number;
  /** The same for everyone who fills this store, and no other's. @throws AppError */
  identity(): Promise<string>;
}

/**
 * Connects, and brings the tables up to date. @throws Error in words where the store is away, lacks
 * something, or its schema is newer.
 */
export async function openClickHouseStore(
  options: ClickHouseStoreOptions,
  instruments: Instruments,
): Promise<ClickHouseStore> {
  const events = createStoreEvents(instruments);
  const connection = openConnection(options, events);
  try {
    await prepare(connection, options, events);
    return createStore(connection, await openFloor(connection, options), events, options);
  } catch (error) {
    await connection.close();
    throw error;
  }
}

async function prepare(
  connection: Connection,
  options: ClickHouseStoreOptions,
  events: StoreEvents,
): Promise<void> {
  const placement = placementOf(options);
  const { url, user, storagePolicy, cold, restart, inventoryFile } = options;
  if (url === undefined) {
    const inventory = inventoryFile && { connection, placement, file: inventoryFile, events };
    if (inventory) await assertNoTableLost(inventory);
    const fences = restart === undefined ? 'fenced' : 'alone';
    events.migrated(await migrate(connection, { placement, storagePolicy: undefined }, fences));
    await ensureDurableTables(connection, placement);
    if (inventory) await noteTables(inventory);
    return;
  }
  await checkServer(connection, placement, { url, user });
  try {
    events.migrated(await migrate(connection, { placement, storagePolicy }, 'fenced'));
    await ensureDurableTables(connection, placement);
    await applyStorageTiers(connection, placement, { storagePolicy, cold });
  } catch (error) {
    if (!(error instanceof ClickHouseError)) throw error;
    throw new Error(explain(error, { url, user }), { cause: error });
  }
}

function placementOf({ database, cluster }: ClickHouseStoreOptions): Placement {
  return { database, cluster };
}

/** Only a store that nobody else fills knows its oldest row. */
async function openFloor(
  connection: Connection,
  options: ClickHouseStoreOptions,
): Promise<ReceiptFloor> {
  if (options.restart === undefined) return unknownFloor;
  return openReceiptFloor(connection, placementOf(options));
}

function createFence(
  connection: Connection,
  events: StoreEvents,
  options: ClickHouseStoreOptions,
): Fence {
  const { restart, insertQuorum } = options;
  if (restart !== undefined) return createRestartFence(restart);
  return createSharedFence({
    connection,
    placement: placementOf(options),
    insertQuorum,
    events,
  });
}

function createStore(
  connection: Connection,
  floor: ReceiptFloor,
  events: StoreEvents,
  options: ClickHouseStoreOptions,
): ClickHouseStore {
  const { database, limits, insertQuorum } = options;
  const placement = placementOf(options);
  const table = tableName(database, 'logs');
  const fence = createFence(connection, events, options);
  const writerParts = { connection, placement, insertQuorum, fence, events };
  const writer = createLogWriter({ ...writerParts, floor });
  const metricsWriter = createMetricsWriter(writerParts);
  return {
    ...createLogReader({ connection, table, floor, events, limits }),
    ...createArrivalsReader({ connection, table, events, limits }),
    ...createSeriesReader({ connection, database, events, limits }),
    ...createSamplesReader({ connection, database, events, limits }),
    connection,
    placement,
    events,
    insertedRows: writer.insertedRows,
    identity: () => readIdentity(connection, placement),
    insert(layout, batches, mode, token) {
      switch (layout) {
        case 'logs/1':
          return writer.insert(batches, mode, token);
        case 'metrics/1':
          return metricsWriter.insert(batches, mode, token);
        default:
          assert.fail(`cannot store layout "${String(layout satisfies never)}"`);
      }
    },
    fence: fence.fence,
    async deleteStreamData(accountId, streamId, untilNanos) {
      const range = { accountId, streamId, untilNanos };
      try {
        for (const name of storedTables) {
          const statement = compileDeleteStream(placement, name, range);
          await connection.execute('housekeeping', statement);
        }
      } catch (error) {
        throw toReadError(error);
      }
    },
    async ping() {
      try {
        const patience = AbortSignal.timeout(pingMillis);
        await connection.query('control', { sql: pingSql, params: {} }, patience);
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
