/**
 * Opens every part of Weir bottom-up, serves, and closes in exact reverse: the table of contents of
 * this program. Which of the parts a process has is told by its roles.
 */
import { mkdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { prepareFirstRun } from './admin/first-run.ts';
import {
  type Addresses,
  type FirstRun,
  readFirstRun,
  writeQuickstart,
} from './admin/quickstart.ts';
import { createConnectionGate } from './admission/connection-gate.ts';
import { createMemoryQuota } from './admission/memory-quota.ts';
import type { QuotaStore } from './admission/port.ts';
import { openRedisQuota } from './admission/redis-quota.ts';
import { type Role, rolesOf } from './config/roles.ts';
import { sweepBackups } from './maintenance/backup.ts';
import type { Config } from './config/schema.ts';
import { createClaims } from './ingest/ingest-replay.ts';
import { openReceiverStatistics } from './ingest/receiver-statistics.ts';
import { openDirectory, type Opened } from './service/open-directory.ts';
import { createGateway } from './service/gateway.ts';
import * as options from './service/options.ts';
import { toProtocols } from './service/protocols.ts';
import { openQueue } from './service/open-queue.ts';
import { createReadiness } from './service/readiness.ts';
import { createStreamParts, noStreamParts } from './service/reads.ts';
import { openStore, openWriter } from './service/open-store.ts';
import { createIngestWorkers } from './service/workers.ts';
import { lockDirectory } from './files/directory-lock.ts';
import { openServer } from './server/server.ts';
import { createDataFolderEvents } from './telemetry/data-folder-events.ts';
import { createDirectoryEvents } from './telemetry/directory-events.ts';
import { createHttpEvents } from './telemetry/http-events.ts';
import { createInstruments, type Instruments } from './telemetry/instruments.ts';
import { createQuotaEvents } from './telemetry/quota-events.ts';
import { createStatisticsEvents } from './telemetry/statistics-events.ts';
import { assertWholeDirectory } from './maintenance/unfinished.ts';
import { version } from './service/version.ts';

export interface Weir {
  readonly roles: ReadonlySet<Role>;
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
  const roles = rolesOf(config);
  const dataDir = resolve(config.data);
  const instruments = createInstruments(config.logLevel);

  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const lock = parts.adopt(lockDirectory(dataDir), (it) => it.release());
  if (lock.isMended) createDataFolderEvents(instruments).lockMended(dataDir);
  assertWholeDirectory(dataDir);
  sweepBackups(dataDir);
  const directoryEvents = createDirectoryEvents(instruments);
  const { directory, grants } = await openDirectory(config, opened, directoryEvents);
  const statisticsEvents = createStatisticsEvents(instruments);
  const statistics = opened(
    openReceiverStatistics(directory, options.toStatisticsOptions(config), statisticsEvents),
  );
  // Whoever has the control API gives away the first tokens.
  const firstRun = roles.has('stream') ? await prepareFirstRun(directory, dataDir) : undefined;
  const queue = await openQueue(config, opened, instruments);
  const needsStore = roles.has('stream') || roles.has('writer');
  const store = needsStore ? await openStore(config, opened, instruments) : undefined;
  if (store !== undefined && roles.has('writer')) {
    opened(await openWriter(config, { queue, store, directory, instruments }));
  }

  const quota = await openQuota(config, opened, instruments);
  const claims = createClaims(queue);
  const taking = { queue, claims, grants, quota, instruments };
  const gateway = createGateway(config, { ...taking, statistics });
  queue.whenSeriesForgotten(() => gateway.forgetSeries());
  const addresses = options.toAddresses(config);
  const readiness = createReadiness(queue, store);
  const { missing } = readiness;
  const httpEvents = createHttpEvents(instruments);
  const gate = createConnectionGate(options.toGateOptions(config), () => performance.now());
  const owned = { ...taking, directory, missing, addresses, httpEvents, gate };
  const workers = createIngestWorkers(config, owned);
  const shared = {
    queue,
    grants,
    directory,
    instruments,
    directoryEvents,
    addresses,
    statistics: workers?.beneath(statistics) ?? statistics,
  };
  const stream =
    store && roles.has('stream') ? createStreamParts(config, { ...shared, store }) : noStreamParts;
  const server = opened(
    await openServer(
      options.toServerOptions(config),
      {
        ...gateway,
        protocols: toProtocols(config),
        ...(workers?.behind(stream) ?? stream),
        ...options.toDocumentInfo(version, addresses),
        gate,
        missing: workers?.missing ?? missing,
        metrics: workers?.metrics ?? instruments.metrics,
      },
      httpEvents,
    ),
  );
  addresses.settle(server);
  if (workers !== undefined) await opened(workers).open(server);
  // Whoever has no control API cannot tell whether secrets kept earlier are of use, and keeps them.
  writeQuickstart(dataDir, roles.has('stream') ? firstRun : readFirstRun(dataDir), addresses);

  const running = parts.move();
  return {
    roles,
    addresses,
    firstRun,
    async close() {
      await readiness.leave(config.shutdownDelaySeconds);
      await running.disposeAsync();
    },
  };
}

/** Levels of this gateway alone, or those that all gateways share; others have no use for them. */
async function openQuota(
  config: Readonly<Config>,
  opened: Opened,
  instruments: Instruments,
): Promise<QuotaStore> {
  const isGateway = rolesOf(config).has('gateway');
  const redis = isGateway ? options.toRedisQuotaOptions(config) : undefined;
  if (redis === undefined) return createMemoryQuota(() => performance.now());
  return opened(await openRedisQuota(redis, createQuotaEvents(instruments)));
}
