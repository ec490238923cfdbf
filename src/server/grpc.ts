/**
 * Serves gRPC beside HTTP on one port: every request with a gRPC content type ends here and gets a
 * gRPC response, whatever is wrong with it.
 */
import { Http2ServerRequest, Http2ServerResponse } from 'node:http2';
import { AppError } from '../model/errors.ts';
import type { Protocol } from '../model/protocol.ts';
import {
  createRequestIds,
  type Exchange,
  prepareRefusal,
  problemHeaders,
  type RefusalContext,
  toAppError,
} from './errors.ts';
import type { GrpcMethods } from './grpc-methods.ts';
import {
  type GrpcReply,
  isGrpc,
  readMetadata,
  sendFailure,
  sendReply,
  toGrpcProblem,
} from './grpc-wire.ts';
import { otlpAdvice, toBytes } from './surface.ts';
import { type HttpResponse, type RequestHandler, toRequestBody } from './transport.ts';

export interface GrpcContext extends RefusalContext {
  /** Encodes failures; its cap limits how much of a refused body is read. */
  readonly protocol: Pick<Protocol, 'encodeProblem' | 'maxBodyBytes'>;
}

/** Handles the gRPC calls among a port's requests and passes the others to `handle`. */
export function serveGrpc(
  context: GrpcContext,
  methods: GrpcMethods,
  handle: RequestHandler,
): RequestHandler {
  const { surface, events } = context;
  const nextRequestId = createRequestIds();

  async function serve(exchange: Exchange): Promise<void> {
    const { request, response } = exchange;
    const startedAt = performance.now();
    const path = request.url ?? '';
    let status = 200;
    try {
      const reply = await call(methods, exchange);
      if (response instanceof Http2ServerResponse && isOpen(response)) sendReply(response, reply);
    } catch (fault) {
      const error = toAppError(fault);
      status = error.kind.httpStatus;
      await refuse(context, exchange, error, nextRequestId());
    }
    const route = methods.has(path) ? path : 'unknown';
    const seconds = (performance.now() - startedAt) / 1000;
    // Counted with the HTTP status of the error; on the wire it is always 200.
    events.answered(surface, route, status, seconds);
  }

  return (request, response) => {
    if (!isGrpc(request)) return handle(request, response);
    serve({ request, response }).catch((fault: unknown) => {
      events.failed(surface, '', toAppError(fault));
      response.destroy();
    });
  };
}

/** @throws AppError */
async function call(methods: GrpcMethods, { request, response }: Exchange): Promise<GrpcReply> {
  if (!(request instanceof Http2ServerRequest)) {
    throw unimplemented('cannot speak gRPC over HTTP/1.1: let the proxy pass HTTP/2 on');
  }
  if (request.method !== 'POST') {
    throw unimplemented(`cannot call with ${request.method}: gRPC methods are called with POST`);
  }
  const method = methods.get(request.url);
  if (method === undefined) throw unimplemented(toUnknownMethod(request.url, methods));
  const peerAddress = request.socket.remoteAddress ?? '';
  return method({ ...readMetadata(request), peerAddress, body: toRequestBody(request, response) });
}

async function refuse(
  context: GrpcContext,
  exchange: Exchange,
  error: AppError,
  requestId: string,
): Promise<void> {
  const { encodeProblem, maxBodyBytes } = context.protocol;
  const { request, response } = exchange;
  await prepareRefusal(context, exchange, { error, requestId, maxDiscardBytes: maxBodyBytes });
  if (!isOpen(response)) return;
  const problem = toGrpcProblem(error, requestId);
  const status = encodeProblem?.(problem, request.headers['content-type']);
  const details = status === undefined ? undefined : toBytes(status.body);
  sendFailure(response, { problem, details, metadata: problemHeaders(error, problem) });
}

/** Whether a response can still be sent. */
function isOpen(response: HttpResponse): boolean {
  return response instanceof Http2ServerResponse
    ? response.stream !== undefined && !response.stream.destroyed && !response.stream.closed
    : !response.destroyed;
}

const tracePath = /^\/opentelemetry\.proto\.collector\.trace\./;

function toUnknownMethod(path: string, methods: GrpcMethods): string {
  const served = methods.size === 0 ? 'none' : [...methods.keys()].join(' and ');
  const asked = JSON.stringify(path.slice(0, 100));
  const advice = tracePath.test(path) ? `; ${otlpAdvice.traces}` : '';
  return `cannot find the gRPC method ${asked}: this port serves ${served}${advice}`;
}

function unimplemented(message: string): AppError {
  return new AppError('method_not_allowed', message);
}
