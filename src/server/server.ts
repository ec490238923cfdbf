/** Opens the ports, each with its surface, and closes them without losing a request. */
import { createServer } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { Oidc } from '../admin/oidc.ts';
import type { Sessions } from '../admin/sessions.ts';
import type { Admission, ConnectionGate } from '../admission/port.ts';
import type { Protocol } from '../model/protocol.ts';
import type { HttpEvents, Surface } from '../telemetry/request-events.ts';
import { type Certificate, type CertificateOptions, openCertificate } from './certificate.ts';
import { serveGrpc } from './grpc.ts';
import {
  createGrpcMethods,
  type GrpcMethods,
  grpcProtocolOf,
  noGrpcMethods,
} from './grpc-methods.ts';
import { createIngestSurface, type IngestSurfaceParts } from './ingest-surface.ts';
import { type ConnectionLimits, createListener, onClientError } from './listener.ts';
import { type Answers, mountOpenRoutes, type OpenRoute } from './open-routes.ts';
import { createPlainListener } from './plain-listener.ts';
import {
  bindSurfaces,
  type BoundSurfaces,
  type ClosingTimes,
  type handedOver,
  type PortOptions,
  type UnboundSurface,
} from './ports.ts';
import { createOpsRoutes, createRoutes, type RouteParts } from './routes.ts';
import { createStreamSurface, privateHeaders } from './stream-surface.ts';
import { createSurface, type SurfaceContext } from './surface.ts';
import type { RequestHandler } from './transport.ts';

export interface ServerOptions {
  readonly plain?: PlainOptions;
  /** Undefined = not served by this process. */
  readonly ingest: PortOptions | typeof handedOver | undefined;
  /** Undefined = not served by this process. */
  readonly stream: PortOptions | undefined;
  /** Plain HTTP: keep it on a local address. Undefined = not served by this process. */
  readonly ops: PortOptions | undefined;
  readonly limits: ConnectionLimits;
  /** Per TLS port. */
  readonly maxConnections: number;
  readonly tls: CertificateOptions;
  /** Holds the built explorer. */
  readonly explorerDirectory: string;
  readonly closing: ClosingTimes;
}

/** Ports without TLS, for proxies that end it. */
export interface PlainOptions {
  readonly ingest: PortOptions | typeof handedOver | undefined;
  readonly stream: PortOptions | undefined;
  /** Each connection begins with a header of the PROXY protocol. */
  readonly hasProxyHeader: boolean;
}

export interface OpsParts extends Answers {
  readonly admission: Pick<Admission, 'discardBody' | 'paceFailure'>;
  /** One of them encodes the errors of gRPC calls. */
  readonly protocols: readonly Protocol[];
}

export interface ServerParts extends IngestSurfaceParts, RouteParts {
  readonly admission: Admission;
  /** Undefined = admits every connection. */
  readonly gate: ConnectionGate | undefined;
  /** Undefined = only bearer tokens. */
  readonly sessions?: Sessions | undefined;
  /** Undefined = no single sign-on. */
  readonly oidc?: Oidc | undefined;
}

export interface Server extends BoundSurfaces {
  /** PEM of the local authority; undefined with the operator's own certificate. */
  readonly caFile: string | undefined;
  /** Undefined without a TLS port. */
  readonly certificate: Certificate | undefined;
}

/** Admits every connection. */
const openGate: ConnectionGate = {
  admit: () => ({ closed() {}, abused() {} }),
  admitProxy: () => ({ closed() {}, abused() {} }),
};

/** @throws AppError `malformed` for an unusable certificate; Error when a port cannot be bound */
export async function openServer(
  options: ServerOptions,
  parts: ServerParts,
  events: HttpEvents,
): Promise<Server> {
  const { ingest, stream, ops, closing } = options;
  if (ingest === undefined && stream === undefined && ops !== undefined) {
    const bound = await openOpsServer(ops, closing, parts, events);
    return { ...bound, caFile: undefined, certificate: undefined };
  }
  const certificate = await openCertificate(options.tls, events);
  try {
    const surfaces = createSurfaces(options, parts, { certificate, events });
    const bound = await bindSurfaces(surfaces, closing, events);
    const close = async () => {
      certificate.close();
      await bound.close();
    };
    return { ...bound, caFile: certificate.caFile, certificate, close };
  } catch (error) {
    certificate.close();
    throw error;
  }
}

/** The server of an engine-only process: the ops port. */
export function openOpsServer(
  port: PortOptions,
  closing: ClosingTimes,
  parts: OpsParts,
  events: HttpEvents,
): Promise<BoundSurfaces> {
  const surface = createOpsSurface(port, createOpsRoutes(parts), parts, events);
  return bindSurfaces([surface], closing, events);
}

function createSurfaces(
  options: ServerOptions,
  parts: ServerParts,
  { certificate, events }: { readonly certificate: Certificate; readonly events: HttpEvents },
): UnboundSurface[] {
  const { ingest, stream, ops, maxConnections, limits, explorerDirectory } = options;
  const { admission, protocols } = parts;
  const gate = parts.gate ?? openGate;
  const routes = createRoutes(parts);
  /** A TLS listener for HTTP and gRPC. */
  const toContext = (
    surface: Surface,
    methods: GrpcMethods,
    headers: SurfaceContext['headers'],
  ): SurfaceContext => {
    const context = { surface, events, admission };
    const grpc = { ...context, protocol: grpcProtocolOf(protocols) };
    const listen = (handle: RequestHandler) => {
      const serveBoth = serveGrpc(grpc, methods, handle);
      plainHandlers.set(surface, serveBoth);
      return createListener({ surface, limits, certificate, events }, serveBoth);
    };
    return { ...context, headers, listen };
  };
  const plainHandlers = new Map<Surface, RequestHandler>();
  const surfaces: UnboundSurface[] = [];
  const add = (
    surface: 'ingest' | 'stream',
    port: UnboundSurface['port'],
    app: FastifyInstance,
  ) => {
    const plainPort = options.plain?.[surface];
    const handle = plainHandlers.get(surface);
    const hasProxyHeader = options.plain?.hasProxyHeader ?? false;
    const plain =
      plainPort === undefined || handle === undefined
        ? undefined
        : {
            port: plainPort,
            listener: createPlainListener({ surface, limits, events, hasProxyHeader }, handle),
          };
    surfaces.push({ surface, port, plain, app, gate, maxConnections });
  };
  if (ingest !== undefined) {
    const context = toContext('ingest', createGrpcMethods(parts), {});
    add('ingest', ingest, createIngestSurface(context, routes.ingest, parts));
  }
  if (stream !== undefined) {
    const context = toContext('stream', noGrpcMethods, privateHeaders);
    const publicUrl = () => parts.streamInfo.serverUrl;
    const { sessions, oidc } = parts;
    const streamParts = { admission, sessions, oidc, publicUrl, explorerDirectory };
    add('stream', stream, createStreamSurface(context, routes.stream, streamParts));
  }
  if (ops !== undefined) surfaces.push(createOpsSurface(ops, routes.ops, parts, events));
  return surfaces;
}

function createOpsSurface(
  port: PortOptions,
  routes: readonly OpenRoute[],
  { admission, protocols }: OpsParts,
  events: HttpEvents,
): UnboundSurface {
  const surface = 'ops';
  const context = { surface, events, admission } as const;
  const grpc = { ...context, protocol: grpcProtocolOf(protocols) };
  const listen = (handle: RequestHandler) =>
    createServer(serveGrpc(grpc, noGrpcMethods, handle))
      // The port accepts connections paused.
      .on('connection', (socket) => socket.resume())
      .on('clientError', (error: NodeJS.ErrnoException, socket: Socket) =>
        onClientError({ surface, events }, error, socket),
      );
  const app = createSurface({ ...context, listen, headers: {} });
  mountOpenRoutes(app, routes);
  return { surface, app, port, plain: undefined, gate: openGate, maxConnections: undefined };
}
