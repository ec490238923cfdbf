/**
 * The Fastify instance of a port: it sends the port's headers, answers unknown routes and turns
 * failures into responses. The surfaces mount their routes on it.
 */
import type { Server as PlainServer } from 'node:http';
import type { Http2SecureServer } from 'node:http2';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { AppError } from '../model/errors.ts';
import type { Protocol } from '../model/protocol.ts';
import {
  createRequestIds,
  prepareRefusal,
  problemHeaders,
  problemJson,
  problemType,
  type RefusalContext,
  toAppError,
  toProblem,
} from './errors.ts';
import type { RequestHandler } from './transport.ts';

export interface SurfaceContext extends RefusalContext {
  /** Creates the listener that calls the surface's handler. */
  readonly listen: (handle: RequestHandler) => Http2SecureServer | PlainServer;
  /** Sent with every response. */
  readonly headers: Readonly<Record<string, string>>;
  /** Answers an unknown route; undefined = `not_found`. */
  readonly answerUnknown?: (request: FastifyRequest, reply: FastifyReply) => Buffer | undefined;
}

/** How a route encodes its failures. */
export interface FailureForm {
  /** How much of a refused request's body is read and discarded before the response. */
  readonly maxDiscardBytes?: number;
  /** Undefined = problem+json. */
  readonly encode: Protocol['encodeProblem'];
}

declare module 'fastify' {
  interface FastifyContextConfig {
    readonly failure?: FailureForm;
  }
}

const defaultDiscardBytes = 10 * 1024 * 1024;
/** An escaped label name may be as long as a URL. */
const maxParamLength = 16 * 1024;

export function createSurface(context: SurfaceContext): FastifyInstance {
  const { surface, events, listen, headers, answerUnknown } = context;
  const app = Fastify({
    // The listener also speaks HTTP/2, which Fastify's type of a factory leaves out.
    serverFactory: (handle) => listen(handle as RequestHandler) as PlainServer,
    logger: false,
    genReqId: createRequestIds(),
    exposeHeadRoutes: false,
    return503OnClosing: false,
    routerOptions: { maxParamLength },
    // The listener answers parse errors.
    clientErrorHandler: () => {},
    frameworkErrors: (error, request, reply) => {
      void sendFailure(context, toBadPath(error), request, reply);
    },
  });
  // Fastify reads no body: the handlers do, after their checks.
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'QUERY'] as const) {
    app.addHttpMethod(method, { hasBody: false, overrideExisting: true });
  }
  app.addHook('onRequest', (_request, reply, done) => {
    reply.headers(headers);
    done();
  });
  app.setErrorHandler((error, request, reply) =>
    sendFailure(context, toAppError(error), request, reply),
  );
  app.setNotFoundHandler(async (request, reply) => {
    const page = answerUnknown?.(request, reply);
    if (page === undefined) throw unknownRoute(request.method, request.url);
    return page;
  });
  app.addHook('onResponse', (request, reply, done) => {
    const route = request.routeOptions.url ?? 'unknown';
    events.answered(surface, route, reply.statusCode, reply.elapsedTime / 1000);
    done();
  });
  return app;
}

async function sendFailure(
  context: SurfaceContext,
  error: AppError,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { maxDiscardBytes = defaultDiscardBytes, encode } =
    request.routeOptions.config.failure ?? {};
  const exchange = { request: request.raw, response: reply.raw };
  await prepareRefusal(context, exchange, { error, requestId: request.id, maxDiscardBytes });
  if (error.code === 'timeout' && request.raw.httpVersionMajor === 1) {
    reply.header('connection', 'close');
  }
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
    .headers(context.headers)
    .headers(problemHeaders(error, { ...problem, retryAfterSeconds }))
    .header('content-type', contentType)
    .send(toBytes(body));
}

/** As bytes, since Fastify adds a charset to text and some senders compare the whole type. */
export function toBytes(body: Uint8Array | string): Uint8Array {
  return typeof body === 'string' ? Buffer.from(body) : body;
}

/** Names the method, since the URL may be right for another one. @param url path and query */
export function unknownRoute(method: string, url: string): AppError {
  const [, signal] = /\/v1\/(logs|metrics|traces)\/?(?:\?|$)/.exec(url) ?? [];
  const exact = 'use the URL exactly as it was issued';
  const advice = signal === undefined ? exact : otlpAdvice[signal as keyof typeof otlpAdvice];
  return new AppError('not_found', `cannot find this route for ${method}: ${advice}`);
}

/** OTLP exporters append these paths to one endpoint. */
export const otlpAdvice = {
  logs:
    'logs belong to the address of a receiver, …/otlp/v1/logs; ' +
    'set OTEL_EXPORTER_OTLP_ENDPOINT to the URL up to /otlp',
  metrics:
    'metrics belong to the address of a receiver, …/otlp/v1/metrics; ' +
    'set OTEL_EXPORTER_OTLP_ENDPOINT to the URL up to /otlp, or OTEL_METRICS_EXPORTER=none',
  traces: 'Weir takes logs and metrics by OTLP and no traces; set OTEL_TRACES_EXPORTER=none',
} as const satisfies Record<string, string>;

/** A path that cannot be decoded is an unknown route. */
function toBadPath(cause: unknown): AppError {
  return new AppError('not_found', 'cannot find this route: its path is not well formed', {
    cause,
  });
}
