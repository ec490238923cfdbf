/**
 * The ingest port: turns HTTP requests into ingest requests, and their answers into responses. It
 * reads no body; the ingest pipeline does.
 */
import type { FastifyInstance } from 'fastify';
import type { Ingest, IngestAnswer } from '../ingest/ingest.ts';
import type { HttpRoute, Protocol } from '../model/protocol.ts';
import type { IngestEvents } from '../telemetry/request-events.ts';
import { toAppError } from './errors.ts';
import { mountOpenRoutes, type OpenRoute } from './open-routes.ts';
import { createSurface, type SurfaceContext, toBytes, unknownRoute } from './surface.ts';
import { readHeaders, toRequestBody } from './transport.ts';

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

function mountProtocol(
  app: FastifyInstance,
  protocol: HttpProtocol,
  { ingest, ingestEvents }: IngestSurfaceParts,
): void {
  const { http, maxBodyBytes, encodeProblem } = protocol;
  const method = 'POST';
  const config = { failure: { maxDiscardBytes: maxBodyBytes, encode: encodeProblem } };
  const urls = [`${receiverUrl}/${http.path}`, ...(http.tokenPath ? [http.tokenPath] : [])];
  for (const url of urls) {
    app.route<{ Params: { receiverId?: string } }>({
      method,
      url,
      config,
      handler: async ({ params: { receiverId }, raw }, reply) => {
        try {
          // The decoded parameter may contain slashes or be a dot segment.
          if (receiverId !== undefined && !receiverIdPattern.test(receiverId)) {
            throw unknownRoute(method, raw.url ?? '');
          }
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
  if (http.prefix === undefined) return;
  app.route({
    method,
    url: `${receiverUrl}/${http.prefix}/*`,
    config,
    handler: ({ url }) => {
      throw unknownRoute(method, url);
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
  const headers: Record<string, string> = { ...reply.headers };
  if (rateLimit !== undefined) {
    headers['ratelimit-policy'] = rateLimit.policy;
    headers['ratelimit'] = rateLimit.state;
  }
  if (replayed) headers['idempotency-replayed'] = 'true';
  return headers;
}
