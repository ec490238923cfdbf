/** A store on a real engine in a folder of its own, for tests. */
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
import { createEngineEvents } from '../../src/telemetry/engine-events.ts';
import { createInstruments, type Instruments } from '../../src/telemetry/instruments.ts';

export interface EngineStore {
  readonly store: ClickHouseStore;
  readonly options: ClickHouseStoreOptions;
  readonly instruments: Instruments;
  readonly enginePid: () => number | undefined;
  /** Opens a second store on the same engine, e.g. with other limits. */
  reopen(change: Partial<ClickHouseStoreOptions>): Promise<ClickHouseStore>;
  close(): Promise<void>;
}

export const generousLimits = {
  maxSeconds: 20,
  maxMemoryBytes: 512 * 2 ** 20,
  maxRowsRead: 1e9,
  maxRowsReturned: 100_000,
};

export async function openEngineStore(change: Partial<EngineOptions> = {}): Promise<EngineStore> {
  const dataDir = await mkdtemp(join(tmpdir(), 'weir-store-'));
  const instruments = createInstruments('silent');
  const engine = await openEngine({ dataDir, ...change }, createEngineEvents(instruments));
  const options: ClickHouseStoreOptions = {
    url: undefined,
    socketPath: engine.socketPath,
    user: 'default',
    password: '',
    readTimeoutMs: 30_000,
    insertTimeoutMs: 30_000,
    housekeepingTimeoutMs: 60_000,
    database: 'weir',
    limits: generousLimits,
    fence: () => engine.restart('an insert was left without an answer'),
  };
  const store = await openClickHouseStore(options, instruments);
  return {
    store,
    options,
    instruments,
    enginePid: () => engine.pid,
    reopen: (other) => openClickHouseStore({ ...options, ...other }, createInstruments('silent')),
    async close() {
      await store.close();
      await engine.close();
      await rm(dataDir, { recursive: true });
    },
  };
}
