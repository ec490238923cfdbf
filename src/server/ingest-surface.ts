/**
 * The ingest port: requests become values for the ingest spine, and what it returns or throws
 * becomes an answer. Bodies are never touched here or by the framework.
 */
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Ingest, IngestAnswer } from '../ingest/ingest.ts';
import type { Protocol } from '../model/protocol.ts';
import type { IngestEvents } from '../telemetry/request-events.ts';
import { toAppError } from './errors.ts';
import type { IngestRoute, RouteTable } from './route.ts';
import {
  createSurface,
  type FailureForm,
  mountOpenRoutes,
  sendFailure,
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

export function createIngestSurface(
  context: SurfaceContext,
  routes: RouteTable['ingest'],
  parts: IngestSurfaceParts,
): FastifyInstance {
  const app = createSurface(context);
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'QUERY'] as const) {
    app.addHttpMethod(method, { hasBody: false, overrideExisting: true });
  }
  for (const route of routes.data) {
    mountIngestRoute(app, context, route, parts);
    mountPrefix(app, context, route);
  }
  mountOpenRoutes(app, routes.open);
  noteStrays(app, parts.ingest);
  return app;
}

const receiverPath = /^\/v1\/receivers\/([\w-]{1,64})(?:[/?]|$)/;

/** A URL that is nearly right is the commonest mistake of senders: their receiver shows it. */
function noteStrays(app: FastifyInstance, ingest: Ingest): void {
  app.addHook('onResponse', ({ is404, method, raw, routeOptions }, _reply, done) => {
    const isStray = is404 || routeOptions.url?.endsWith('/*') === true;
    const receiverId = isStray ? receiverPath.exec(raw.url ?? '')?.[1] : undefined;
    if (receiverId !== undefined) {
      const peerAddress = raw.socket.remoteAddress ?? '';
      ingest.stray({ receiverId, headers: readHeaders(raw), peerAddress }, unknownRoute(method));
    }
    done();
  });
}

function mountIngestRoute(
  app: FastifyInstance,
  context: SurfaceContext,
  { method, path, protocol }: IngestRoute,
  { ingest, ingestEvents }: IngestSurfaceParts,
): void {
  const form = failureForm(protocol);
  app.route<{ Params: { receiverId: string } }>({
    method,
    url: path,
    handler: async (request, reply) => {
      const { receiverId } = request.params;
      const body = toRequestBody(request.raw, reply.raw);
      let answer: IngestAnswer;
      try {
        // A path decoded to more than one segment, or to a dot, is none of ours.
        if (!receiverIdPattern.test(receiverId)) throw unknownRoute(method);
        const headers = readHeaders(request.raw);
        const peerAddress = request.raw.socket.remoteAddress ?? '';
        const sent = { receiverId, headers, peerAddress, body };
        answer = await ingest.ingest(sent, protocol);
      } catch (fault) {
        const error = toAppError(fault);
        ingestEvents.refused(protocol.name, error.code);
        return sendFailure(context, error, request, reply, form);
      }
      return sendAnswer(reply, answer);
    },
  });
}

function mountPrefix(
  app: FastifyInstance,
  context: SurfaceContext,
  { method, prefix, protocol }: IngestRoute,
): void {
  if (prefix === undefined) return;
  const form = failureForm(protocol);
  app.route({
    method,
    url: `${prefix}/*`,
    handler: (request, reply) => sendFailure(context, unknownRoute(method), request, reply, form),
  });
}

function failureForm({ maxBodyBytes, encodeProblem }: Protocol): FailureForm {
  return { maxDiscardBytes: maxBodyBytes, encode: encodeProblem };
}

function sendAnswer(reply: FastifyReply, answer: IngestAnswer): FastifyReply {
  const { status, contentType, body } = answer.reply;
  reply.code(status).headers(answerHeaders(answer));
  if (contentType === undefined) return reply.send();
  return reply.header('content-type', contentType).send(toBytes(body));
}

/** What goes along with an answer, whatever its transport. */
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
