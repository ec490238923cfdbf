/**
 * The ingest port: turns HTTP requests into ingest requests, and their answers into responses. It
 * reads no body; the ingest pipeline does.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { IngestRequest } from '../ingest/admit.ts';
import type { Ingest, IngestAnswer } from '../ingest/ingest.ts';
import type { HttpRoute, Protocol, Reply } from '../model/protocol.ts';
import type { RequestTarget } from '../model/request.ts';
import type { IngestEvents } from '../telemetry/request-events.ts';
import { rateLimitHeaders, toAppError } from './errors.ts';
import { mountOpenRoutes, type OpenRoute } from './open-routes.ts';
import { createSurface, type SurfaceContext, toBytes, unknownRoute } from './surface.ts';
import { readHeaders, searchOf, toRequestBody } from './transport.ts';

export interface IngestSurfaceParts {
  readonly ingest: Ingest;
  readonly ingestEvents: IngestEvents;
}

/** A protocol with a route below the address of a receiver. */
export type HttpProtocol = Protocol & { readonly http: HttpRoute };

export interface IngestRoutes {
  readonly data: readonly HttpProtocol[];
  readonly open: readonly OpenRoute[];
}

export const receiverUrl = '/v1/receivers/:receiverId';

const receiverIdPattern = /^[\w-]{1,64}$/;
const receiverPath = /^\/v1\/receivers\/([\w-]{1,64})(?:[/?]|$)/;

export function createIngestSurface(
  context: SurfaceContext,
  { data, open }: IngestRoutes,
  parts: IngestSurfaceParts,
): FastifyInstance {
  const app = createSurface(context);
  for (const protocol of data) mountProtocol(app, protocol, parts);
  mountOpenRoutes(app, open);
  countUnknownRoutes(app, parts.ingest);
  return app;
}

/** Methods by which senders push. */
export function methodsOf({ takesPut }: HttpProtocol['http']): readonly ('POST' | 'PUT')[] {
  return takesPut === true ? ['POST', 'PUT'] : ['POST'];
}

function mountProtocol(
  app: FastifyInstance,
  protocol: HttpProtocol,
  { ingest, ingestEvents }: IngestSurfaceParts,
): void {
  const { http, maxBodyBytes, encodeProblem } = protocol;
  const { path, otherPaths = [], tokenPaths = [], statusRoutes = [] } = http;
  const config = { failure: { maxDiscardBytes: maxBodyBytes, encode: encodeProblem } };
  for (const url of [path, ...otherPaths].map(belowReceiver).concat(tokenPaths)) {
    app.route<Params>({
      method: [...methodsOf(http)],
      url,
      config,
      handler: async (request, reply) => {
        try {
          const answer = await ingest.ingest(toIngestRequest(request, reply), protocol);
          reply.headers(answerHeaders(answer));
          return sendReply(reply, answer.reply);
        } catch (fault) {
          ingestEvents.refused(protocol.name, toAppError(fault).code);
          throw fault;
        }
      },
    });
  }
  for (const route of statusRoutes) {
    app.route<Params>({
      method: [...route.methods],
      url: route.path.startsWith('/') ? route.path : belowReceiver(route.path),
      config,
      handler: async (request, reply) =>
        sendReply(
          reply,
          await ingest.answerStatus(toIngestRequest(request, reply), protocol, route),
        ),
    });
  }
  if (http.prefix === undefined) return;
  app.route({
    method: ['GET', 'POST', 'PUT', 'DELETE'],
    url: `${receiverUrl}/${http.prefix}/*`,
    config,
    handler: ({ method, url }) => {
      throw unknownRoute(method, url);
    },
  });
}

interface Params {
  readonly Params: { readonly receiverId?: string } & RequestTarget['path'];
}

function belowReceiver(path: string): string {
  return `${receiverUrl}/${path}`;
}

function toIngestRequest(
  { params, raw, method }: FastifyRequest<Params>,
  reply: FastifyReply,
): IngestRequest {
  const { receiverId } = params;
  const url = raw.url ?? '';
  // The decoded parameter may contain slashes or be a dot segment.
  if (receiverId !== undefined && !receiverIdPattern.test(receiverId)) {
    throw unknownRoute(method, url);
  }
  return {
    receiverId,
    headers: readHeaders(raw),
    peerAddress: raw.socket.remoteAddress ?? '',
    body: toRequestBody(raw, reply.raw),
    target: { path: params, query: new URLSearchParams(searchOf(raw)) },
  };
}

function sendReply(
  reply: FastifyReply,
  { status, contentType, body, headers }: Reply,
): Uint8Array | undefined {
  reply.code(status).headers(headers ?? {});
  if (contentType === undefined) return undefined;
  reply.header('content-type', contentType);
  return toBytes(body);
}

/** A slightly wrong URL is a common mistake; the receiver's statistics show it. */
function countUnknownRoutes(app: FastifyInstance, ingest: Ingest): void {
  app.addHook('onResponse', ({ is404, method, raw, routeOptions }, _reply, done) => {
    const isUnknown = is404 || routeOptions.url?.endsWith('/*') === true;
    const receiverId = isUnknown ? receiverPath.exec(raw.url ?? '')?.[1] : undefined;
    if (receiverId !== undefined) {
      const peerAddress = raw.socket.remoteAddress ?? '';
      const error = unknownRoute(method, raw.url ?? '');
      ingest.stray({ receiverId, headers: readHeaders(raw), peerAddress }, error);
    }
    done();
  });
}

/** The headers of an answer, on HTTP and gRPC. */
export function answerHeaders({
  reply,
  rateLimit,
  replayed,
}: IngestAnswer): Record<string, string> {
  return {
    ...reply.headers,
    ...rateLimitHeaders(rateLimit),
    ...(replayed && { 'idempotency-replayed': 'true' }),
  };
}
