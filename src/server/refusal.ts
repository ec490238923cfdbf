/**
 * What precedes the response to a refused request on HTTP and gRPC: the log line, the discarded
 * body, the delay of failed authentication. A client that is still sending must get to read the
 * response before its connection is closed.
 */
import { constants, Http2ServerRequest } from 'node:http2';
import type { Admission } from '../admission/port.ts';
import type { AppError } from '../model/errors.ts';
import type { HttpEvents, Surface } from '../telemetry/request-events.ts';
import { type HttpRequest, type HttpResponse, readHeaders, toRequestBody } from './transport.ts';

export interface RefusalContext {
  readonly surface: Surface;
  readonly events: HttpEvents;
  readonly admission: Pick<Admission, 'discardBody' | 'paceFailure'>;
}

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

/** Where too many responses are delayed already, the connection is closed after this one. */
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
    // By then the connection may serve the next request.
    if (isOver()) return;
    const timer = setTimeout(close, ms).unref();
    request.once('end', () => clearTimeout(timer)).once('close', () => clearTimeout(timer));
  });
}
