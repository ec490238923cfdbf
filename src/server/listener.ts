/**
 * The TLS listener of a surface: HTTP/1.1 and HTTP/2 on one port, with a bound on everything a
 * connection may take: time, streams, headers, memory, cancelled work. Connections come to it from
 * an accept port, or from the process that has one. It knows nothing of routes.
 */
import { type IncomingMessage, STATUS_CODES } from 'node:http';
import {
  createSecureServer,
  type Http2SecureServer,
  Http2ServerRequest,
  type Http2ServerResponse,
  type Http2Session,
} from 'node:http2';
import type { Socket } from 'node:net';
import type { ConnectionPermit } from '../admission/port.ts';
import { AppError, type ErrorCode } from '../model/errors.ts';
import type { HttpEvents, Surface } from '../telemetry/request-events.ts';
import { problemJson, problemType, toProblem } from './errors.ts';
import type { Certificate } from './certificate.ts';
import { createConnections } from './connections.ts';
import { refuseGrpc } from './grpc-answer.ts';
import { isGrpc } from './grpc-request.ts';
import { boundSessions, resetLimits, windowBytes } from './http2-sessions.ts';
import { type HttpRequest, type HttpResponse, requestFault } from './transport.ts';
import { createTurns } from './turns.ts';

export interface ConnectionLimits {
  /** For TLS to be agreed on, and for the headers of each request. */
  readonly headersTimeoutMs: number;
  /** For a whole request; the backstop of the body's own timeout. */
  readonly requestTimeoutMs: number;
  /** Without a byte in either direction. */
  readonly idleTimeoutMs: number;
  /** Between two requests on an HTTP/1.1 connection. */
  readonly keepAliveTimeoutMs: number;
  readonly maxStreamsPerConnection: number;
}

export type RequestHandler = (request: HttpRequest, response: HttpResponse) => void;

const maxHeaderBytes = 16 * 1024;

export interface ListenerContext {
  readonly surface: Surface;
  readonly limits: ConnectionLimits;
  readonly certificate: Certificate;
  readonly events: HttpEvents;
}

/** Emit `connection` with a socket and the permit of its address to make it serve one. */
export function createListener(
  { surface, limits, certificate, events }: ListenerContext,
  handle: RequestHandler,
): Http2SecureServer {
  const server = createSecureServer({
    ...certificate.material(),
    ...httpOptions(limits),
    allowHTTP1: true,
    minVersion: 'TLSv1.2',
    handshakeTimeout: limits.headersTimeoutMs,
    maxSessionMemory: 16,
    maxSettings: 32,
    maxSessionInvalidFrames: 100,
    maxSessionRejectedStreams: 100,
    // Ends a session from within its reading, where ours comes only after it.
    streamResetBurst: 2 * resetLimits.burst,
    streamResetRate: 2 * resetLimits.perSecond,
    settings: {
      maxConcurrentStreams: limits.maxStreamsPerConnection,
      maxHeaderListSize: maxHeaderBytes,
      initialWindowSize: windowBytes,
    },
  });
  server.setTimeout(limits.idleTimeoutMs);
  server.on('tlsClientError', () => events.connectionCut(surface, 'tls'));
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    // Node reports failed handshakes here as well as to `tlsClientError`. An answer written before
    // the handshake is complete aborts the process once an HTTP/2 session takes the socket over:
    // docs/decisions/021-no-answer-before-the-handshake.md.
    if (!isParseError(error)) return void socket.destroy();
    events.connectionCut(surface, error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 'timeout' : 'parse');
    answerParseError(error, socket);
  });
  const inTurn = takeTurns(guard(handle));
  server.on('request', inTurn);
  // Whether the sender may go on is decided by the checks before the body, not by Node.
  server.on('checkContinue', inTurn);
  server.on('checkExpectation', (request: HttpRequest, response: HttpResponse) => {
    refuse(request, response, 'cannot meet this Expect header: it may only be 100-continue', 417);
  });
  server.on('connect', refuseConnect);
  server.on('session', (session) => session.setLocalWindowSize(windowBytes));
  const connections = createConnections();
  server.on('connection', (socket: Socket, permit?: ConnectionPermit) => {
    connections.add(socket, permit);
  });
  boundSessions(server, connections, { surface, events });
  certificate.follow(server);
  return server;
}

/** Options of the HTTP/1.1 side, which Node takes here though its types do not say so. */
function httpOptions(limits: ConnectionLimits): object {
  return {
    maxHeaderSize: maxHeaderBytes,
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: Math.max(limits.requestTimeoutMs, limits.headersTimeoutMs),
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    connectionsCheckingInterval: Math.min(1000, Math.ceil(limits.headersTimeoutMs / 4)),
    noDelay: true,
    // Found by the guard instead: Node's own refusal has no body.
    requireHostHeader: false,
  };
}

/**
 * Requests wait until everything that came with them is read: one that is cancelled by then costs
 * no work. Then connections take turns, so that pipelined requests of one do not hold up others.
 */
function takeTurns(handle: RequestHandler): RequestHandler {
  const turns = createTurns<Http2Session | Socket>();
  return (request, response) => {
    if (!(request instanceof Http2ServerRequest)) {
      turns.add(request.socket, () => {
        if (!response.destroyed) handle(request, response);
      });
      return;
    }
    const { stream } = request;
    if (stream.session === undefined) return;
    turns.add(stream.session, () => {
      if (!stream.destroyed && !stream.closed) handle(request, response);
    });
  };
}

function guard(handle: RequestHandler): RequestHandler {
  return (request, response) => {
    const fault = requestFault(request);
    if (fault === undefined) return handle(request, response);
    if (!(request instanceof Http2ServerRequest)) response.setHeader('connection', 'close');
    refuse(request, response, `cannot take this request: ${fault}`, 400);
  };
}

function refuse(request: HttpRequest, response: HttpResponse, detail: string, status: number) {
  if (isGrpc(request)) return refuseGrpc(response, new AppError(toCode(status), detail));
  const { headers, body } = toRawProblem(detail, status);
  response.statusCode = status;
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  response.end(body);
}

/** Of the HTTP/1.1 parser, which runs only on connections whose handshake is complete. */
function isParseError({ code }: NodeJS.ErrnoException): boolean {
  return code !== undefined && (code.startsWith('HPE_') || code === 'ERR_HTTP_REQUEST_TIMEOUT');
}

/**
 * What could not be parsed has no request to answer to, and nothing after it can be trusted: answer
 * and close.
 */
function answerParseError(error: NodeJS.ErrnoException, socket: Socket): void {
  const status = statusOfParseError(error.code);
  if (socket.writable) socket.write(toRawAnswer(detailOfParseError(status), status));
  socket.destroySoon();
}

function detailOfParseError(status: number): string {
  switch (status) {
    case 408:
      return 'cannot wait for the request any longer: send its head and body faster';
    case 413:
      return 'cannot read the request: the extensions of its chunks are too long';
    case 431:
      return `cannot read the request: its headers are larger than ${maxHeaderBytes} bytes`;
    default:
      return 'cannot read the request: it is no valid HTTP/1.1';
  }
}

function statusOfParseError(code: string | undefined): 400 | 408 | 413 | 431 {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return 431;
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return 413;
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return 408;
    default:
      return 400;
  }
}

/** Weir is no proxy. */
function refuseConnect(
  request: IncomingMessage | Http2ServerRequest,
  target: Socket | Http2ServerResponse,
): void {
  const detail = 'cannot connect to anywhere: this is no proxy';
  if (request instanceof Http2ServerRequest) {
    refuse(request, target as Http2ServerResponse, detail, 405);
    return;
  }
  (target as Socket).end(toRawAnswer(detail, 405));
}

function toRawAnswer(detail: string, status: number): string {
  const { headers, body } = toRawProblem(detail, status);
  const length = Buffer.byteLength(body);
  const fields = { ...headers, connection: 'close', 'content-length': String(length) };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('')}\r\n${body}`;
}

function toRawProblem(detail: string, status: number) {
  const error = new AppError(toCode(status), detail);
  const problem = { ...toProblem(error, ''), status };
  // Whose request it was nobody knows, so no cache may keep the answer.
  const headers = {
    'content-type': problemType,
    'cache-control': 'private, no-store',
    vary: 'Authorization, X-Active-Account',
  };
  return { headers, body: problemJson(problem) };
}

function toCode(status: number): ErrorCode {
  switch (status) {
    case 405:
      return 'method_not_allowed';
    case 408:
      return 'timeout';
    case 413:
    case 431:
      return 'too_large';
    default:
      return 'malformed';
  }
}
