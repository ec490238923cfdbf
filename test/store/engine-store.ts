/** A store on a real engine in a new folder, for tests. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { EngineOptions } from '../../src/engine/options.ts';
import { openEngine } from '../../src/engine/supervisor.ts';
import {
  type ClickHouseStore,
  type ClickHouseStoreOptions,
  openClickHouseStore,
} from '../../src/store/clickhouse.ts';
import { localTable, onCluster as onEachNode, storedTables } from '../../src/store/sql/tables.ts';
import { until } from '../harness/until.ts';
import { clusterName, openClusterEngine } from './cluster-store.ts';
import { createEngineEvents } from '../../src/telemetry/store-events.ts';
import { createInstruments, type Instruments } from '../../src/telemetry/instruments.ts';

export interface EngineStore {
  readonly store: ClickHouseStore;
  readonly options: ClickHouseStoreOptions;
  readonly instruments: Instruments;
  readonly enginePid: () => number | undefined;
  /** Undefined for a cluster. */
  readonly dataDir: string | undefined;
  /** Restarts the engine, as after a crash. */
  restart(): Promise<void>;
  /** Opens a second store on the same engine, for example with other limits. */
  reopen(change: Partial<ClickHouseStoreOptions>): Promise<ClickHouseStore>;
  close(): Promise<void>;
}

export const generousLimits = {
  maxSeconds: 20,
  maxMemoryBytes: 512 * 2 ** 20,
  maxRowsRead: 1e9,
  maxRowsReturned: 100_000,
};

/** Functions of servers and clusters only. */
export const ofOneServer = {
  ca: undefined,
  cluster: undefined,
  insertQuorum: 'auto',
  storagePolicy: undefined,
  cold: undefined,
} as const;

/** Whether the tests run on a cluster; see cluster-store.ts. */
export const onCluster = process.env['WEIR_TEST_STORE'] === 'cluster';

/** With `WEIR_TEST_STORE=cluster` in the environment, on a cluster. */
export async function openEngineStore(change: Partial<EngineOptions> = {}): Promise<EngineStore> {
  if (onCluster) return openOnCluster();
  const dataDir = await mkdtemp(join(tmpdir(), 'weir-store-'));
  const instruments = createInstruments('silent');
  const engine = await openEngine({ dataDir, ...change }, createEngineEvents(instruments));
  const options: ClickHouseStoreOptions = {
    url: undefined,
    socketPath: engine.socketPath,
    insertFolder: join(dataDir, 'inserts'),
    user: 'default',
    password: '',
    readTimeoutMs: 30_000,
    insertTimeoutMs: 30_000,
    housekeepingTimeoutMs: 60_000,
    maxConcurrentReads: 3,
    database: 'weir',
    limits: generousLimits,
    ...ofOneServer,
    restart: () => engine.restart('an insert was left without an answer'),
    inventoryFile: join(dataDir, 'tables.json'),
    // Lists are statements.
    maxLogsInMemory: 0,
  };
  const store = await openClickHouseStore(options, instruments);
  return {
    store,
    options,
    instruments,
    enginePid: () => engine.pid,
    dataDir,
    restart: () => engine.restart('a test'),
    reopen: (other) => openClickHouseStore({ ...options, ...other }, createInstruments('silent')),
    async close() {
      await store.close();
      await engine.close();
      await rm(dataDir, { recursive: true });
    },
  };
}

/** The table with the rows, as named in system tables. */
export function localName({ store }: EngineStore, table: string): string {
  return store.placement.cluster === undefined ? table : `${table}_local`;
}

/** Leaves no row, part or mutation of an earlier test. */
export async function truncateTables({ store }: EngineStore): Promise<void> {
  const { connection, placement } = store;
  for (const name of storedTables) {
    const sql = `TRUNCATE TABLE ${localTable(placement, name)}${onEachNode(placement)} SYNC`;
    await connection.execute('housekeeping', { sql, params: {} });
  }
}

/** On a cluster housekeeping does not wait for deletions. */
export async function allMutated({ store }: EngineStore): Promise<void> {
  const sql = 'SELECT count() FROM system.mutations WHERE NOT is_done';
  const left = () => store.connection.query<[number | string]>('housekeeping', { sql, params: {} });
  await until(async () => Number((await left())[0]?.[0]) === 0, { what: 'mutations to end' });
}

async function openOnCluster(): Promise<EngineStore> {
  const cluster = await openClusterEngine();
  const instruments = createInstruments('silent');
  const options: ClickHouseStoreOptions = {
    ...ofOneServer,
    url: cluster.url,
    socketPath: undefined,
    cluster: clusterName,
    user: 'default',
    password: '',
    readTimeoutMs: 30_000,
    insertTimeoutMs: 30_000,
    housekeepingTimeoutMs: 60_000,
    maxConcurrentReads: 3,
    database: 'weir',
    limits: generousLimits,
    restart: undefined,
  };
  const store = await openClickHouseStore(options, instruments);
  return {
    store,
    options,
    instruments,
    enginePid: () => cluster.pid,
    dataDir: undefined,
    restart: () => Promise.reject(new Error('a cluster is not restarted')),
    reopen: (other) => openClickHouseStore({ ...options, ...other }, createInstruments('silent')),
    async close() {
      await store.close();
      await cluster.close();
    },
  };
}
