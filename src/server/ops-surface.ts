/** The ops port: plain HTTP, with what the process says of itself. */
import { createServer } from 'node:http';
import type { FastifyInstance } from 'fastify';
import type { Admission } from '../admission/port.ts';
import type { Protocol } from '../model/protocol.ts';
import type { HttpEvents } from '../telemetry/request-events.ts';
import {
  bindSurfaces,
  type BoundSurfaces,
  type ClosingTimes,
  type PortOptions,
} from './bound-surfaces.ts';
import { serveGrpc } from './grpc.ts';
import { grpcProtocolOf, noGrpcMethods } from './grpc-methods.ts';
import type { Answers } from './health.ts';
import type { RouteTable } from './route.ts';
import { createOpsRoutes } from './routes.ts';
import { createSurface, mountOpenRoutes } from './surface.ts';

export interface OpsSurfaceParts {
  readonly admission: Pick<Admission, 'discardBody' | 'paceFailure'>;
  readonly events: HttpEvents;
  /** One of them encodes the error of a gRPC call. */
  readonly protocols: readonly Protocol[];
}

export function createOpsSurface(
  routes: RouteTable['ops'],
  { admission, events, protocols }: OpsSurfaceParts,
): FastifyInstance {
  const protocol = grpcProtocolOf(protocols);
  const context = { surface: 'ops', events, admission, protocol } as const;
  const surface = createSurface({
    surface: 'ops',
    events,
    admission,
    listen: (handle) => createServer(serveGrpc(context, noGrpcMethods, handle)),
    headers: {},
  });
  mountOpenRoutes(surface, routes.open);
  return surface;
}

/** Of a process that serves nothing else to senders and readers. */
export function openOpsServer(
  port: PortOptions,
  closing: ClosingTimes,
  parts: Answers & OpsSurfaceParts,
): Promise<BoundSurfaces> {
  const app = createOpsSurface(createOpsRoutes(parts), parts);
  return bindSurfaces([{ surface: 'ops', app, port, accepting: undefined }], closing);
}
