/** Opens the three ports, each with its surface, and closes them without losing a request. */
import type { FastifyInstance } from 'fastify';
import type { Admission, ConnectionGate } from '../admission/port.ts';
import type { HttpEvents, Surface } from '../telemetry/request-events.ts';
import {
  bindSurfaces,
  type BoundSurfaces,
  type ClosingTimes,
  type handedOver,
  type PortOptions,
  type UnboundSurface,
} from './bound-surfaces.ts';
import { type Certificate, type CertificateOptions, openCertificate } from './certificate.ts';
import { serveGrpc } from './grpc.ts';
import {
  createGrpcMethods,
  type GrpcMethods,
  grpcProtocolOf,
  noGrpcMethods,
} from './grpc-methods.ts';
import { createIngestSurface, type IngestSurfaceParts } from './ingest-surface.ts';
import { type ConnectionLimits, createListener, type RequestHandler } from './listener.ts';
import { createOpsSurface, openOpsServer } from './ops-surface.ts';
import { createRoutes, type RouteParts } from './routes.ts';
import { createStreamSurface, privateHeaders } from './stream-surface.ts';
import type { SurfaceContext } from './surface.ts';

export interface ServerOptions {
  /** Undefined = not served by this process. */
  readonly ingest: PortOptions | typeof handedOver | undefined;
  /** Undefined = not served by this process. */
  readonly stream: PortOptions | undefined;
  /** Plain HTTP: keep it on a local address. Undefined = not served by this process. */
  readonly ops: PortOptions | undefined;
  readonly limits: ConnectionLimits;
  /** Of each TLS port. */
  readonly maxConnections: number;
  readonly tls: CertificateOptions;
  /** Of the built pages. */
  readonly explorerDirectory: string;
  readonly closing: ClosingTimes;
}

export interface ServerParts extends IngestSurfaceParts, RouteParts {
  readonly admission: Admission;
  /** Undefined where this process accepts no connections with TLS itself. */
  readonly gate: ConnectionGate | undefined;
}

export interface Server extends BoundSurfaces {
  /** PEM of the local authority; undefined with the operator's own certificate. */
  readonly caFile: string | undefined;
}

/** @throws AppError `malformed` for an unusable certificate; Error when a port cannot be bound */
export async function openServer(
  options: ServerOptions,
  parts: ServerParts,
  events: HttpEvents,
): Promise<Server> {
  const { ingest, stream, ops } = options;
  if (ingest === undefined && stream === undefined && ops !== undefined) {
    const bound = await openOpsServer(ops, options.closing, { ...parts, events });
    return { ...bound, caFile: undefined };
  }
  const certificate = await openCertificate(options.tls, events);
  try {
    const surfaces = createSurfaces(options, { ...parts, certificate, events });
    const bound = await bindSurfaces(surfaces, options.closing);
    const close = async () => {
      certificate.close();
      await bound.close();
    };
    return { ...bound, caFile: certificate.caFile, close };
  } catch (error) {
    certificate.close();
    throw error;
  }
}

type SurfaceParts = ServerParts & {
  readonly certificate: Certificate;
  readonly events: HttpEvents;
};

function createSurfaces(options: ServerOptions, parts: SurfaceParts): UnboundSurface[] {
  const { gate, events } = parts;
  const { maxConnections } = options;
  const routes = createRoutes(parts);
  const surfaces: UnboundSurface[] = [];
  const add = (
    surface: Surface,
    port: UnboundSurface['port'] | undefined,
    app: () => FastifyInstance,
  ) => {
    const accepting = surface === 'ops' || !gate ? undefined : { gate, events, maxConnections };
    if (port !== undefined) surfaces.push({ surface, port, app: app(), accepting });
  };
  add('ingest', options.ingest, () => {
    const listen = listenWithGrpc('ingest', options, parts, createGrpcMethods(parts));
    return createIngestSurface({ ...listen, headers: {} }, routes.ingest, parts);
  });
  add('stream', options.stream, () => {
    const listen = listenWithGrpc('stream', options, parts, noGrpcMethods);
    return createStreamSurface({ ...listen, headers: privateHeaders }, routes.stream, {
      admission: parts.admission,
      explorerDirectory: options.explorerDirectory,
    });
  });
  add('ops', options.ops, () => createOpsSurface(routes.ops, parts));
  return surfaces;
}

/** A TLS listener for HTTP and, beside it, gRPC. */
function listenWithGrpc(
  surface: Surface,
  { limits }: ServerOptions,
  { admission, protocols, certificate, events }: SurfaceParts,
  methods: GrpcMethods,
): Omit<SurfaceContext, 'headers'> {
  const context = { surface, events, admission, protocol: grpcProtocolOf(protocols) };
  const listen = (handle: RequestHandler) =>
    createListener({ surface, limits, certificate, events }, serveGrpc(context, methods, handle));
  return { surface, events, admission, listen };
}
