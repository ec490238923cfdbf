/**
 * Opens every part of Weir bottom-up, serves, and closes in exact reverse: the table of contents of
 * this program.
 */
import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { adminRoutes } from './admin/admin.ts';
import { prepareFirstRun } from './admin/first-run.ts';
import { type Addresses, type FirstRun, writeQuickstart } from './admin/quickstart.ts';
import { createAdmission } from './admission/admission.ts';
import type { Config } from './config/schema.ts';
import { createGrants } from './directory/grants.ts';
import { openSqliteDirectory, sqliteFileName } from './directory/sqlite.ts';
import { openEngine } from './engine/supervisor.ts';
import { openDrain } from './ingest/drain.ts';
import { createIngest } from './ingest/ingest.ts';
import * as options from './main-options.ts';
import { createJsonLogs } from './protocols/json-logs/json-logs.ts';
import { lockDirectory } from './queue/disk/directory-lock.ts';
import { openDiskQueue } from './queue/disk/open-disk-queue.ts';
import { openServer } from './server/server.ts';
import { openClickHouseStore } from './store/clickhouse.ts';
import { createStreamRoutes } from './stream/routes.ts';
import { createStreamReader } from './stream/stream-reader.ts';
import { createDirectoryEvents } from './telemetry/directory-events.ts';
import { createDrainTelemetry } from './telemetry/drain-events.ts';
import { createEngineEvents } from './telemetry/engine-events.ts';
import { createHttpEvents } from './telemetry/http-events.ts';
import { createIngestEvents } from './telemetry/ingest-events.ts';
import { createInstruments } from './telemetry/instruments.ts';
import { createQueueTelemetry } from './telemetry/queue-events.ts';
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
 *   closed again.
 */
export async function openWeir(config: Readonly<Config>): Promise<Weir> {
  await using parts = new AsyncDisposableStack();
  const opened = <Part extends { close(): Promise<void> }>(part: Part) =>
    parts.adopt(part, (it) => it.close());
  const dataDir = resolve(config.data);
  const instruments = createInstruments(config.logLevel);

  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  parts.adopt(lockDirectory(dataDir), (lock) => lock.release());

  const directoryEvents = createDirectoryEvents(instruments);
  const directory = opened(await openSqliteDirectory({ file: join(dataDir, sqliteFileName) }));
  const grants = opened(createGrants(directory, options.toGrantsOptions(config), directoryEvents));
  const firstRun = await prepareFirstRun(directory, dataDir);

  const queue = opened(
    await openDiskQueue(options.toQueueOptions(config), createQueueTelemetry(instruments)),
  );
  const engine =
    config.store.url === ''
      ? opened(await openEngine(options.toEngineOptions(config), createEngineEvents(instruments)))
      : undefined;
  const store = opened(
    await openClickHouseStore(options.toStoreOptions(config, engine), instruments),
  );
  opened(
    openDrain(
      { queue, store, telemetry: createDrainTelemetry(instruments) },
      options.toDrainOptions(config),
    ),
  );

  const admission = createAdmission(options.toAdmissionOptions(config), grants);
  const ingestEvents = createIngestEvents(instruments, () => admission.memoryInFlight());
  const ingest = createIngest({ admission, queue, events: ingestEvents });
  const reader = createStreamReader({
    store,
    grants,
    watermarkNanos: () => queue.watermarkNanos(),
    now: Date.now,
  });

  const ports = { ingest: 0, stream: 0, ops: 0 };
  const urls = options.toAddresses(config, ports);
  const server = opened(
    await openServer(
      options.toServerOptions(config),
      {
        admission,
        ingest,
        ingestEvents,
        protocols: { jsonLogs: createJsonLogs(options.toJsonLogsOptions(config)) },
        reads: createStreamRoutes(reader),
        admin: adminRoutes({ directory, grants, store, telemetry: directoryEvents }, urls),
        ingestInfo: {
          version,
          get serverUrl() {
            return urls.ingestUrl;
          },
        },
        streamInfo: {
          version,
          get serverUrl() {
            return urls.streamUrl;
          },
        },
        missing: async () => [
          ...(queue.status().writable ? [] : ['queue']),
          ...((await store.ping()) ? [] : ['store']),
        ],
        metrics: instruments.metrics,
      },
      createHttpEvents(instruments),
    ),
  );
  Object.assign(ports, server.ports);
  const { ingestUrl, streamUrl, opsUrl } = urls;
  const addresses: Addresses = { ingestUrl, streamUrl, opsUrl, caFile: server.caFile };
  writeQuickstart(dataDir, firstRun, addresses);

  const running = parts.move();
  return { addresses, firstRun, close: () => running.disposeAsync() };
}
