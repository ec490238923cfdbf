/**
 * What all surfaces share: a Fastify instance around a listener of ours, that answers open routes,
 * unknown routes and failures. Which routes there are, and who may use them, is up to the surface.
 */
import { randomBytes } from 'node:crypto';
import type { Server as PlainServer } from 'node:http';
import type { Http2SecureServer } from 'node:http2';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { AppError } from '../model/errors.ts';
import type { HttpEvents, Surface } from '../telemetry/http-events.ts';
import { problemHeaders, problemJson, problemType, toAppError, toProblem } from './errors.ts';
import type { RequestHandler } from './listener.ts';
import type { OpenRoute } from './route.ts';

export interface SurfaceContext {
  readonly surface: Surface;
  readonly events: HttpEvents;
  /** Makes the listener for the handler of the surface. */
  readonly listen: (handle: RequestHandler) => Http2SecureServer | PlainServer;
  /** Sent with every answer. */
  readonly headers: Readonly<Record<string, string>>;
}

const maxAdminBodyBytes = 64 * 1024;

export function createSurface(context: SurfaceContext): FastifyInstance {
  const { surface, events, listen, headers } = context;
  const run = randomBytes(6).toString('base64url');
  let requests = 0;
  const app = Fastify({
    // The listener is made by us; these two only tell Fastify that it speaks HTTP/2 as well.
    serverFactory: (handle) => listen(handle as RequestHandler) as PlainServer,
    logger: false,
    genReqId: () => `${run}-${(requests++).toString(36)}`,
    bodyLimit: maxAdminBodyBytes,
    exposeHeadRoutes: false,
    return503OnClosing: false,
    routerOptions: { maxParamLength: 200 },
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
  app.setNotFoundHandler({ preValidation: [] }, () => {
    throw unknownRoute();
  });
  // Before its body is looked at: an unknown route is no matter of content types.
  app.addHook('onRequest', (request, _reply, done) => {
    done(request.is404 ? unknownRoute() : undefined);
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
      handler: async (_request, reply) => {
        const { status, contentType, body } = await answer();
        return reply.code(status).header('content-type', contentType).send(body);
      },
    });
  }
}

/** Answers with the problem; resolves once the answer is on its way. */
async function sendFailure(
  { surface, events, headers }: SurfaceContext,
  error: AppError,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  events.failed(surface, request.id, error);
  // Set by Fastify for bodies it has not read to their end; HTTP/2 knows no such header.
  if (request.raw.httpVersionMajor === 2) reply.removeHeader('connection');
  return reply
    .code(error.kind.httpStatus)
    .headers(headers)
    .headers(problemHeaders(error))
    .header('content-type', problemType)
    .send(problemJson(toProblem(error, request.id)));
}

export function unknownRoute(): AppError {
  return new AppError('not_found', 'cannot find this route: use the URL exactly as it was issued');
}

/** Paths that cannot be decoded name no route. */
function toBadPath(cause: unknown): AppError {
  return new AppError('not_found', 'cannot find this route: its path is not well formed', {
    cause,
  });
}
