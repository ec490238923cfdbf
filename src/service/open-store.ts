/** Opens the store (the embedded engine or a ClickHouse server) and the drains that fill it. */
import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import { rolesOf } from '../config/roles.ts';
import type { Config } from '../config/schema.ts';
import type { Directory } from '../directory/port.ts';
import { engineDefaults, type EngineOptions } from '../engine/options.ts';
import { type Engine, openEngine } from '../engine/supervisor.ts';
import { openDrain } from '../ingest/drain.ts';
import type { Queue, Shard } from '../queue/port.ts';
import {
  type ClickHouseStore,
  type ClickHouseStoreOptions,
  openClickHouseStore,
} from '../store/clickhouse.ts';
import {
  createHousekeeping,
  housekeepingDefaults,
  type HousekeepingOptions,
  openHousekeepingTimer,
} from '../store/housekeeping.ts';
import { createDrainEvents } from '../telemetry/queue-events.ts';
import { createEngineEvents } from '../telemetry/store-events.ts';
import type { Opening } from './opening.ts';
import { readAuthority } from './read-authority.ts';
import { openSteadyClock } from './steady-clock.ts';

const hourMs = 60 * 60 * 1000;
const serverConcurrentReads = 32;

/** @returns undefined when no role of this process needs a store. */
export async function openStore(opening: Opening): Promise<ClickHouseStore | undefined> {
  const { config, parts, instruments } = opening;
  const roles = rolesOf(config);
  if (!roles.has('stream') && !roles.has('writer')) return undefined;
  const engine = roles.has('engine') ? await openEmbeddedEngine(opening) : undefined;
  return parts.own(await openClickHouseStore(toStoreOptions(config, engine), instruments));
}

export async function openEmbeddedEngine(opening: Opening): Promise<Engine> {
  const { config, parts, instruments } = opening;
  return parts.own(await openEngine(toEngineOptions(config), createEngineEvents(instruments)));
}

/**
 * Opens a drain for each shard that this process owns or acquires; the owner of the first shard
 * also runs housekeeping.
 * @throws Error when other writers drain the same queue into another store
 */
export async function openWriter(
  { config, parts, instruments }: Opening,
  {
    queue,
    store,
    directory,
  }: {
    readonly queue: Queue;
    readonly store: ClickHouseStore;
    readonly directory: Pick<Directory, 'listAllStreams' | 'listDeletedStreams'>;
  },
): Promise<void> {
  await queue.bindStore(await store.identity());
  const telemetry = createDrainEvents(instruments);
  const drains = config.queue.urls.length === 0 ? 1 : config.queue.shards;
  const sendsAhead = rolesOf(config).has('engine') && config.queue.urls.length === 0;
  // One per process, which may take over the first shard before a jump of its clock has lasted.
  const now = openSteadyClock(join(resolve(config.data), 'retention-clock'));
  const openHousekeeping = () => {
    const options = toHousekeepingOptions(config);
    const streams = () => directory.listAllStreams();
    const deletedStreams = () => directory.listDeletedStreams();
    const housekeeping = createHousekeeping({ store, streams, deletedStreams, now }, options);
    return openHousekeepingTimer(housekeeping, options.everyMs);
  };
  const work = queue.work((shard: Shard) => {
    const housekeeping = shard.isFirst ? openHousekeeping() : undefined;
    const drain = openDrain(
      { shard, queue, store, telemetry },
      { ...config.drain, drains, sendsAhead },
    );
    return {
      ended: drain.ended,
      async close() {
        await Promise.all([drain.close(), housekeeping?.close()]);
      },
    };
  });
  parts.own(work);
}

function toEngineOptions({ engine, store, data }: Config): EngineOptions {
  return {
    dataDir: join(resolve(data), 'engine'),
    memoryBytes: engine.memoryBytes,
    threads: engine.threads === 0 ? availableParallelism() : engine.threads,
    maxExecutionSeconds: store.queryTimeoutSeconds,
    readMembers: store.maxConcurrentReads || engineDefaults.readMembers,
    briefMembers: store.maxConcurrentReads || engineDefaults.briefMembers,
  };
}

/**
 * @param engine undefined with a ClickHouse server.
 * @throws Error when the CA file cannot be read
 */
function toStoreOptions(
  { store, metrics, queue, data }: Config,
  engine: Pick<Engine, 'socketPath' | 'restart' | 'crashes'> | undefined,
): ClickHouseStoreOptions {
  const { coldVolume, coldAfterDays } = store;
  const ca = readAuthority('store.caFile', store.caFile);
  const isSoleWriter = engine !== undefined && queue.urls.length === 0;
  const defaultReads = engine === undefined ? serverConcurrentReads : engineDefaults.readMembers;
  return {
    url: engine === undefined ? store.url : undefined,
    socketPath: engine?.socketPath,
    insertFolder: engine && join(resolve(data), 'engine', 'inserts'),
    user: store.user,
    password: store.password,
    ca: ca === undefined ? undefined : [ca],
    database: store.database,
    cluster: engine === undefined && store.cluster !== '' ? store.cluster : undefined,
    insertQuorum: store.insertQuorum,
    storagePolicy: store.storagePolicy || undefined,
    cold: coldVolume === '' ? undefined : { volume: coldVolume, afterDays: coldAfterDays },
    readTimeoutMs: (store.queryTimeoutSeconds + 5) * 1000,
    // The drain of a sole writer sends an insert while the engine runs the one before.
    insertTimeoutMs: isSoleWriter ? 240_000 : 120_000,
    housekeepingTimeoutMs: hourMs,
    maxConcurrentReads: store.maxConcurrentReads || defaultReads,
    limits: {
      maxSeconds: store.queryTimeoutSeconds,
      maxMemoryBytes: store.queryMemoryBytes,
      maxRowsRead: 10_000_000_000,
      maxRowsReturned: 1_000_000,
    },
    restart: isSoleWriter ? () => engine.restart('an insert got no answer') : undefined,
    crashes: () => (isSoleWriter ? engine.crashes : 0),
    inventoryFile: engine && join(resolve(data), 'engine', 'tables.json'),
    countsFolder: join(resolve(data), 'counts'),
    maxSamplesInMemory: metrics.maxSamplesInMemory,
    storeFolder: engine && isSoleWriter ? join(resolve(data), 'engine', 'store') : undefined,
  };
}

function toHousekeepingOptions({ store }: Config): HousekeepingOptions {
  return {
    ...housekeepingDefaults,
    maxDiskBytes: store.maxDiskBytes === 0 ? undefined : store.maxDiskBytes,
    scrubEveryMs: store.scrubDays * 24 * hourMs,
  };
}
