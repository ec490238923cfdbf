/** Opens the three ports, each with its surface, and closes them without losing a request. */
import { createServer } from 'node:http';
import type { AddressInfo, Server as NetServer, Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { Admission } from '../admission/port.ts';
import type { HttpEvents, Surface } from '../telemetry/http-events.ts';
import { type Certificate, type CertificateOptions, openCertificate } from './certificate.ts';
import { serveGrpc } from './grpc.ts';
import { createGrpcMethods, type GrpcMethods, noGrpcMethods } from './grpc-methods.ts';
import { createIngestSurface, type IngestSurfaceParts } from './ingest-surface.ts';
import { type ConnectionLimits, createListener, type RequestHandler } from './listener.ts';
import type { RouteTable } from './route.ts';
import { createRoutes, type RouteParts } from './routes.ts';
import { createStreamSurface, privateHeaders } from './stream-surface.ts';
import { createSurface, mountOpenRoutes } from './surface.ts';

export interface PortOptions {
  /** Empty = all addresses, IPv6 and IPv4. */
  readonly host: string;
  /** 0 = any free port. */
  readonly port: number;
}

export interface ServerOptions {
  readonly ingest: PortOptions;
  readonly stream: PortOptions;
  /** Plain HTTP: keep it on a local address. */
  readonly ops: PortOptions;
  readonly limits: ConnectionLimits;
  readonly tls: CertificateOptions;
  /** Of the built pages. */
  readonly explorerDirectory: string;
  /** Requests under way may take this long to end when the server closes. */
  readonly closeGraceMs: number;
}

export interface ServerParts extends IngestSurfaceParts, RouteParts {
  readonly admission: Admission;
}

export interface Server {
  /** The ports as they were bound. */
  readonly ports: Readonly<Record<Surface, number>>;
  /** PEM of the local authority; undefined with the operator's own certificate. */
  readonly caFile: string | undefined;
  /** Stops accepting, lets requests under way end, then lets go of every connection. */
  close(): Promise<void>;
}

/** @throws AppError `malformed` for an unusable certificate; Error when a port cannot be bound */
export async function openServer(
  options: ServerOptions,
  parts: ServerParts,
  events: HttpEvents,
): Promise<Server> {
  const certificate = await openCertificate(options.tls, events);
  const routes = createRoutes(parts);
  const surfaces = createSurfaces(options, parts, routes, certificate, events);
  const sockets = new Set<Socket>();
  const ports: Record<Surface, number> = { ingest: 0, stream: 0, ops: 0 };

  const close = async () => {
    certificate.close();
    const timer = setTimeout(() => {
      for (const socket of sockets) socket.destroy();
    }, options.closeGraceMs);
    await Promise.all(Object.values(surfaces).map(closeSurface));
    clearTimeout(timer);
    for (const socket of sockets) socket.destroy();
  };
  try {
    for (const surface of ['ingest', 'stream', 'ops'] as const) {
      const app = surfaces[surface];
      track(app.server, sockets);
      ports[surface] = await bind(app, surface, options[surface]);
    }
  } catch (error) {
    await close();
    throw error;
  }
  return { ports, caFile: certificate.caFile, close };
}

function createSurfaces(
  options: ServerOptions,
  parts: ServerParts,
  routes: RouteTable,
  certificate: Certificate,
  events: HttpEvents,
): Record<Surface, FastifyInstance> {
  const { limits } = options;
  const { admission } = parts;
  const protocol = parts.protocols.otlpGrpc;
  const withGrpc = (surface: Surface, methods: GrpcMethods, handle: RequestHandler) =>
    serveGrpc({ surface, events, admission, protocol }, methods, handle);
  const methods = createGrpcMethods(parts);
  const ingestListen = (handle: RequestHandler) =>
    createListener('ingest', limits, certificate, withGrpc('ingest', methods, handle), events);
  const streamListen = (handle: RequestHandler) => {
    const dispatch = withGrpc('stream', noGrpcMethods, handle);
    return createListener('stream', limits, certificate, dispatch, events);
  };
  const ingest = createIngestSurface(
    { surface: 'ingest', events, admission, listen: ingestListen, headers: {} },
    routes.ingest,
    parts,
  );
  const stream = createStreamSurface(
    { surface: 'stream', events, admission, listen: streamListen, headers: privateHeaders },
    routes.stream,
    { admission, explorerDirectory: options.explorerDirectory },
  );
  const ops = createSurface({
    surface: 'ops',
    events,
    admission,
    listen: (handle) => createServer(withGrpc('ops', noGrpcMethods, handle)),
    headers: {},
  });
  mountOpenRoutes(ops, routes.ops.open);
  return { ingest, stream, ops };
}

async function bind(app: FastifyInstance, name: Surface, options: PortOptions): Promise<number> {
  const { host, port } = options;
  try {
    await app.ready();
    await listen(app.server, host, port);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Error(
      `cannot open the ${name} port ${host}:${port}: ${reason}; choose another with --${name}-port`,
      { cause },
    );
  }
  return (app.server.address() as AddressInfo).port;
}

/**
 * Fastify marks answers as the last of their connections from here on; the listener itself is ours
 * to close.
 */
async function closeSurface(app: FastifyInstance): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const closing = app.close();
  if (app.server.listening) app.server.close(() => resolve());
  else resolve();
  await Promise.all([closing, promise]);
}

function listen(server: NetServer, host: string, port: number): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject);
  const done = () => {
    server.off('error', reject);
    resolve();
  };
  if (host === '') server.listen(port, done);
  else server.listen(port, host, done);
  return promise;
}

function track(server: NetServer, sockets: Set<Socket>): void {
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
}
