/**
 * The TLS listener of a surface: HTTP/1.1 and HTTP/2 on one port, with limits on everything that a
 * connection may use: time, streams, headers, memory, cancelled work. It gets its connections as
 * `connection` events and knows no routes.
 */
import type { Server as PlainServer, ServerResponse } from 'node:http';
import {
  createSecureServer,
  type Http2SecureServer,
  type Http2Server,
  Http2ServerRequest,
  type Http2ServerResponse,
  type Http2Session,
} from 'node:http2';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { createRoundRobin } from '../std/round-robin.ts';
import type { HttpEvents, Surface } from '../telemetry/request-events.ts';
import type { Certificate } from './certificate.ts';
import {
  type Exchange,
  logRefusal,
  problemJson,
  rawHeaders,
  type RawProblem,
  type RefusalLog,
  toRawAnswer,
} from './errors.ts';
import { isGrpc, sendFailure } from './grpc-wire.ts';
import { limitSessions, resetLimits, trackConnections, windowBytes } from './http2-sessions.ts';
import {
  type HttpRequest,
  type HttpResponse,
  type RequestHandler,
  requestFault,
} from './transport.ts';

export interface ConnectionLimits {
  /** For the TLS handshake, and for the headers of each request. */
  readonly headersTimeoutMs: number;
  /** Limit on the time without a byte in either direction. */
  readonly idleTimeoutMs: number;
  /** Between two requests on an HTTP/1.1 connection. */
  readonly keepAliveTimeoutMs: number;
  readonly maxStreamsPerConnection: number;
}

const maxHeaderBytes = 16 * 1024;

export interface ListenerContext {
  readonly surface: Surface;
  readonly limits: ConnectionLimits;
  readonly certificate: Certificate;
  readonly events: HttpEvents;
}

/** Emit `connection` with a socket and the permit of its address to have it served. */
export function createListener(
  context: ListenerContext,
  handle: RequestHandler,
): Http2SecureServer {
  const { surface, limits, certificate, events } = context;
  const server = createSecureServer({
    ...certificate.material(),
    ...httpOptions(limits),
    ...http2Options(limits),
    allowHTTP1: true,
    minVersion: 'TLSv1.2',
    handshakeTimeout: limits.headersTimeoutMs,
  });
  if (surface === 'ingest') answerHalfClosed(server, 'secureConnection');
  const connectionOf = trackConnections(server);
  server.on('tlsClientError', () => events.connectionCut(surface, 'tls'));
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    // Node reports failed handshakes here as well as to `tlsClientError`. A response written before
    // the handshake is complete aborts the process once an HTTP/2 session takes the socket over:
    // docs/decisions/021-no-answer-before-the-handshake.md.
    if (error.code === 'ERR_SSL_HTTP_REQUEST') {
      // Below TLS, which has ended.
      return void connectionOf(socket)?.socket.end(toRawAnswer(context, plainHttp));
    }
    onClientError(context, error, socket);
  });
  onRequests(server, context, handle);
  limitSessions(server, { surface, events, connectionOf });
  certificate.follow(server);
  return server;
}

export function onClientError(log: RefusalLog, error: NodeJS.ErrnoException, socket: Socket): void {
  if (!isParseError(error)) return void socket.destroy();
  // Also the bytes after a parse error are one.
  if (ending.has(socket)) return;
  const isTimeout = error.code === 'ERR_HTTP_REQUEST_TIMEOUT';
  log.events.connectionCut(log.surface, isTimeout ? 'timeout' : 'parse');
  endWith(socket, log, parseErrors[error.code ?? ''] ?? invalidHttp);
}

/** Requests of an HTTP/1.1 connection in order: those in flight, and one that is not complete. */
const unanswered = new WeakMap<Socket, Set<ServerResponse>>();
const ending = new WeakSet<Socket>();

function track(request: HttpRequest, response: HttpResponse): void {
  if (request instanceof Http2ServerRequest) return;
  const { socket } = request;
  const responses = unanswered.get(socket) ?? new Set();
  const own = response as ServerResponse;
  unanswered.set(socket, responses.add(own));
  const forget = () => responses.delete(own);
  own.once('close', () => (request.complete ? forget() : request.once('close', forget)));
}

/** Closes the connection, with an answer after those to earlier requests (RFC 9112 §9.3.2). */
function endWith(socket: Socket, log: RefusalLog, problem: RawProblem): void {
  ending.add(socket);
  const responses = [...(unanswered.get(socket) ?? [])];
  const earlier = responses.findLast(({ req }) => req.complete);
  const last = responses.at(-1);
  const end = () => {
    const isAnswered = last?.req.complete === false && last.headersSent;
    if (socket.writable && !isAnswered) socket.write(toRawAnswer(log, problem));
    socket.destroySoon();
  };
  if (earlier === undefined) end();
  else earlier.once('close', end);
}

/**
 * Clients of HTTP/1.1 may close their side after the request. Not for reads: it is also what ends
 * those of readers that have gone.
 */
export function answerHalfClosed(
  server: Http2SecureServer | PlainServer,
  event: 'connection' | 'secureConnection',
): void {
  Object.assign(server, { httpAllowHalfOpen: true });
  server.on(event, (socket: Socket & Pick<TLSSocket, 'alpnProtocol'>) => {
    if (socket.alpnProtocol !== 'h2') socket.allowHalfOpen = true;
  });
}

/** Passes the well-formed requests of a server to the handler. */
export function onRequests(
  server: Http2SecureServer | Http2Server | PlainServer,
  { limits, ...log }: RefusalLog & Pick<ListenerContext, 'limits'>,
  handle: RequestHandler,
): void {
  server.setTimeout(limits.idleTimeoutMs);
  const scheduled = schedule(rejectMalformed(log, handle));
  server.on('request', scheduled);
  // Admission decides whether a client may send its body, not Node.
  server.on('checkContinue', scheduled);
  server.on('checkExpectation', (request: HttpRequest, response: HttpResponse) => {
    const detail = 'cannot meet this Expect header: only 100-continue is supported';
    track(request, response);
    refuse(log, { request, response }, { status: 417, code: 'malformed', detail });
  });
  server.on('connect', (request: HttpRequest, target: Socket | Http2ServerResponse) => {
    if (request instanceof Http2ServerRequest) {
      return refuse(log, { request, response: target as Http2ServerResponse }, noProxy);
    }
    const socket = target as Socket;
    const destroy = () => socket.destroy();
    // Node has removed its own listeners, while an earlier answer may still be sent.
    socket.on('timeout', destroy).on('error', destroy).resume();
    endWith(socket, log, noProxy);
  });
  server.on('session', (session: Http2Session) => session.setLocalWindowSize(windowBytes));
}

export function http2Options(limits: ConnectionLimits) {
  return {
    maxSessionMemory: 16,
    maxSettings: 32,
    maxSessionInvalidFrames: 100,
    maxSessionRejectedStreams: 100,
    // Takes effect while a session is reading; our own limit only afterwards.
    streamResetBurst: 2 * resetLimits.burst,
    streamResetRate: 2 * resetLimits.perSecond,
    settings: {
      maxConcurrentStreams: limits.maxStreamsPerConnection,
      maxHeaderListSize: maxHeaderBytes,
      initialWindowSize: windowBytes,
    },
  };
}

/** HTTP/1.1 options, which Node accepts for HTTP/2 too although its types omit them. */
export function httpOptions(limits: ConnectionLimits): object {
  return {
    maxHeaderSize: maxHeaderBytes,
    headersTimeout: limits.headersTimeoutMs,
    // What reads a body limits its time; a body that is stored in steps may have no end.
    requestTimeout: 0,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    connectionsCheckingInterval: Math.min(1000, Math.ceil(limits.headersTimeoutMs / 4)),
    noDelay: true,
    // Checked by `requestFault`, since Node's own refusal has no body.
    requireHostHeader: false,
  };
}

/**
 * Handles requests after everything that arrived with them is read, so that one cancelled by then
 * costs no work, and round-robin over connections, so that pipelined requests do not delay others.
 */
function schedule(handle: RequestHandler): RequestHandler {
  const tasks = createRoundRobin<Http2Session | Socket>();
  return (request, response) => {
    track(request, response);
    if (!(request instanceof Http2ServerRequest)) {
      tasks.add(request.socket, () => {
        if (!response.destroyed) handle(request, response);
      });
      return;
    }
    const { stream } = request;
    if (stream.session === undefined) return;
    tasks.add(stream.session, () => {
      if (!stream.destroyed && !stream.closed) handle(request, response);
    });
  };
}

function rejectMalformed(log: RefusalLog, handle: RequestHandler): RequestHandler {
  return (request, response) => {
    const fault = requestFault(request);
    if (fault === undefined) return handle(request, response);
    if (!(request instanceof Http2ServerRequest)) response.setHeader('connection', 'close');
    const detail = `cannot accept this request: ${fault}`;
    refuse(log, { request, response }, { status: 400, code: 'malformed', detail });
  };
}

export function refuse(log: RefusalLog, { request, response }: Exchange, raw: RawProblem): void {
  const problem = logRefusal(log, raw);
  if (isGrpc(request)) return sendFailure(response, { problem, details: undefined, metadata: {} });
  response.statusCode = raw.status;
  for (const [name, value] of Object.entries(rawHeaders)) response.setHeader(name, value);
  response.end(problemJson({ ...problem, status: raw.status }));
}

/** From the HTTP/1.1 parser, which runs only after the handshake. */
function isParseError({ code }: NodeJS.ErrnoException): boolean {
  return code !== undefined && (code.startsWith('HPE_') || code === 'ERR_HTTP_REQUEST_TIMEOUT');
}

const parseErrors: Readonly<Record<string, RawProblem>> = {
  HPE_HEADER_OVERFLOW: {
    status: 431,
    code: 'too_large',
    detail: `cannot read the request: its headers are larger than ${maxHeaderBytes} bytes`,
  },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: {
    status: 413,
    code: 'too_large',
    detail: 'cannot read the request: the extensions of its chunks are too long',
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    status: 408,
    code: 'timeout',
    detail: 'cannot wait for the request any longer: send its head and body faster',
  },
};
const invalidHttp: RawProblem = {
  status: 400,
  code: 'malformed',
  detail: 'cannot read the request: it is not valid HTTP/1.1',
};

const plainHttp: RawProblem = {
  status: 400,
  code: 'malformed',
  detail: 'cannot answer plain HTTP: this port speaks HTTPS; use https:// in the URL',
};

const noProxy: RawProblem = {
  status: 405,
  code: 'method_not_allowed',
  detail: 'cannot connect: this server is not a proxy',
};
