/**
 * One view of a request on HTTP/1.1 and HTTP/2: its headers, repeated ones included, and its body.
 * Node's own header objects keep only the first of two.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Http2ServerRequest, type Http2ServerResponse } from 'node:http2';
import type { MemoryLease, RequestBody } from '../admission/port.ts';
import type { RequestHeaders } from '../model/request.ts';

export type HttpRequest = IncomingMessage | Http2ServerRequest;
export type HttpResponse = ServerResponse | Http2ServerResponse;
export type RequestHandler = (request: HttpRequest, response: HttpResponse) => void;

const fieldOfName: ReadonlyMap<string, Exclude<keyof RequestHeaders, 'contentLength'>> = new Map([
  ['authorization', 'authorization'],
  ['dd-api-key', 'datadogKey'],
  ['x-active-account', 'activeAccount'],
  ['content-type', 'contentType'],
  ['content-encoding', 'contentEncoding'],
  ['x-forwarded-for', 'forwardedFor'],
  ['idempotency-key', 'idempotencyKey'],
]);
const none: readonly string[] = [];

export function readHeaders(request: HttpRequest): RequestHeaders {
  const headers = {
    authorization: none,
    datadogKey: none,
    activeAccount: none,
    contentType: none,
    contentEncoding: none,
    contentLength: toDeclaredBytes(request),
    forwardedFor: none,
    idempotencyKey: none,
  };
  const raw = request.rawHeaders;
  for (let index = 0; index < raw.length; index += 2) {
    const field = fieldOfName.get((raw[index] ?? '').toLowerCase());
    if (field === undefined) continue;
    const value = raw[index + 1] ?? '';
    headers[field] = headers[field] === none ? [value] : [...headers[field], value];
  }
  return headers;
}

/** Parameters in the URL as sent, encoded; empty without any. */
export function searchOf({ url = '' }: HttpRequest): string {
  const mark = url.indexOf('?');
  return mark < 0 ? '' : url.slice(mark + 1);
}

/**
 * Rejects what Node's parser accepts against RFC 9112 §2.3, §3.2 and §6.1, so that a proxy in front
 * cannot read a request differently (request smuggling).
 * @returns why the request is refused, or undefined
 */
export function requestFault(request: HttpRequest): string | undefined {
  let hosts = 0;
  const raw = request.rawHeaders;
  const isHttp2 = request instanceof Http2ServerRequest;
  for (let index = 0; index < raw.length; index += 2) {
    const name = (raw[index] ?? '').toLowerCase();
    if (name === 'host') hosts += 1;
    if (name === 'transfer-encoding') {
      if (request.httpVersion === '1.0') return 'HTTP/1.0 knows no Transfer-Encoding';
      if ((raw[index + 1] ?? '').toLowerCase() !== 'chunked') {
        return 'the only supported Transfer-Encoding is chunked';
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
  const waits = request.headers.expect?.toLowerCase() === '100-continue';
  const sendContinue = waits ? () => response.writeContinue() : undefined;
  if (request instanceof Http2ServerRequest) {
    const { stream } = request;
    return {
      stream: request,
      expected: !stream.endAfterHeaders,
      declaredBytes: toDeclaredBytes(request),
      // A reset stream also emits `end`.
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
    takeArrived: () => takeArrived(request),
    sendContinue,
  };
}

/** Larger bodies are collected in memory that is reused. */
const smallBodyBytes = 16 * 1024;

function takeArrived(request: IncomingMessage): Buffer | null {
  const { complete, destroyed, readableLength } = request;
  if (!complete || destroyed || readableLength > smallBodyBytes) return null;
  const pieces: Buffer[] = [];
  // Each read returns a piece or several.
  for (let piece = readPiece(request); piece !== null; piece = readPiece(request)) {
    pieces.push(piece);
  }
  return pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces);
}

function readPiece(request: IncomingMessage): Buffer | null {
  return request.read() as Buffer | null;
}

/** For bodies of a few KiB that must be readable while the memory in flight is used up. */
export const uncountedMemory: MemoryLease = {
  growTo: () => {},
  coverHeap: () => {},
  buffer: (bytes) => Buffer.alloc(bytes),
  release: () => {},
};

/** Both parsers reject a second value, and anything but digits. */
function toDeclaredBytes({ headers }: HttpRequest): number | undefined {
  const length = headers['content-length'];
  return length === undefined ? undefined : Number(length);
}
