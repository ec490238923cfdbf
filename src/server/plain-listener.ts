/**
 * The listener of a surface without TLS, for proxies that end it: HTTP/1.1, and HTTP/2 with prior
 * knowledge, told apart by their first bytes; before them a PROXY header, if configured.
 */
import { createServer } from 'node:http';
import { createServer as createHttp2Server } from 'node:http2';
import type { Socket } from 'node:net';
import type { ConnectionPermit } from '../admission/port.ts';
import type { RefusalLog } from './errors.ts';
import { limitSessions, trackConnections } from './http2-sessions.ts';
import {
  answerHalfClosed,
  http2Options,
  httpOptions,
  type ListenerContext,
  onClientError,
  onRequests,
  refuse,
} from './listener.ts';
import { type ProxyHeader, readProxyHeader } from '../codec/proxy-header.ts';
import type { RequestHandler } from './transport.ts';

export interface PlainListenerContext extends Omit<ListenerContext, 'certificate'> {
  readonly hasProxyHeader: boolean;
}

/** Enough to tell: no HTTP/1 method starts like this. */
const http2Start = Buffer.from('PRI * HTTP/2.0');

export type PlainListener = ReturnType<typeof createPlainListener>;

export function createPlainListener(context: PlainListenerContext, handle: RequestHandler) {
  const { surface, events, limits, hasProxyHeader } = context;
  const checked = rejectPlainClients(context, handle);
  const http1 = createServer(httpOptions(limits));
  const http2 = createHttp2Server({ ...http2Options(limits) });
  if (surface === 'ingest') answerHalfClosed(http1, 'connection');
  const connectionOf = trackConnections(http2);
  http1.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) =>
    onClientError(context, error, socket),
  );
  for (const server of [http1, http2]) onRequests(server, context, checked);
  limitSessions(http2, { surface, events, connectionOf });
  // Node enforces the timeouts of HTTP/1.1 only from this event on.
  http1.emit('listening');
  /** Connections whose protocol is not known yet. */
  const starting = new Set<Socket>();

  function start(socket: Socket, begun: Start): void {
    const { bytes, client } = begun;
    if (client !== undefined) {
      Object.defineProperty(socket, 'remoteAddress', { value: client.address });
      Object.defineProperty(socket, 'remotePort', { value: client.port });
    }
    socket.pause();
    socket.unshift(bytes);
  }

  return {
    /** @param socket paused, unread */
    take(socket: Socket, permit: ConnectionPermit): void {
      let read: Buffer = Buffer.alloc(0);
      const timer = setTimeout(() => cut('timeout'), limits.headersTimeoutMs);
      const cut = (reason: 'timeout' | 'parse') => {
        events.connectionCut(surface, reason);
        socket.destroy();
      };
      const end = () => {
        clearTimeout(timer);
        starting.delete(socket);
        socket.off('data', onData).off('end', end);
        if (socket.readableEnded) socket.destroy();
      };
      const onData = (chunk: Buffer) => {
        read = read.length === 0 ? chunk : Buffer.concat([read, chunk]);
        let begun: Start | undefined;
        try {
          begun = readStart(read, hasProxyHeader);
        } catch {
          return cut('parse');
        }
        if (begun === undefined) return;
        end();
        start(socket, begun);
        if (begun.isHttp2) http2.emit('connection', socket, permit);
        else http1.emit('connection', socket.resume());
      };
      starting.add(socket);
      socket.once('close', () => {
        end();
        permit.closed();
      });
      socket.on('data', onData).on('end', end).resume();
    },
    /** Closes idle connections. */
    close(): void {
      for (const socket of starting) socket.destroy();
      http1.close();
      http2.close();
    },
  };
}

interface Start extends Pick<ProxyHeader, 'client'> {
  /** What follows the PROXY header. */
  readonly bytes: Buffer;
  readonly isHttp2: boolean;
}

/** @returns undefined if more bytes are needed. @throws Error for an invalid PROXY header */
function readStart(read: Buffer, hasProxyHeader: boolean): Start | undefined {
  const header = hasProxyHeader ? readProxyHeader(read) : { byteLength: 0, client: undefined };
  if (header === undefined) return undefined;
  const bytes = read.subarray(header.byteLength);
  const start = bytes.subarray(0, http2Start.length);
  const isSame = start.equals(http2Start.subarray(0, start.length));
  if (isSame && start.length < http2Start.length) return undefined;
  return { bytes, client: header.client, isHttp2: isSame };
}

/** The secrets of a request that reached the proxy without TLS have been readable on the way. */
function rejectPlainClients(log: RefusalLog, handle: RequestHandler): RequestHandler {
  return (request, response) => {
    const forwarded = request.headers['x-forwarded-proto'];
    const scheme = String(forwarded ?? 'https')
      .split(',')
      .pop()
      ?.trim()
      .toLowerCase();
    if (scheme !== 'http') return handle(request, response);
    const detail =
      'cannot accept plain HTTP (X-Forwarded-Proto: http of the proxy): use https:// in the URL';
    refuse(log, { request, response }, { status: 400, code: 'malformed', detail });
  };
}
