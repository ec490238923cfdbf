/**
 * The store on ClickHouse: the embedded engine, a server or a cluster. Executes the statements of
 * sql/ and translates their errors.
 */
import { ClickHouseError } from '@clickhouse/client';
import type { Instruments } from '../telemetry/instruments.ts';
import { createStoreEvents, type StoreEvents } from '../telemetry/store-events.ts';
import { type Connection, type ConnectionOptions, openConnection } from './connection.ts';
import { countDefaults } from './counts/count-steps.ts';
import { createCountedReads } from './counts/counted-reads.ts';
import { trackChanges } from './counts/table-changes.ts';
import { toReadError } from './failures.ts';
import { createRestartFence, createSharedFence } from './fence.ts';
import { createHead } from './head/head.ts';
import { makeGranulesSmall } from './log-granules.ts';
import { createLogReader } from './log-reader.ts';
import { createMetricsReader } from './metrics-reader.ts';
import { createMergePause } from './merges/merge-pause.ts';
import { migrate } from './migrate.ts';
import { createRecentLogs, maxRecentRows } from './pages/recent-logs.ts';
import type { Store } from './port.ts';
import { openReceiptFloor, type ReceiptFloor, unknownFloor } from './receipt-floor.ts';
import { createRowSpreads } from './pages/row-spread.ts';
import { findUnusedColumns, noUnusedColumns } from './pages/unused-columns.ts';
import { checkServer, explain } from './server-check.ts';
import { compileDeleteStream } from './sql/housekeeping.ts';
import { type ReadLimits, statement } from './sql/statement.ts';
import {
  compileDurability,
  compileTableEngines,
  compileTierChanges,
  compileTiers,
  missingDurability,
  type StorageTiers,
  type TableRow,
  type TiersRow,
} from './sql/table-settings.ts';
import { type Placement, storedTables } from './sql/tables.ts';
import { assertNoTableLost, noteTables } from './table-inventory.ts';
import { createWriter } from './writer.ts';

export interface ClickHouseStoreOptions extends ConnectionOptions, StorageTiers {
  readonly database: string;
  readonly limits: ReadLimits;
  /** Its name in the configuration of ClickHouse; undefined = one server. */
  readonly cluster: string | undefined;
  /** Replicas of a cluster that must have an insert: `auto` = most of them, or a number. */
  readonly insertQuorum: string;
  /** Restarts an engine in which no other process inserts; undefined where others do. */
  readonly restart: (() => Promise<void>) | undefined;
  /** See `Store.crashes`; absent = 0. */
  readonly crashes?: () => number;
  /** File for the inventory of the tables of an embedded engine; undefined = none. */
  readonly inventoryFile?: string | undefined;
  /** chDB's folder of an embedded engine that no other process uses; undefined = another store. */
  readonly storeFolder?: string | undefined;
  /** For counts of logs, which survive a restart there; undefined = they do not. */
  readonly countsFolder?: string | undefined;
  /** Of recent metrics, only without other writers; absent or 0 = none. */
  readonly maxSamplesInMemory?: number | undefined;
  /** Of recent logs of one stream, only without other writers; 0 = none, absent = some. */
  readonly maxLogsInMemory?: number | undefined;
}

/** The store, with the parts that housekeeping needs. */
export interface ClickHouseStore extends Store {
  readonly connection: Connection;
  readonly placement: Placement;
  readonly events: StoreEvents;
  /** Log rows inserted by this process. */
  insertedRows(): number;
  /** Identifies these tables, the same for all processes that use them. @throws AppError */
  identity(): Promise<string>;
  /** To be called when rows that reads may return were dropped. */
  forgetRecent(): void;
}

/**
 * Connects and migrates the schema.
 * @throws Error for the operator when the store cannot be used, or its schema is newer
 */
export async function openClickHouseStore(
  options: ClickHouseStoreOptions,
  instruments: Instruments,
): Promise<ClickHouseStore> {
  const events = createStoreEvents(instruments);
  const connection = openConnection(options, events);
  try {
    await prepare(connection, options, events);
    // Without other writers, the oldest row is known.
    const floor =
      options.restart === undefined
        ? unknownFloor
        : await openReceiptFloor(connection, placementOf(options));
    return createStore(connection, floor, events, options);
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
  const { url, user, storagePolicy, cold, restart, inventoryFile, storeFolder } = options;
  if (url === undefined) {
    const inventory = inventoryFile && { connection, placement, file: inventoryFile, events };
    if (inventory) await assertNoTableLost(inventory);
    const fences = restart === undefined ? 'fenced' : 'alone';
    events.migrated(await migrate(connection, { placement, storagePolicy: undefined }, fences));
    if (storeFolder !== undefined) await makeGranulesSmall(connection, placement, storeFolder);
    await ensureDurableTables(connection, placement);
    if (inventory) await noteTables(inventory);
    return;
  }
  await checkServer(connection, placement, { url, user });
  try {
    events.migrated(await migrate(connection, { placement, storagePolicy }, 'fenced'));
    if (placement.cluster === undefined) await makeGranulesSmall(connection, placement, undefined);
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

function createStore(
  untracked: Connection,
  floor: ReceiptFloor,
  events: StoreEvents,
  options: ClickHouseStoreOptions,
): ClickHouseStore {
  const { database, limits, insertQuorum, restart } = options;
  const placement = placementOf(options);
  const { connection, changes } = trackChanges(untracked, database);
  const fence =
    restart === undefined
      ? createSharedFence({ connection, placement, insertQuorum, events })
      : createRestartFence(restart);
  const readerParts = { connection, database, events, limits };
  const countOptions = { ...countDefaults, folder: options.countsFolder };
  const counted =
    placement.cluster === undefined
      ? createCountedReads(readerParts, countOptions, restart && changes)
      : undefined;
  // Without other writers, every insert is known.
  const { maxSamplesInMemory: maxSamples = 0 } = options;
  const head =
    restart === undefined || maxSamples === 0
      ? undefined
      : createHead(readerParts, { maxSamples, now: Date.now });
  const columns = restart === undefined ? noUnusedColumns : findUnusedColumns(connection, database);
  const spreads = createRowSpreads(connection, placement);
  const listParts = { ...readerParts, spreads, columns };
  const { maxLogsInMemory: maxRows = maxRecentRows } = options;
  const recent =
    restart === undefined || maxRows === 0
      ? undefined
      : createRecentLogs(listParts, { ...changes, maxRows, now: Date.now });
  const merges = restart && {
    'logs/1': createMergePause(untracked, { placement, table: 'logs' }),
    'metrics/1': createMergePause(untracked, { placement, table: 'samples' }),
  };
  const writerParts = { connection, placement, insertQuorum, fence, floor, events };
  return {
    ...createLogReader({ ...listParts, floor, counted, recent }),
    ...createMetricsReader(readerParts, head),
    ...createWriter({ ...writerParts, head, recent, columns, merges }),
    connection,
    placement,
    events,
    identity: () => readIdentity(connection, placement),
    fence: fence.fence,
    crashes: options.crashes ?? (() => 0),
    forgetRecent() {
      head?.forgetAll();
      recent?.forgetAll();
    },
    async deleteStreamData(accountId, streamId, untilNanos) {
      const range = { accountId, streamId, untilNanos };
      head?.forget(accountId, streamId);
      recent?.forget(accountId, streamId);
      try {
        for (const name of storedTables) {
          await connection.execute('housekeeping', compileDeleteStream(placement, name, range));
        }
      } catch (error) {
        throw toReadError(error);
      }
    },
    async ping() {
      try {
        const timeout = AbortSignal.timeout(pingMillis);
        await connection.query('control', { sql: pingSql, params: {} }, timeout);
        return true;
      } catch {
        return false;
      }
    },
    async close() {
      for (const pause of Object.values(merges ?? {})) pause.close();
      columns.close();
      await counted?.close();
      await connection.close();
    },
  };
}

/** Shorter than the timeout after which an engine counts as hanging. */
const pingMillis = 2_000;
const pingSql = 'SELECT 1 SETTINGS max_execution_time = 2';

/** The UUID of a table of one server; the nodes of a cluster have different ones. */
async function readIdentity(
  connection: Connection,
  { database, cluster }: Placement,
): Promise<string> {
  if (cluster !== undefined) return `${cluster}/${database}`;
  const query = statement(
    (params) => `SELECT toString(uuid) FROM system.tables
WHERE database = ${params.add('String', database)} AND name = 'logs'`,
  );
  try {
    const [row] = await connection.query<[string]>('housekeeping', query);
    return row?.[0] ?? '';
  } catch (error) {
    throw toReadError(error);
  }
}

/** @throws Error when a table does not take a setting; errors of the connection */
async function ensureDurableTables(connection: Connection, placement: Placement): Promise<void> {
  for (const { row, missing } of await findLacking(connection, placement)) {
    await connection.execute('housekeeping', compileDurability(placement, row, missing));
  }
  const [lacking] = await findLacking(connection, placement);
  if (lacking === undefined) return;
  const { sql } = compileDurability(placement, lacking.row, lacking.missing);
  throw new Error(
    `cannot use the store: ${placement.database}.${lacking.row[0]} does not sync what it ` +
      `acknowledges (${lacking.missing.join(', ')} is not 1); run ${sql}`,
  );
}

async function findLacking(connection: Connection, placement: Placement) {
  const rows = await connection.query<TableRow>('housekeeping', compileTableEngines(placement));
  return rows
    .map((row) => ({ row, missing: missingDurability(placement, row) }))
    .filter(({ missing }) => missing.length > 0);
}

/** @throws errors of the connection */
async function applyStorageTiers(
  connection: Connection,
  placement: Placement,
  tiers: StorageTiers,
): Promise<void> {
  const rows = await connection.query<TiersRow>('housekeeping', compileTiers(placement));
  for (const row of rows) {
    for (const change of compileTierChanges(placement, tiers, row)) {
      await connection.execute('housekeeping', change);
    }
  }
}
