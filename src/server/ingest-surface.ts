/**
 * The ingest port: turns HTTP requests into ingest requests, and their answers into responses. It
 * reads no body; the ingest pipeline does.
 */
import type { FastifyInstance } from 'fastify';
import type { Ingest, IngestAnswer } from '../ingest/ingest.ts';
import type { Protocol } from '../model/protocol.ts';
import type { IngestEvents } from '../telemetry/request-events.ts';
import { toAppError } from './errors.ts';
import { mountOpenRoutes } from './open-routes.ts';
import type { IngestRoute, RouteTable } from './route.ts';
import {
  createSurface,
  type FailureForm,
  type SurfaceContext,
  toBytes,
  unknownRoute,
} from './surface.ts';
import { readHeaders, toRequestBody } from './transport.ts';

export interface IngestSurfaceParts {
  readonly ingest: Ingest;
  readonly ingestEvents: IngestEvents;
}

const receiverIdPattern = /^[\w-]{1,64}$/;
const receiverPath = /^\/v1\/receivers\/([\w-]{1,64})(?:[/?]|$)/;

export function createIngestSurface(
  context: SurfaceContext,
  routes: RouteTable['ingest'],
  parts: IngestSurfaceParts,
): FastifyInstance {
  const app = createSurface(context);
  for (const route of routes.data) {
    mountIngestRoute(app, route, parts);
    mountPrefix(app, route);
  }
  mountOpenRoutes(app, routes.open);
  countUnknownRoutes(app, parts.ingest);
  return app;
}

function mountIngestRoute(
  app: FastifyInstance,
  { method, path, protocol }: IngestRoute,
  { ingest, ingestEvents }: IngestSurfaceParts,
): void {
  app.route<{ Params: { receiverId: string } }>({
    method,
    url: path,
    config: { failure: failureForm(protocol) },
    handler: async ({ params: { receiverId }, raw }, reply) => {
      try {
        // The decoded parameter may contain slashes or be a dot segment.
        if (!receiverIdPattern.test(receiverId)) throw unknownRoute(method);
        const headers = readHeaders(raw);
        const peerAddress = raw.socket.remoteAddress ?? '';
        const body = toRequestBody(raw, reply.raw);
        const answer = await ingest.ingest({ receiverId, headers, peerAddress, body }, protocol);
        const { status, contentType, body: content } = answer.reply;
        reply.code(status).headers(answerHeaders(answer));
        if (contentType === undefined) return undefined;
        reply.header('content-type', contentType);
        return toBytes(content);
      } catch (fault) {
        ingestEvents.refused(protocol.name, toAppError(fault).code);
        throw fault;
      }
    },
  });
}

function mountPrefix(app: FastifyInstance, { method, prefix, protocol }: IngestRoute): void {
  if (prefix === undefined) return;
  app.route({
    method,
    url: `${prefix}/*`,
    config: { failure: failureForm(protocol) },
    handler: () => {
      throw unknownRoute(method);
    },
  });
}

/** A slightly wrong URL is a common mistake; the receiver's statistics show it. */
function countUnknownRoutes(app: FastifyInstance, ingest: Ingest): void {
  app.addHook('onResponse', ({ is404, method, raw, routeOptions }, _reply, done) => {
    const isUnknown = is404 || routeOptions.url?.endsWith('/*') === true;
    const receiverId = isUnknown ? receiverPath.exec(raw.url ?? '')?.[1] : undefined;
    if (receiverId !== undefined) {
      const peerAddress = raw.socket.remoteAddress ?? '';
      ingest.stray({ receiverId, headers: readHeaders(raw), peerAddress }, unknownRoute(method));
    }
    done();
  });
}

function failureForm({ maxBodyBytes, encodeProblem }: Protocol): FailureForm {
  return { maxDiscardBytes: maxBodyBytes, encode: encodeProblem };
}

/** The headers of an answer, on HTTP and gRPC. */
export function answerHeaders({
  reply,
  rateLimit,
  replayed,
}: IngestAnswer): Record<string, string> {
  const headers: Record<string, string> = { ...reply.headers };
  if (rateLimit !== undefined) {
    headers['ratelimit-policy'] = rateLimit.policy;
    headers['ratelimit'] = rateLimit.state;
  }
  if (replayed) headers['idempotency-replayed'] = 'true';
  return headers;
}
