/**
 * What all surfaces share: a Fastify instance around a listener of ours, that answers open routes,
 * unknown routes and failures. Which routes there are, and who may use them, is up to the surface.
 */
import type { Server as PlainServer } from 'node:http';
import type { Http2SecureServer } from 'node:http2';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { Admission } from '../admission/port.ts';
import { AppError } from '../model/errors.ts';
import type { Protocol } from '../model/protocol.ts';
import type { HttpEvents, Surface } from '../telemetry/request-events.ts';
import { problemHeaders, problemJson, problemType, toAppError, toProblem } from './errors.ts';
import { isKnown } from './etag.ts';
import type { RequestHandler } from './listener.ts';
import { createRequestIds } from './request-ids.ts';
import type { OpenRoute } from './route.ts';
import { paceFailure } from './pace-failure.ts';
import { lingerAfterAnswer, toRequestBody } from './transport.ts';

export interface SurfaceContext {
  readonly surface: Surface;
  readonly events: HttpEvents;
  /** Makes the listener for the handler of the surface. */
  readonly listen: (handle: RequestHandler) => Http2SecureServer | PlainServer;
  readonly admission: Pick<Admission, 'discardBody' | 'paceFailure'>;
  /** Sent with every answer. */
  readonly headers: Readonly<Record<string, string>>;
}

const maxAdminBodyBytes = 64 * 1024;
/** Escaped, the name of a label may be as long as a URL. */
const maxParamLength = 16 * 1024;

export function createSurface(context: SurfaceContext): FastifyInstance {
  const { surface, events, listen, headers } = context;
  const app = Fastify({
    // The listener is made by us; these two only tell Fastify that it speaks HTTP/2 as well.
    serverFactory: (handle) => listen(handle as RequestHandler) as PlainServer,
    logger: false,
    genReqId: createRequestIds(),
    bodyLimit: maxAdminBodyBytes,
    exposeHeadRoutes: false,
    return503OnClosing: false,
    routerOptions: { maxParamLength },
    // The listener answers what cannot be parsed.
    clientErrorHandler: () => {},
    frameworkErrors: (error, request, reply) => {
      void sendFailure(context, toBadPath(error), request, reply);
    },
  });
  app.removeContentTypeParser('text/plain');
  app.addHook('onRequest', (_request, reply, done) => {
    reply.headers(headers);
    done();
  });
  app.setErrorHandler((error, request, reply) => {
    return sendFailure(context, toAppError(error), request, reply);
  });
  app.setNotFoundHandler({ preValidation: [] }, (request) => {
    throw unknownRoute(request.method);
  });
  // Before its body is looked at: an unknown route is no matter of content types.
  app.addHook('onRequest', (request, _reply, done) => {
    done(request.is404 ? unknownRoute(request.method) : undefined);
  });
  app.addHook('onResponse', (request, reply, done) => {
    const route = request.routeOptions.url ?? 'unknown';
    events.answered(surface, route, reply.statusCode, reply.elapsedTime / 1000);
    done();
  });
  return app;
}

export function mountOpenRoutes(app: FastifyInstance, routes: readonly OpenRoute[]): void {
  for (const { path, answer } of routes) {
    app.route({
      method: ['GET', 'HEAD'],
      url: path,
      handler: async (request, reply) => {
        const { status, contentType, body, etag } = await answer();
        if (etag !== undefined) {
          reply.header('etag', etag).header('cache-control', 'no-cache');
          if (isKnown(request.headers['if-none-match'], etag)) return reply.code(304).send();
        }
        return reply.code(status).header('content-type', contentType).send(body);
      },
    });
  }
}

/** How a route's failures differ from those of others. */
export interface FailureForm {
  /** What is read of a body for its sender's sake before it is answered. */
  readonly maxDiscardBytes: number;
  /** Undefined = problem+json. */
  readonly encode: Protocol['encodeProblem'];
}

const commonForm: FailureForm = { maxDiscardBytes: 10 * 1024 * 1024, encode: undefined };
/** How long a refused sender may go on sending into nothing before the connection is let go. */
const lingerMs = 5000;

/** Answers once the body no longer flows: a sender busy with sending would not see the answer. */
export async function sendFailure(
  { surface, events, headers, admission }: SurfaceContext,
  error: AppError,
  request: FastifyRequest,
  reply: FastifyReply,
  { maxDiscardBytes, encode } = commonForm,
): Promise<FastifyReply> {
  events.failed(surface, request.id, error);
  const isHttp2 = request.raw.httpVersionMajor === 2;
  const isSlow = error.code === 'timeout';
  if (!isSlow) {
    await admission.discardBody(toRequestBody(request.raw, reply.raw), maxDiscardBytes);
  }
  if (error.code === 'unauthenticated') {
    await paceFailure({ surface, events, admission }, request.raw, reply.raw);
  }
  lingerAfterAnswer(request.raw, reply.raw, isSlow ? 0 : lingerMs);
  if (isSlow && !isHttp2) reply.header('connection', 'close');
  // Set by Fastify for bodies it has not read to their end; HTTP/2 knows no such header.
  if (isHttp2) reply.removeHeader('connection');
  const problem = toProblem(error, request.id);
  const {
    contentType,
    body,
    status = problem.status,
    retryAfterSeconds = problem.retryAfterSeconds,
  } = encode?.(problem, request.headers['content-type']) ?? {
    contentType: problemType,
    body: problemJson(problem),
  };
  return reply
    .code(status)
    .headers(headers)
    .headers(problemHeaders(error, { ...problem, retryAfterSeconds }))
    .header('content-type', contentType)
    .send(toBytes(body));
}

/** Fastify adds a charset to the type of text, and some senders compare types letter by letter. */
export function toBytes(body: Uint8Array | string): Uint8Array {
  return typeof body === 'string' ? Buffer.from(body) : body;
}

/** A URL that is right may still have no such method. */
export function unknownRoute(method: string): AppError {
  return new AppError(
    'not_found',
    `cannot find this route for ${method}: use the URL exactly as it was issued`,
  );
}

/** Paths that cannot be decoded name no route. */
function toBadPath(cause: unknown): AppError {
  return new AppError('not_found', 'cannot find this route: its path is not well formed', {
    cause,
  });
}
