/**
 * gRPC beside HTTP on one port: every request of a gRPC content type ends here and is never
 * answered in another language. Which methods there are and what they do is for others to say.
 */
import { Http2ServerRequest, Http2ServerResponse } from 'node:http2';
import type { Admission } from '../admission/port.ts';
import { AppError } from '../model/errors.ts';
import type { Protocol } from '../model/protocol.ts';
import type { HttpEvents, Surface } from '../telemetry/request-events.ts';
import { problemHeaders, toAppError } from './errors.ts';
import { type GrpcReply, sendFailure, sendReply, toGrpcProblem } from './grpc-answer.ts';
import type { GrpcMethods } from './grpc-methods.ts';
import { isGrpc, readMetadata } from './grpc-request.ts';
import type { RequestHandler } from './listener.ts';
import { paceFailure } from './pace-failure.ts';
import { createRequestIds } from './request-ids.ts';
import { toBytes } from './surface.ts';
import {
  type HttpRequest,
  type HttpResponse,
  lingerAfterAnswer,
  toRequestBody,
} from './transport.ts';

export interface GrpcContext {
  readonly surface: Surface;
  readonly events: HttpEvents;
  readonly admission: Pick<Admission, 'discardBody' | 'paceFailure'>;
  /** Its words tell of failures, and its cap bounds what is read of a refused body. */
  readonly protocol: Pick<Protocol, 'encodeProblem' | 'maxBodyBytes'>;
}

/** A refused caller may go on sending into nothing for this long. */
const lingerMs = 5000;

/** Takes the calls out of a surface's requests; the others are for `handle`. */
export function serveGrpc(
  context: GrpcContext,
  methods: GrpcMethods,
  handle: RequestHandler,
): RequestHandler {
  const nextRequestId = createRequestIds();

  async function serve(request: HttpRequest, response: HttpResponse): Promise<void> {
    const startedAt = performance.now();
    const path = request.url ?? '';
    let status = 200;
    try {
      const reply = await call(methods, request, response);
      if (response instanceof Http2ServerResponse && isWaiting(response)) {
        sendReply(response, reply);
      }
    } catch (fault) {
      const error = toAppError(fault);
      status = error.kind.httpStatus;
      await fail(context, error, { request, response, requestId: nextRequestId() });
    }
    const route = methods.has(path) ? path : 'unknown';
    const seconds = (performance.now() - startedAt) / 1000;
    // With the status that HTTP has for it: on the wire it is 200 whatever happened.
    context.events.answered(context.surface, route, status, seconds);
  }

  return (request, response) => {
    if (!isGrpc(request)) return handle(request, response);
    serve(request, response).catch((fault: unknown) => {
      // Even the answer failed: there is nothing left to say, but others must not be drawn in.
      context.events.failed(context.surface, '', toAppError(fault));
      response.destroy();
    });
  };
}

/** @throws AppError */
async function call(
  methods: GrpcMethods,
  request: HttpRequest,
  response: HttpResponse,
): Promise<GrpcReply> {
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

/** Answers once the body no longer flows: a caller busy with sending might not see the answer. */
async function fail(
  { surface, events, admission, protocol }: GrpcContext,
  error: AppError,
  { request, response, requestId }: Failed,
): Promise<void> {
  events.failed(surface, requestId, error);
  const isSlow = error.code === 'timeout';
  if (!isSlow) await admission.discardBody(toRequestBody(request, response), protocol.maxBodyBytes);
  if (error.code === 'unauthenticated') {
    await paceFailure({ surface, events, admission }, request, response);
  }
  if (!isWaiting(response)) return;
  lingerAfterAnswer(request, response, isSlow ? 0 : lingerMs);
  const problem = toGrpcProblem(error, requestId);
  const status = protocol.encodeProblem?.(problem, request.headers['content-type']);
  const details = status === undefined ? undefined : toBytes(status.body);
  sendFailure(response, { problem, details, metadata: problemHeaders(error, problem) });
}

interface Failed {
  readonly request: HttpRequest;
  readonly response: HttpResponse;
  readonly requestId: string;
}

/** Whether there is still somebody to answer to. */
function isWaiting(response: HttpResponse): boolean {
  return response instanceof Http2ServerResponse
    ? response.stream !== undefined && !response.stream.destroyed && !response.stream.closed
    : !response.destroyed;
}

function toUnknownMethod(path: string, methods: GrpcMethods): string {
  const served = methods.size === 0 ? 'none' : [...methods.keys()].join(' and ');
  const asked = JSON.stringify(path.slice(0, 100));
  return `cannot find the gRPC method ${asked}: this port serves ${served}`;
}

function unimplemented(message: string): AppError {
  return new AppError('method_not_allowed', message);
}
