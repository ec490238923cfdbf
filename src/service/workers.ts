/**
 * The main process's side of ingest workers: it owns the ingest port, the queue, the directory, the
 * quotas and the statistics; worker processes (`worker.ts`) handle the connections.
 */
import { fileURLToPath } from 'node:url';
import type { Config } from '../config/schema.ts';
import { rolesOf } from '../config/roles.ts';
import type { CachedGrants } from '../directory/grants.ts';
import type { ReceiverStatistics } from '../ingest/receiver-statistics.ts';
import { type RunAddresses, toPlainPort, toServerOptions } from './addresses.ts';
import type { Opening } from './opening.ts';
import type { Queue } from '../queue/port.ts';
import type { ConnectionGate } from '../admission/port.ts';
import { openAcceptPort, type PortKind, type PortOptions } from '../server/ports.ts';
import { openCertificate } from '../server/certificate.ts';
import type { Answers as OpenAnswers } from '../server/open-routes.ts';
import type { RouteParts } from '../server/routes.ts';
import type { Server } from '../server/server.ts';
import type { HttpEvents } from '../telemetry/request-events.ts';
import { createWorkerEvents } from '../telemetry/node-events.ts';
import type { SharedParts } from '../workers/served-parts.ts';
import { createWorkers, sumOfMetrics, type Workers } from '../workers/supervisor.ts';

export interface WorkersParts extends Omit<SharedParts, 'seriesEpoch'> {
  readonly queue: Queue;
  readonly grants: CachedGrants;
  readonly httpEvents: HttpEvents;
  readonly gate: ConnectionGate;
  readonly addresses: RunAddresses;
}

type History = Pick<ReceiverStatistics, 'history'>;

export interface IngestWorkers extends OpenAnswers {
  /** Flushes the workers' counts before each read of the statistics. */
  withWorkerCounts(statistics: History): History;
  /** Answers a control call once every worker has dropped its cached grants. */
  withInvalidation<Routes extends Pick<RouteParts, 'admin'>>(routes: Routes): Routes;
  /**
   * Opens the ingest port, settles the addresses, and starts the workers; connections are closed
   * until they are ready.
   * @param server has the other ports.
   * @throws Error for the operator
   */
  open(server: Pick<Server, 'ports' | 'caFile'>): Promise<void>;
  /** Stops accepting, lets in-flight requests end, and stops the workers. */
  close(): Promise<void>;
}

/** A worker that does not answer in time is skipped. */
const waitMs = 1_000;

/** @returns undefined when this process handles ingest itself, or has no gateway role. */
export function createIngestWorkers(
  { config, instruments }: Opening,
  parts: WorkersParts,
): IngestWorkers | undefined {
  if (config.workers === 1 || !rolesOf(config).has('gateway')) return undefined;
  const { addresses, missing } = parts;
  let seriesEpoch = 0;
  const workers = createWorkers(
    {
      file: fileURLToPath(new URL('./worker-process.ts', import.meta.url)),
      start: () => ({ settings: config, ingestUrl: addresses.ingestUrl, seriesEpoch }),
      parts: { ...parts, seriesEpoch: () => seriesEpoch },
    },
    toWorkersOptions(config),
    createWorkerEvents(instruments, {
      running: () => workers.running(),
      connections: () => workers.connections(),
    }),
  );
  parts.queue.whenSeriesForgotten(() => {
    seriesEpoch += 1;
    workers.seriesForgotten(seriesEpoch);
  });
  let invalidated = Promise.resolve();
  parts.grants.whenInvalidated(() => {
    invalidated = workers.callAll((worker) => worker.invalidate(), waitMs);
  });
  const { metrics } = instruments;
  const opened = new AsyncDisposableStack();

  return {
    withWorkerCounts: (statistics) => withWorkerCounts(statistics, workers),
    withInvalidation: (routes) => ({
      ...routes,
      admin: routes.admin.map((route) => ({
        ...route,
        async handle(request) {
          const answer = await route.handle(request);
          await invalidated;
          return answer;
        },
      })),
    }),
    missing: async () => [...(await missing()), ...(workers.running() > 0 ? [] : ['workers'])],
    metrics: {
      contentType: metrics.contentType,
      async metrics() {
        const lists = [await metrics.getMetricsAsJSON(), ...(await workers.metrics(waitMs))];
        return sumOfMetrics(lists).metrics();
      },
    },
    async open(server) {
      // Workers only read the certificate: this process renews it.
      const certificate =
        server.caFile === undefined
          ? opened.adopt(
              await openCertificate(toServerOptions(config).tls, parts.httpEvents),
              (it) => it.close(),
            )
          : server;
      opened.defer(() => workers.close());
      const { host, port } = config.ingest;
      const accept = async (kind: PortKind, place: PortOptions) => {
        const accepting = await openAcceptPort(
          { surface: 'ingest', kind, ...place, maxConnections: undefined },
          { gate: parts.gate, events: parts.httpEvents },
          (socket, permit) => workers.hand({ socket, permit, kind }),
        );
        opened.defer(() => accepting.close());
        return accepting;
      };
      const accepting = await accept('tls', { host, port });
      const plain = toPlainPort(config.proxy.host, config.proxy.ingestPort);
      if (plain !== undefined) await accept('plain', plain);
      const ports = { ...server.ports, ingest: accepting.port };
      addresses.settle({ caFile: certificate.caFile, ports });
      await workers.start();
    },
    close: () => opened.disposeAsync(),
  };
}

function toWorkersOptions(config: Config) {
  const { closing } = toServerOptions(config);
  return {
    count: config.workers,
    maxConnections: config.ingest.maxConnections,
    stopMs: closing.graceMs + 5_000,
  };
}

function withWorkerCounts(statistics: History, workers: Workers): History {
  return {
    async history(...query) {
      await workers.callAll((worker) => worker.flushStatistics(), waitMs);
      return statistics.history(...query);
    },
  };
}
