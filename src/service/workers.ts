/**
 * The main process's side of `workers`: it keeps the ingest port, queue, directory, quotas and
 * statistics, and worker processes take in what comes. Read `main-worker.ts` for their side.
 */
import { fileURLToPath } from 'node:url';
import type { Config } from '../config/schema.ts';
import { rolesOf } from '../config/roles.ts';
import type { CachedGrants } from '../directory/grants.ts';
import type { ReceiverStatistics } from '../ingest/receiver-statistics.ts';
import * as options from './options.ts';
import type { Queue } from '../queue/port.ts';
import type { ConnectionGate } from '../admission/port.ts';
import { openAcceptPort } from '../server/accept-port.ts';
import { type Certificate, openCertificate } from '../server/certificate.ts';
import type { Answers as OpenAnswers } from '../server/health.ts';
import type { RouteParts } from '../server/routes.ts';
import type { Server } from '../server/server.ts';
import type { HttpEvents } from '../telemetry/http-events.ts';
import type { Instruments } from '../telemetry/instruments.ts';
import { createWorkerEvents } from '../telemetry/worker-events.ts';
import { sumOfMetrics } from '../workers/metric-sums.ts';
import type { OwnedParts } from '../workers/owner.ts';
import { createWorkers, type Workers, workersDefaults } from '../workers/supervisor.ts';

export interface WorkersParts extends Omit<OwnedParts, 'forgotten'> {
  readonly queue: Queue;
  readonly grants: CachedGrants;
  readonly instruments: Instruments;
  readonly httpEvents: HttpEvents;
  readonly gate: ConnectionGate;
  readonly addresses: options.RunAddresses;
}

export interface IngestWorkers extends OpenAnswers {
  /** What workers have counted is written before statistics are read. */
  beneath(statistics: ReceiverStatistics): ReceiverStatistics;
  /** A change is answered once no worker goes by what was before it. */
  behind<Routes extends Pick<RouteParts, 'admin'>>(routes: Routes): Routes;
  /**
   * Opens the ingest port, whose number the addresses are told, and starts the workers; until they
   * take connections, those are closed.
   * @param server has the other ports.
   * @throws Error in words for the operator
   */
  open(server: Pick<Server, 'ports' | 'caFile'>): Promise<void>;
  /** Accepts no more, lets requests under way end, and ends the workers. */
  close(): Promise<void>;
}

/** A worker that takes longer is busy with something else, and is asked again the next time. */
const waitMs = 1_000;

/** @returns undefined where this process takes events in itself, or none. */
export function createIngestWorkers(
  config: Config,
  parts: WorkersParts,
): IngestWorkers | undefined {
  if (config.workers === 1 || !rolesOf(config).has('gateway')) return undefined;
  const { addresses, instruments, missing } = parts;
  let forgotten = 0;
  const workers: Workers = createWorkers(
    {
      file: fileURLToPath(new URL('./worker-process.ts', import.meta.url)),
      begin: () => ({ settings: config, ingestUrl: addresses.ingestUrl, forgotten }),
      parts: { ...parts, forgotten: () => forgotten },
    },
    toWorkersOptions(config),
    createWorkerEvents(instruments, {
      running: () => workers.running(),
      connections: () => workers.connections(),
    }),
  );
  parts.queue.whenSeriesForgotten(() => {
    forgotten += 1;
    workers.tellAll('forgetSeries', forgotten);
  });
  let heard = Promise.resolve();
  parts.grants.whenInvalidated(() => {
    heard = workers.askAll('invalidate', null, waitMs);
  });
  const { metrics } = instruments;
  const opened = new AsyncDisposableStack();

  return {
    beneath: (statistics) => ({
      accepted: (...told) => statistics.accepted(...told),
      replayed: (...told) => statistics.replayed(...told),
      refused: (...told) => statistics.refused(...told),
      async history(...asked) {
        await workers.askAll('flushStatistics', null, waitMs);
        return statistics.history(...asked);
      },
      flush: () => statistics.flush(),
      close: () => statistics.close(),
    }),
    behind: (routes) => ({
      ...routes,
      admin: routes.admin.map((route) => ({
        ...route,
        async handle(request) {
          const answer = await route.handle(request);
          await heard;
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
      // Workers only read the certificate: who has no other port with it looks after it here.
      const certificate =
        server.caFile === undefined
          ? opened.adopt(await openTheirCertificate(config, parts), (it) => it.close())
          : server;
      opened.defer(() => workers.close());
      const { host, port } = config.ingest;
      const accepting = await openAcceptPort(
        { surface: 'ingest', host, port, maxConnections: undefined },
        { gate: parts.gate, events: parts.httpEvents },
        (socket, permit) => workers.hand({ socket, permit }),
      );
      opened.defer(() => accepting.close());
      const ports = { ...server.ports, ingest: accepting.port };
      addresses.settle({ caFile: certificate.caFile, ports });
      await workers.start();
    },
    close: () => opened.disposeAsync(),
  };
}

function openTheirCertificate(config: Config, { httpEvents }: WorkersParts): Promise<Certificate> {
  return openCertificate(options.toServerOptions(config).tls, httpEvents);
}

function toWorkersOptions(config: Config) {
  const { closing } = options.toServerOptions(config);
  return {
    ...workersDefaults,
    count: config.workers,
    maxConnections: config.ingest.maxConnections,
    stopMs: closing.graceMs + 5_000,
  };
}
