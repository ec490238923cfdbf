/** The embedded engine with the store's tables, in a given folder. */
import { openEngine } from '../src/engine/supervisor.ts';
import { type ClickHouseStore, openClickHouseStore } from '../src/store/clickhouse.ts';
import { createInstruments } from '../src/telemetry/instruments.ts';
import { createEngineEvents } from '../src/telemetry/store-events.ts';

export interface BenchEngine {
  readonly store: ClickHouseStore;
  readonly pid: number;
  close(): Promise<void>;
}

export async function openBenchEngine(dataDir: string): Promise<BenchEngine> {
  const instruments = createInstruments('warn');
  const engine = await openEngine({ dataDir }, createEngineEvents(instruments));
  const store = await openClickHouseStore(
    {
      url: undefined,
      socketPath: engine.socketPath,
      user: 'default',
      password: '',
      database: 'weir',
      readTimeoutMs: 60_000,
      insertTimeoutMs: 60_000,
      housekeepingTimeoutMs: 60_000,
      maxConcurrentReads: 3,
      limits: {
        maxSeconds: 30,
        maxMemoryBytes: 2 ** 29,
        maxRowsRead: 2 ** 40,
        maxRowsReturned: 1_000,
      },
      ca: undefined,
      cluster: undefined,
      insertQuorum: 'auto',
      storagePolicy: undefined,
      cold: undefined,
      restart: () => engine.restart('fence'),
    },
    instruments,
  );
  return {
    store,
    pid: engine.pid ?? 0,
    async close() {
      await store.close();
      await engine.close();
    },
  };
}
