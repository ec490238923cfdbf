/**
 * The ingest port: requests become values for the ingest spine, and what it returns or throws
 * becomes an answer. Bodies are never touched here or by the framework.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Admission, RequestBody } from '../admission/port.ts';
import type { Ingest, IngestAnswer } from '../ingest/ingest.ts';
import type { AppError } from '../model/errors.ts';
import type { IngestEvents } from '../telemetry/ingest-events.ts';
import { problemHeaders, problemJson, problemType, toAppError, toProblem } from './errors.ts';
import type { IngestRoute, RouteTable } from './route.ts';
import { createSurface, mountOpenRoutes, type SurfaceContext, unknownRoute } from './surface.ts';
import { lingerAfterAnswer, readHeaders, toRequestBody } from './transport.ts';

export interface IngestSurfaceParts {
  readonly admission: Admission;
  readonly ingest: Ingest;
  readonly ingestEvents: IngestEvents;
}

/** How long a refused sender may go on sending into nothing before the connection is let go. */
const lingerMs = 5000;
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
  for (const route of routes.data) mountIngestRoute(app, context, route, parts);
  mountOpenRoutes(app, routes.open);
  return app;
}

function mountIngestRoute(
  app: FastifyInstance,
  context: SurfaceContext,
  { method, path, protocol }: IngestRoute,
  { admission, ingest, ingestEvents }: IngestSurfaceParts,
): void {
  app.route<{ Params: { receiverId: string } }>({
    method,
    url: path,
    handler: async (request, reply) => {
      const { receiverId } = request.params;
      const body = toRequestBody(request.raw, reply.raw);
      let answer: IngestAnswer;
      try {
        // A path decoded to more than one segment, or to a dot, is none of ours.
        if (!receiverIdPattern.test(receiverId)) throw unknownRoute();
        const headers = readHeaders(request.raw);
        const peerAddress = request.raw.socket.remoteAddress ?? '';
        const sent = { receiverId, headers, peerAddress, body };
        answer = await ingest.ingest(sent, protocol);
      } catch (fault) {
        const error = toAppError(fault);
        ingestEvents.refused(protocol.name, error.code);
        context.events.failed(context.surface, request.id, error);
        return refuse(request, reply, body, error);
      }
      return sendAnswer(reply, answer);
    },
  });

  /** Once the body no longer flows: a sender busy with sending would not see the answer. */
  async function refuse(
    request: FastifyRequest,
    reply: FastifyReply,
    body: RequestBody,
    error: AppError,
  ): Promise<FastifyReply> {
    const isSlow = error.code === 'timeout';
    if (!isSlow) await admission.discardBody(body, protocol.maxBodyBytes);
    if (isSlow && request.raw.httpVersionMajor === 1) reply.header('connection', 'close');
    lingerAfterAnswer(request.raw, reply.raw, isSlow ? 0 : lingerMs);
    return sendRefusal(request, reply, error, protocol.encodeProblem);
  }
}

function sendAnswer(reply: FastifyReply, answer: IngestAnswer): FastifyReply {
  const { status, contentType, body, rateLimit, replayed } = answer;
  reply.code(status);
  if (rateLimit !== undefined) {
    reply.header('ratelimit-policy', rateLimit.policy).header('ratelimit', rateLimit.state);
  }
  if (replayed) reply.header('idempotency-replayed', 'true');
  if (contentType === undefined) return reply.send();
  return reply.header('content-type', contentType).send(toBytes(body));
}

function sendRefusal(
  request: FastifyRequest,
  reply: FastifyReply,
  error: AppError,
  encode: IngestRoute['protocol']['encodeProblem'],
): FastifyReply {
  const problem = toProblem(error, request.id);
  const { contentType, body } = encode?.(problem, request.headers['content-type']) ?? {
    contentType: problemType,
    body: problemJson(problem),
  };
  return reply
    .code(problem.status)
    .headers(problemHeaders(error))
    .header('content-type', contentType)
    .send(toBytes(body));
}

/**
 * Fastify adds a charset to the content type of text, and some senders compare the type letter by
 * letter.
 */
function toBytes(body: Uint8Array | string): Uint8Array {
  return typeof body === 'string' ? Buffer.from(body) : body;
}
