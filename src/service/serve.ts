/** Builds the routes of this process's roles and binds its ports. */
import { createConnectionGate } from '../admission/connection-gate.ts';
import { rolesOf } from '../config/roles.ts';
import { createClaims } from '../ingest/ingest-replay.ts';
import type { Queue } from '../queue/port.ts';
import { openServer } from '../server/server.ts';
import type { Store } from '../store/port.ts';
import { createHttpEvents } from '../telemetry/request-events.ts';
import { createAddresses, type RunAddresses, toServerOptions } from './addresses.ts';
import { createGateway, openQuota } from './gateway.ts';
import type { DirectoryParts } from './open-directory.ts';
import type { Opening } from './opening.ts';
import { createProtocols } from './protocols.ts';
import type { Readiness } from './readiness.ts';
import { createReads, noStreamRoutes } from './reads.ts';
import { openSockets } from './sockets.ts';
import { version } from './version.ts';
import { createIngestWorkers } from './workers.ts';

export interface ServedParts extends DirectoryParts {
  readonly queue: Queue;
  /** Undefined if no role of this process needs it. */
  readonly store: Store | undefined;
  readonly readiness: Readiness;
}

/** Resolves once all ports accept connections. */
export async function serve(opening: Opening, parts: ServedParts): Promise<RunAddresses> {
  const { config, instruments } = opening;
  const { queue, store, grants, directory, statistics, readiness } = parts;
  const addresses = createAddresses(config);
  const httpEvents = createHttpEvents(instruments);
  const gate = createConnectionGate(config.ingest, () => performance.now());
  const quota = await openQuota(opening);
  const claims = createClaims(queue);

  const gateway = createGateway(opening, { queue, claims, grants, quota, statistics });
  queue.whenSeriesForgotten(() => gateway.forgetSeries());
  const workers = createIngestWorkers(opening, {
    queue,
    claims,
    grants,
    quota,
    directory,
    addresses,
    httpEvents,
    gate,
    missing: readiness.missing,
  });
  const routes =
    store && rolesOf(config).has('stream')
      ? await createReads(opening, {
          ...parts,
          store,
          addresses,
          statistics: workers?.withWorkerCounts(statistics) ?? statistics,
        })
      : noStreamRoutes;
  const server = opening.parts.own(
    await openServer(
      toServerOptions(config),
      {
        ...gateway,
        protocols: createProtocols(config),
        ...(workers?.withInvalidation(routes) ?? routes),
        ingestInfo: toDocumentInfo(() => addresses.ingestUrl),
        streamInfo: toDocumentInfo(() => addresses.streamUrl),
        gate,
        missing: workers?.missing ?? readiness.missing,
        metrics: workers?.metrics ?? instruments.metrics,
      },
      httpEvents,
    ),
  );
  addresses.settle(server);
  if (rolesOf(config).has('gateway')) {
    const { certificate } = server;
    addresses.settleSockets(await openSockets(opening, { ...gateway, certificate, gate }));
  }
  if (workers !== undefined) await opening.parts.own(workers).open(server);
  return addresses;
}

/** Read lazily: the system may choose the port. */
function toDocumentInfo(url: () => string) {
  return {
    version,
    get serverUrl() {
      return url();
    },
  };
}
