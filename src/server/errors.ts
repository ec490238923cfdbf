/**
 * Errors to the wire: a failure becomes an AppError and an AppError a problem (RFC 9457). A refused
 * request is logged, its body discarded and a failed authentication delayed before the response,
 * the same on HTTP and gRPC.
 */
import { randomBytes } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import { constants, Http2ServerRequest } from 'node:http2';
import type { Admission } from '../admission/port.ts';
import { AppError, type ErrorCode } from '../model/errors.ts';
import type { Problem } from '../model/protocol.ts';
import type { HttpEvents, Surface } from '../telemetry/request-events.ts';
import { type HttpRequest, type HttpResponse, readHeaders, toRequestBody } from './transport.ts';

export const problemType = 'application/problem+json';

/** What is not an AppError is a bug: only its request id is sent. */
export function toAppError(error: unknown): AppError {
  if (error instanceof AppError) return error;
  return new AppError('internal', 'cannot answer: an internal fault, logged with this requestId', {
    cause: error,
  });
}

export function toProblem(error: AppError, requestId: string): Problem {
  const { httpStatus, grpcCode, title } = error.kind;
  const { code, message, parameter } = error;
  return {
    status: httpStatus,
    grpcCode,
    code,
    title,
    detail: message,
    requestId,
    parameter,
    retryAfterSeconds: error.kind.retryable ? retryAfterSeconds(error) : undefined,
  };
}

/** The body of an `application/problem+json` answer. */
export function problemJson(problem: Problem): string {
  const { grpcCode: _, retryAfterSeconds: __, ...members } = problem;
  return JSON.stringify({ type: `urn:weir:problem:${problem.code}`, ...members });
}

/** The headers of a failure, whatever the format of its body. */
export function problemHeaders(
  error: AppError,
  { retryAfterSeconds: retryAfter }: Problem,
): Record<string, string> {
  const headers: Record<string, string> = {};
  if (error.code === 'unauthenticated') headers['www-authenticate'] = 'Bearer realm="weir"';
  if (retryAfter !== undefined) headers['retry-after'] = String(retryAfter);
  return { ...headers, ...rateLimitHeaders(error.rateLimit) };
}

export function rateLimitHeaders(limit: AppError['rateLimit']): Record<string, string> {
  return limit === undefined ? {} : { 'ratelimit-policy': limit.policy, ratelimit: limit.state };
}

/**
 * 1 to 5 seconds: senders drop their data when asked to wait longer. A quota knows when it has room
 * again; all other retries get jitter, so that senders do not return at once.
 */
function retryAfterSeconds(error: AppError): number {
  const most = Math.min(5, Math.max(1, Math.ceil(error.retryAfterSeconds ?? 1)));
  return error.code === 'quota_exceeded' ? most : 1 + Math.floor(Math.random() * most);
}

export interface RefusalContext {
  readonly surface: Surface;
  readonly events: HttpEvents;
  readonly admission: Pick<Admission, 'discardBody' | 'paceFailure'>;
}

export type RefusalLog = Pick<RefusalContext, 'surface' | 'events'>;

export interface Exchange {
  readonly request: HttpRequest;
  readonly response: HttpResponse;
}

export interface Refusal {
  readonly error: AppError;
  readonly requestId: string;
  readonly maxDiscardBytes: number;
}

/** How long a refused client may go on sending before its connection is closed. */
const lingerMs = 5000;

/** Resolves when the response may be sent. */
export async function prepareRefusal(
  context: RefusalContext,
  { request, response }: Exchange,
  { error, requestId, maxDiscardBytes }: Refusal,
): Promise<void> {
  const { surface, events, admission } = context;
  events.failed(surface, requestId, error);
  const isSlow = error.code === 'timeout';
  if (!isSlow) await admission.discardBody(toRequestBody(request, response), maxDiscardBytes);
  if (error.code === 'unauthenticated') await paceFailure(context, { request, response });
  lingerAfterAnswer(request, response, isSlow ? 0 : lingerMs);
}

/** If too many responses are delayed already, the connection is closed after this one. */
async function paceFailure(
  { surface, events, admission }: RefusalContext,
  { request, response }: Exchange,
): Promise<void> {
  const { forwardedFor } = readHeaders(request);
  const pace = await admission.paceFailure(request.socket.remoteAddress ?? '', forwardedFor);
  events.authenticationFailed(surface, pace);
  if (pace !== 'cut') return;
  // Other requests on an HTTP/2 connection are still answered.
  if (request instanceof Http2ServerRequest) request.stream.session?.close();
  else response.setHeader('connection', 'close');
}

/**
 * After a response that precedes the end of its request: discards what still arrives for `ms`, so
 * that a client busy sending reads the response, then closes the connection (HTTP/2: the stream).
 */
export function lingerAfterAnswer(request: HttpRequest, response: HttpResponse, ms: number): void {
  const isHttp2 = request instanceof Http2ServerRequest;
  const isOver = () =>
    isHttp2
      ? request.readableEnded || request.stream.endAfterHeaders
      : request.complete || request.destroyed;
  if (isOver()) return;
  const close = () => {
    if (isHttp2) request.stream.close(constants.NGHTTP2_NO_ERROR);
    else request.socket.destroySoon();
  };
  request.resume();
  // An HTTP/2 response emits `finish` only when its stream is closed.
  const answer = isHttp2 ? request.stream : response;
  answer.once('finish', () => {
    // The connection may be serving the next request by the time this one finishes.
    if (isOver()) return;
    const timer = setTimeout(close, ms).unref();
    request.once('end', () => clearTimeout(timer)).once('close', () => clearTimeout(timer));
  });
}

/** Of a request that is refused before it is handled. */
export interface RawProblem {
  /** May differ from the status of the code. */
  readonly status: number;
  readonly code: ErrorCode;
  readonly detail: string;
}

/** The route is unknown, so the response gets the strictest privacy headers. */
export const rawHeaders = {
  'content-type': problemType,
  'cache-control': 'private, no-store',
  vary: 'Authorization, X-Active-Account',
};

/** An HTTP/1.1 response, after which the connection is closed. */
export function toRawAnswer(log: RefusalLog, problem: RawProblem): string {
  const { status } = problem;
  const body = problemJson({ ...logRefusal(log, problem), status });
  const length = String(Buffer.byteLength(body));
  const fields = { ...rawHeaders, connection: 'close', 'content-length': length };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('')}\r\n${body}`;
}

const nextRequestId = createRequestIds();

export function logRefusal({ surface, events }: RefusalLog, { code, detail }: RawProblem): Problem {
  const error = new AppError(code, detail);
  const requestId = nextRequestId();
  events.failed(surface, requestId, error);
  return toProblem(error, requestId);
}

/** @returns generates short ids, unique across surfaces and runs */
export function createRequestIds(): () => string {
  const run = randomBytes(6).toString('base64url');
  let requests = 0;
  return () => `${run}-${(requests++).toString(36)}`;
}
