/** An engine that serves over TCP, with stores of several processes on it. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEngineFront } from '../../src/engine/front.ts';
import { openEngine } from '../../src/engine/supervisor.ts';
import {
  type ClickHouseStore,
  type ClickHouseStoreOptions,
  openClickHouseStore,
} from '../../src/store/clickhouse.ts';
import { createEngineEvents, createEngineFrontEvents } from '../../src/telemetry/store-events.ts';
import { createInstruments } from '../../src/telemetry/instruments.ts';
import { generousLimits, ofOneServer } from '../store/engine-store.ts';

export interface StoreServer {
  readonly port: number;
  /** A store as another process opens it. @param port of a proxy in front of the server */
  open(port?: number, change?: Partial<ClickHouseStoreOptions>): Promise<ClickHouseStore>;
  close(): Promise<void>;
}

export const serverAccess = { user: 'weir', password: 'secret' } as const;

export async function openStoreServer(): Promise<StoreServer> {
  const dataDir = await mkdtemp(join(tmpdir(), 'weir-store-server-'));
  const instruments = createInstruments('silent');
  const engine = await openEngine({ dataDir }, createEngineEvents(instruments));
  const front = await openEngineFront(
    engine,
    { host: '127.0.0.1', port: 0, ...serverAccess },
    createEngineFrontEvents(instruments),
  );
  const stores: ClickHouseStore[] = [];
  return {
    port: front.port,
    async open(port = front.port, change = {}) {
      const options = { ...storeOptions(port), ...change };
      const store = await openClickHouseStore(options, createInstruments('silent'));
      stores.push(store);
      return store;
    },
    async close() {
      for (const store of stores) await store.close();
      await front.close();
      await engine.close();
      await rm(dataDir, { recursive: true });
    },
  };
}

export function storeOptions(port: number): ClickHouseStoreOptions {
  return {
    ...ofOneServer,
    ...serverAccess,
    url: `http://127.0.0.1:${port}`,
    socketPath: undefined,
    readTimeoutMs: 30_000,
    insertTimeoutMs: 30_000,
    housekeepingTimeoutMs: 60_000,
    maxConcurrentReads: 32,
    database: 'weir',
    limits: generousLimits,
    restart: undefined,
  };
}
