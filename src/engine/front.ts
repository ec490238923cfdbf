/**
 * Serves the engine to other processes: a reverse proxy from TCP to the engine's Unix socket, with
 * authentication. It responds with 503 to requests that it has not forwarded, and cuts the
 * connection of a forwarded request whose response breaks off.
 */
import { once } from 'node:events';
import {
  createServer,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  request as openRequest,
  type Server,
  type ServerResponse,
} from 'node:http';
import { connect, type Socket } from 'node:net';
import { pipeline } from 'node:stream';
import type { EngineFrontEvents } from '../telemetry/store-events.ts';
import { EngineException, toWireException } from './exceptions.ts';
import { assertGuarded, createAccessCheck, type FrontRequest } from './front-access.ts';
import type { Engine } from './supervisor.ts';

export interface EngineFrontOptions {
  /** Any address but loopback requires a password. */
  readonly host: string;
  /** 0 = any free port. */
  readonly port: number;
  readonly user: string;
  readonly password: string;
}

export interface EngineFront {
  readonly port: number;
  /** Stops listening, waits up to 10 s for requests, then cuts their connections. */
  close(): Promise<void>;
}

interface Front {
  readonly engine: Pick<Engine, 'socketPath' | 'ready'>;
  readonly events: EngineFrontEvents;
  allows(request: FrontRequest): boolean;
}

/** ClickHouse allows 1 MiB of URL by default; clients send longer parameters in the body. */
const maxHeaderBytes = 2 * 2 ** 20;
const maxConnections = 1_000;
const headersTimeoutMillis = 10_000;
/** The same as in the engine. */
const keepAliveMillis = 30_000;
/** Delay of the first TCP keep-alive probe; a dead peer is found 10 s later. */
const keepAliveProbeMillis = 10_000;
/** Time for a refused client to finish its body; some read no response before. */
const refusedBodyMillis = 5_000;
const closeMillis = 10_000;
const sweepMillis = 50;

/**
 * Resolves when it listens. The caller closes the engine, after the front.
 * @throws Error for an address of the network without a password, or one that is in use
 */
export async function openEngineFront(
  engine: Pick<Engine, 'socketPath' | 'ready'>,
  options: EngineFrontOptions,
  events: EngineFrontEvents,
): Promise<EngineFront> {
  assertGuarded(options.host, options);
  const front: Front = { engine, events, allows: createAccessCheck(options) };
  const limits = {
    maxHeaderSize: maxHeaderBytes,
    headersTimeout: headersTimeoutMillis,
    // The engine reads the body of an insert only when it is its turn.
    requestTimeout: 0,
    keepAliveTimeout: keepAliveMillis,
    keepAlive: true,
    keepAliveInitialDelay: keepAliveProbeMillis,
  };
  const server = createServer(limits, (request, response) => serve(front, request, response));
  server.maxConnections = maxConnections;
  const port = await listen(server, options);
  events.listening(options.host, port);
  return { port, close: () => close(server) };
}

async function listen(server: Server, { host, port }: EngineFrontOptions): Promise<number> {
  try {
    server.listen({ port, ...(host === '' ? {} : { host }) });
    await once(server, 'listening');
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    const advice = 'set engine.host and engine.port';
    throw new Error(`cannot serve the engine on ${host}:${port}: ${code}; ${advice}`, {
      cause: error,
    });
  }
  return (server.address() as { port: number }).port;
}

async function close(server: Server): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  // Clients keep idle connections open.
  const sweep = setInterval(() => server.closeIdleConnections(), sweepMillis);
  const lastResort = setTimeout(() => server.closeAllConnections(), closeMillis);
  await closed;
  clearInterval(sweep);
  clearTimeout(lastResort);
}

function serve(front: Front, request: IncomingMessage, response: ServerResponse): void {
  const [path] = (request.url ?? '/').split('?', 1);
  if (path !== '/' && path !== '/ping') {
    request.resume();
    response.writeHead(404).end('cannot find this path: the engine serves / and /ping\n');
    return;
  }
  if (path === '/' && !front.allows(request)) {
    front.events.served('denied');
    response.statusCode = 403;
    refuse(request, response, new EngineException(516, 'cannot accept this user and password'));
    return;
  }
  if (!front.engine.ready()) {
    refuseUnready(front, request, response);
    return;
  }
  const socket = connect(front.engine.socketPath);
  const disconnect = () => void socket.destroy();
  const fail = () => {
    response.off('close', disconnect);
    refuseUnready(front, request, response);
  };
  response.once('close', disconnect);
  socket.once('error', fail);
  socket.once('connect', () => {
    socket.off('error', fail);
    response.off('close', disconnect);
    forward(front, socket, request, response);
  });
}

function refuseUnready(front: Front, request: IncomingMessage, response: ServerResponse): void {
  front.events.served('away');
  response.statusCode = 503;
  refuse(request, response, new EngineException(236, 'cannot run a query: the engine is starting'));
}

function refuse(request: IncomingMessage, response: ServerResponse, cause: EngineException): void {
  const { code, text } = toWireException(cause);
  request.on('error', () => undefined).resume();
  const timer = setTimeout(() => request.destroy(), refusedBodyMillis);
  request.once('close', () => clearTimeout(timer));
  response.setHeader('Content-Type', 'text/plain; charset=UTF-8');
  response.setHeader('X-ClickHouse-Exception-Code', code);
  response.end(`${text}\n`);
}

/** From here on the engine may have run the query, so only the engine may respond. */
function forward(
  front: Front,
  socket: Socket,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const forwarded = openRequest({
    createConnection: () => socket,
    method: request.method,
    path: request.url,
    headers: endToEnd(request.headers),
  });
  let hasDisconnected = false;
  response.once('close', () => {
    hasDisconnected = !response.writableFinished && !socket.destroyed;
    front.events.served(outcomeOf(response, hasDisconnected));
    forwarded.destroy();
  });
  const breakOff = () => void response.destroy();
  forwarded.once('response', (engineResponse) => {
    response.writeHead(engineResponse.statusCode ?? 502, endToEnd(engineResponse.headers));
    response.flushHeaders();
    pipeline(engineResponse, response, (error) => error && breakOff());
  });
  forwarded.on('error', breakOff);
  pipeline(request, forwarded, (error) => error && breakOff());
}

function outcomeOf(response: ServerResponse, hasDisconnected: boolean) {
  if (response.writableFinished) return 'passed';
  return hasDisconnected ? 'left' : 'broken';
}

/** Hop-by-hop (https://www.rfc-editor.org/rfc/rfc9110#section-7.6.1), or credentials. */
const ownHeaders = new Set([
  'authorization',
  'connection',
  'expect',
  'keep-alive',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'upgrade',
  'x-clickhouse-key',
  'x-clickhouse-user',
]);

function endToEnd(headers: IncomingMessage['headers']): OutgoingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !ownHeaders.has(name)));
}
