/**
 * One view of a request on HTTP/1.1 and on HTTP/2: the headers as they were sent, twice-sent ones
 * included, and the body. Node's own views of both keep only the first of two headers.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { constants, Http2ServerRequest, type Http2ServerResponse } from 'node:http2';
import type { RequestBody } from '../admission/port.ts';
import type { RequestHeaders } from '../model/request.ts';

export type HttpRequest = IncomingMessage | Http2ServerRequest;
export type HttpResponse = ServerResponse | Http2ServerResponse;

const none: readonly string[] = [];

/** One pass over the raw headers; the length of a name spares most comparisons. */
export function readHeaders(request: HttpRequest): RequestHeaders {
  const raw = request.rawHeaders;
  let authorization = none;
  let activeAccount = none;
  let contentType = none;
  let contentEncoding = none;
  let forwardedFor = none;
  let idempotencyKey = none;
  let contentLength: number | undefined;
  for (let index = 0; index < raw.length; index += 2) {
    const name = raw[index] ?? '';
    const value = raw[index + 1] ?? '';
    switch (name.length) {
      case 12:
        if (isName(name, 'content-type')) contentType = [...contentType, value];
        break;
      case 13:
        if (isName(name, 'authorization')) authorization = [...authorization, value];
        break;
      case 14:
        // Both parsers have refused anything but digits, and two of them.
        if (isName(name, 'content-length')) contentLength = Number(value);
        break;
      case 15:
        if (isName(name, 'x-forwarded-for')) forwardedFor = [...forwardedFor, value];
        else if (isName(name, 'idempotency-key')) idempotencyKey = [...idempotencyKey, value];
        break;
      case 16:
        if (isName(name, 'content-encoding')) contentEncoding = [...contentEncoding, value];
        else if (isName(name, 'x-active-account')) activeAccount = [...activeAccount, value];
        break;
    }
  }
  return {
    authorization,
    activeAccount,
    contentType,
    contentEncoding,
    contentLength,
    forwardedFor,
    idempotencyKey,
  };
}

/**
 * What a strict server refuses and Node's parser lets pass (RFC 9112 §2.3, §3.2, §6.1), so that no
 * proxy in front can read a request differently than we do.
 * @returns why the request cannot be taken, or undefined
 */
export function requestFault(request: HttpRequest): string | undefined {
  let hosts = 0;
  const raw = request.rawHeaders;
  const isHttp2 = request instanceof Http2ServerRequest;
  for (let index = 0; index < raw.length; index += 2) {
    const name = raw[index] ?? '';
    if (name.length === 4 && isName(name, 'host')) hosts += 1;
    if (name.length === 17 && isName(name, 'transfer-encoding')) {
      if (request.httpVersion === '1.0') return 'HTTP/1.0 knows no Transfer-Encoding';
      if ((raw[index + 1] ?? '').toLowerCase() !== 'chunked') {
        return 'the only Transfer-Encoding taken is chunked';
      }
    }
  }
  if (hosts > 1) return 'it has more than one Host header';
  if (isHttp2) return undefined;
  if (request.httpVersion !== '1.1' && request.httpVersion !== '1.0') {
    return 'its HTTP version is none of 1.0, 1.1 and 2';
  }
  if (hosts === 0 && request.httpVersion === '1.1') return 'it has no Host header';
  const target = request.url ?? '';
  if (target.startsWith('/') || (target === '*' && request.method === 'OPTIONS')) return undefined;
  return 'its target is not a path';
}

export function toRequestBody(request: HttpRequest, response: HttpResponse): RequestBody {
  const sendContinue = waitsForContinue(request) ? () => response.writeContinue() : undefined;
  if (request instanceof Http2ServerRequest) {
    const { stream } = request;
    return {
      stream: request,
      expected: !stream.endAfterHeaders,
      declaredBytes: toDeclaredBytes(request),
      // A stream that was reset ends like any other.
      arrivedWhole: () => !stream.closed && !request.aborted,
      sendContinue,
    };
  }
  const { headers } = request;
  const hasBody =
    headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';
  return {
    stream: request,
    expected: hasBody,
    declaredBytes: toDeclaredBytes(request),
    arrivedWhole: () => request.complete,
    sendContinue,
  };
}

/**
 * After an answer that came before the end of its request: what still arrives is thrown away for a
 * while, so that a sender busy with sending gets to read the answer; then the connection (HTTP/2:
 * the stream) is let go.
 */
export function lingerAfterAnswer(request: HttpRequest, response: HttpResponse, ms: number): void {
  const isHttp2 = request instanceof Http2ServerRequest;
  const isOver = () =>
    isHttp2
      ? request.readableEnded || request.stream.endAfterHeaders
      : request.complete || request.destroyed;
  if (isOver()) return;
  const letGo = () => {
    if (isHttp2) request.stream.close(constants.NGHTTP2_NO_ERROR);
    else request.socket.destroySoon();
  };
  request.resume();
  // A response over HTTP/2 says that it is finished only when its stream is gone.
  const answer = isHttp2 ? request.stream : response;
  answer.once('finish', () => {
    // The connection may serve the next request by then.
    if (isOver()) return;
    const timer = setTimeout(letGo, ms).unref();
    request.once('end', () => clearTimeout(timer)).once('close', () => clearTimeout(timer));
  });
}

function toDeclaredBytes({ headers }: HttpRequest): number | undefined {
  const length = headers['content-length'];
  return length === undefined ? undefined : Number(length);
}

function waitsForContinue(request: HttpRequest): boolean {
  const { expect } = request.headers;
  return expect !== undefined && expect.toLowerCase() === '100-continue';
}

function isName(name: string, lowerCase: string): boolean {
  return name === lowerCase || name.toLowerCase() === lowerCase;
}
