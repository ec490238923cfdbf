/**
 * Opens the parts of a worker process: it has its own TLS, protocols, admission and decoders, and
 * reaches queue, directory, quotas and statistics in the main process. Closes in reverse.
 */
import { join, resolve } from 'node:path';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { createKnownLevels } from '../admission/known-levels.ts';
import type { Config } from '../config/schema.ts';
import { openGrants, openStatistics } from './open-directory.ts';
import { Parts, startOpening } from './opening.ts';
import { createGateway } from './gateway.ts';
import { toServerOptions } from './addresses.ts';
import { createProtocols } from './protocols.ts';
import { noStreamRoutes } from './reads.ts';
import { handedOver } from '../server/ports.ts';
import { openServer, type ServerOptions } from '../server/server.ts';
import { createDirectoryEvents } from '../telemetry/node-events.ts';
import { createHttpEvents } from '../telemetry/request-events.ts';
import { version } from './version.ts';
import { openChannel } from '../channel/channel.ts';
import { overStream } from '../channel/stream.ts';
import type { MainChannel, MainMethods, WorkerMethods, WorkerStart } from '../workers/methods.ts';
import type { HandedConnection } from '../workers/worker-process.ts';
import * as remote from '../workers/remote-parts.ts';
import { messageOf } from '../std/error-text.ts';

type Ending = 'asked' | 'orphaned';

/**
 * @param stream to the main process.
 * @throws Error for the operator, also reported to the main process
 */
export async function openWorker(stream: Duplex) {
  let parts: WorkerParts | undefined;
  let seriesEpoch = 0;
  let isStopped = false;
  const main = openChannel<WorkerMethods, MainMethods>(overStream(stream), {
    ping: () => undefined,
    invalidate: () => parts?.grants.invalidate(),
    forgetSeries(epoch) {
      seriesEpoch = epoch;
      parts?.gateway.forgetSeries();
    },
    flushStatistics: () => parts?.statistics.flush(),
    metrics: async () => (await parts?.instruments.metrics.getMetricsAsJSON()) ?? [],
    async stop() {
      isStopped = true;
      await parts?.close();
    },
  });
  const ended = main.closed.then((): Ending => (isStopped ? 'asked' : 'orphaned'));
  const start = await main.remote.start();
  seriesEpoch = Math.max(seriesEpoch, start.seriesEpoch);
  try {
    parts = await openParts(start, main, () => seriesEpoch);
  } catch (error) {
    main.notify('failed', messageOf(error));
    throw error;
  }
  const { server } = parts;
  const noteEnd = createClosedBatcher((ids) => main.notify('connectionsEnded', ids));
  main.notify('ready');
  return {
    /** Resolves when the main process has ended or requests a stop. */
    ended,
    /**
     * Handles a connection accepted by the main process; undefined = it broke in transit.
     * @param id its number in the main process
     */
    take({ id, kind }: HandedConnection, socket: Socket | undefined): void {
      if (socket === undefined) return noteEnd(id);
      const permit = {
        closed: () => noteEnd(id),
        abused: () => main.notify('connectionAbused', id),
      };
      server.take(socket, permit, kind);
    },
  };
}

type WorkerParts = Awaited<ReturnType<typeof openParts>>;

async function openParts(
  { settings, number, ingestUrl }: WorkerStart,
  main: MainChannel,
  seriesEpoch: () => number,
) {
  await using parts = new Parts();
  const config = settings as Config;
  const opening = startOpening(config, parts, { worker: number });
  const { instruments } = opening;
  const directory = main.remote;
  const grants = openGrants(opening, directory, createDirectoryEvents(instruments));
  const statistics = openStatistics(opening, directory);
  const known = createKnownLevels({ maxLevels: 10_000, maxAgeMs: 5_000 }, () => performance.now());
  const gateway = createGateway(
    opening,
    {
      grants,
      quota: remote.createRemoteQuota(main, known),
      queue: remote.createRemoteQueue(main, seriesEpoch),
      claims: remote.createRemoteClaims(main),
      statistics,
    },
    1 / config.workers,
  );
  const info = { version, serverUrl: ingestUrl };
  const server = parts.own(
    await openServer(
      toWorkerServerOptions(config),
      {
        ...gateway,
        protocols: createProtocols(config),
        ...noStreamRoutes,
        ingestInfo: info,
        streamInfo: info,
        missing: () => main.remote.missing(),
        metrics: instruments.metrics,
        gate: undefined,
      },
      createHttpEvents(instruments),
    ),
  );
  const running = parts.move();
  const close = () => running.disposeAsync();
  return { instruments, grants, statistics, gateway, server, close };
}

/** A worker binds no port and only reads the certificate of the local authority. */
function toWorkerServerOptions(config: Config): ServerOptions {
  const all = toServerOptions(config);
  const { certFile, keyFile } = all.tls;
  const folder = join(resolve(config.data), 'tls');
  const isLocal = certFile === undefined && keyFile === undefined;
  const local = { certFile: join(folder, 'server.pem'), keyFile: join(folder, 'server-key.pem') };
  const tls = isLocal ? { ...all.tls, ...local } : all.tls;
  const hasPlain = config.proxy.ingestPort !== 0;
  const hasProxyHeader = config.proxy.proxyProtocol === 'required';
  const ingest = hasPlain ? handedOver : undefined;
  const plain = { ingest, stream: undefined, hasProxyHeader } as const;
  return { ...all, tls, plain, ingest: handedOver, stream: undefined, ops: undefined };
}

/** Sends the ends of connections in one message per event-loop turn. */
function createClosedBatcher(tell: (ids: readonly number[]) => void): (id: number) => void {
  let ids: number[] = [];
  return (id) => {
    ids.push(id);
    if (ids.length > 1) return;
    setImmediate(() => {
      tell(ids);
      ids = [];
    });
  };
}
