/**
 * Opens every part of Weir bottom-up, serves, and closes in exact reverse: the table of contents of
 * this program.
 */
import { mkdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { adminRoutes } from './admin/admin.ts';
import { prepareFirstRun } from './admin/first-run.ts';
import { type Addresses, type FirstRun, writeQuickstart } from './admin/quickstart.ts';
import { createAdmission } from './admission/admission.ts';
import { createMemoryQuota } from './admission/memory-quota.ts';
import type { QuotaStore } from './admission/quota.ts';
import { openRedisQuota } from './admission/redis-quota.ts';
import type { Config } from './config/schema.ts';
import type { Directory } from './directory/port.ts';
import { openEngine } from './engine/supervisor.ts';
import { openDrain } from './ingest/drain.ts';
import { createIngest } from './ingest/ingest.ts';
import { openReceiverStatistics } from './ingest/receiver-statistics.ts';
import { createNewestReceipts, type NewestReceipts } from './ingest/newest-receipts.ts';
import { createSeriesLedger, type SeriesLedger } from './ingest/series-ledger.ts';
import { openDirectory, type Opened } from './main-directory.ts';
import * as options from './main-options.ts';
import { toProtocols } from './main-protocols.ts';
import { createReads } from './main-reads.ts';
import { lockDirectory } from './queue/disk/directory-lock.ts';
import { openDiskQueue } from './queue/disk/open-disk-queue.ts';
import type { Queue } from './queue/port.ts';
import { openServer } from './server/server.ts';
import { type ClickHouseStore, openClickHouseStore } from './store/clickhouse.ts';
import { createHousekeeping } from './store/housekeeping.ts';
import { openHousekeepingTimer } from './store/housekeeping-timer.ts';
import { createDirectoryEvents } from './telemetry/directory-events.ts';
import { createDrainTelemetry } from './telemetry/drain-events.ts';
import { createEngineEvents } from './telemetry/engine-events.ts';
import { createHttpEvents } from './telemetry/http-events.ts';
import { createIngestEvents } from './telemetry/ingest-events.ts';
import { createInstruments, type Instruments } from './telemetry/instruments.ts';
import { createQueueTelemetry } from './telemetry/queue-events.ts';
import { createQuotaEvents } from './telemetry/quota-events.ts';
import { createStatisticsEvents } from './telemetry/statistics-events.ts';
import { version } from './version.ts';

export interface Weir {
  readonly addresses: Addresses;
  /** Undefined where the secrets of the first run are no longer kept. */
  readonly firstRun: FirstRun | undefined;
  /** Finishes requests under way, syncs the log, stops the engine; what is queued stays queued. */
  close(): Promise<void>;
}

/**
 * @throws Error in words for the operator when a part cannot be opened; those opened before are
 * closed again.
 */
export async function openWeir(config: Readonly<Config>): Promise<Weir> {
  await using parts = new AsyncDisposableStack();
  const opened: Opened = (part) => parts.adopt(part, (it) => it.close());
  const dataDir = resolve(config.data);
  const instruments = createInstruments(config.logLevel);

  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  parts.adopt(lockDirectory(dataDir), (lock) => lock.release());
  const directoryEvents = createDirectoryEvents(instruments);
  const { directory, grants } = await openDirectory(config, opened, directoryEvents);
  const statisticsEvents = createStatisticsEvents(instruments);
  const statistics = opened(
    openReceiverStatistics(directory, options.toStatisticsOptions(config), statisticsEvents),
  );
  const firstRun = await prepareFirstRun(directory, dataDir);
  const queue = opened(
    await openDiskQueue(options.toQueueOptions(config), createQueueTelemetry(instruments)),
  );
  const series = createSeriesLedger(config.metrics);
  const receipts = createNewestReceipts();
  const store = await openStore(config, opened, {
    queue,
    directory,
    series,
    receipts,
    instruments,
  });

  const quota = await openQuota(config, opened, instruments);
  const admission = createAdmission(options.toAdmissionOptions(config), grants, quota);
  const ingestEvents = createIngestEvents(instruments, {
    memoryInFlight: () => admission.memoryInFlight(),
    knownSeries: () => series.size(),
  });
  const events = ingestEvents;
  const ingest = createIngest({ admission, queue, series, events, statistics, now: Date.now });
  const addresses = options.toAddresses(config);
  const server = opened(
    await openServer(
      options.toServerOptions(config),
      {
        admission,
        ingest,
        ingestEvents,
        protocols: toProtocols(config),
        ...createReads(config, {
          store,
          queue,
          grants,
          receipts,
          directory,
          statistics,
          instruments,
        }),
        admin: adminRoutes(
          { directory, grants, queue, store, series, telemetry: directoryEvents },
          addresses,
        ),
        ...options.toDocumentInfo(version, addresses),
        missing: async () => [
          ...(queue.status().writable ? [] : ['queue']),
          ...((await store.ping()) ? [] : ['store']),
        ],
        metrics: instruments.metrics,
      },
      createHttpEvents(instruments),
    ),
  );
  addresses.settle(server);
  writeQuickstart(dataDir, firstRun, addresses);

  const running = parts.move();
  return { addresses, firstRun, close: () => running.disposeAsync() };
}

/** Levels of this gateway alone, or those that all gateways share. */
async function openQuota(
  config: Readonly<Config>,
  opened: Opened,
  instruments: Instruments,
): Promise<QuotaStore> {
  const redis = options.toRedisQuotaOptions(config);
  if (redis === undefined) return createMemoryQuota(() => performance.now());
  return opened(await openRedisQuota(redis, createQuotaEvents(instruments)));
}

/** The store, what fills it and what keeps it in bounds. */
async function openStore(
  config: Readonly<Config>,
  opened: Opened,
  parts: {
    queue: Queue;
    directory: Directory;
    series: SeriesLedger;
    receipts: NewestReceipts;
    instruments: Instruments;
  },
): Promise<ClickHouseStore> {
  const { queue, directory, series, receipts, instruments } = parts;
  const engine =
    config.store.url === ''
      ? opened(await openEngine(options.toEngineOptions(config), createEngineEvents(instruments)))
      : undefined;
  const store = opened(
    await openClickHouseStore(options.toStoreOptions(config, engine), instruments),
  );
  const housekeepingOptions = options.toHousekeepingOptions(config);
  const housekeeping = createHousekeeping(
    { store, streams: () => directory.listAllStreams(), now: Date.now },
    housekeepingOptions,
  );
  opened(openHousekeepingTimer(housekeeping, housekeepingOptions.everyMs));
  const telemetry = createDrainTelemetry(instruments);
  opened(openDrain({ queue, store, series, receipts, telemetry }, options.toDrainOptions(config)));
  return store;
}
