/**
 * Limits the work of one HTTP/2 connection besides requests that are answered: streams cancelled
 * before their response (rapid reset, CVE-2023-44487, CVE-2025-8671), and bytes that are neither
 * bodies nor headers, such as one-byte DATA frames and floods of SETTINGS or PING. A connection
 * over a limit gets GOAWAY with ENHANCE_YOUR_CALM and is closed.
 */
import {
  constants,
  type Http2SecureServer,
  type Http2Server,
  type Http2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import type { Socket } from 'node:net';
import type { ConnectionPermit } from '../admission/port.ts';
import { type TokenBucket, createTokenBucket } from '../std/token-bucket.ts';
import type { HttpEvents, Surface } from '../telemetry/request-events.ts';

/**
 * A browser that redraws, or a sender whose deadlines pass, may cancel all its concurrent streams
 * at once. Node itself ends a session at twice these rates.
 */
export const resetLimits = { burst: 100, perSecond: 20 } as const;

/** Far more than the frames and acknowledgements of any client. */
const overheadLimits = { burst: 1024 * 1024, perSecond: 256 * 1024 } as const;
/** Frame and TLS record headers, for frames of at least 200 bytes. */
const framingShare = 1 / 16;
/** Compressed headers of a request, and its control frames. */
const headBytes = 4096;
const checkEveryMs = 250;
/** Above the overhead of 64-byte frames in everything that Node reads in one turn. */
const maxTurnOverheadBytes = 40 * 1024;
const frameHeadBytes = 9;
/** Flow-control window of a connection; with the default a sender stops every 64 KiB. */
export const windowBytes = 1024 * 1024;
/** Time for the GOAWAY to be sent. */
const goawayMs = 1000;

type AnyHttp2Server = Http2SecureServer | Http2Server;

/** A connection, below TLS if there is any. */
interface Connection {
  readonly socket: Socket;
  /** Undefined = its address is not counted. */
  readonly permit: ConnectionPermit | undefined;
}

interface Watched extends Connection {
  readonly session: Http2Session;
  readonly resets: TokenBucket;
  readonly overhead: TokenBucket;
  /** Below TLS, up to the last check. */
  bytesRead: number;
  /** Since the last check. */
  usefulBytes: number;
  /** From body frames, in this turn of the event loop. */
  turnOverhead: number;
  turn: number;
  isEnding: boolean;
}

export interface SessionContext {
  readonly surface: Surface;
  readonly events: HttpEvents;
  readonly connectionOf: ReturnType<typeof trackConnections>;
}

export function limitSessions(
  server: AnyHttp2Server,
  { surface, events, connectionOf }: SessionContext,
): void {
  const watched = new WeakMap<Http2Session, Watched>();
  const active = new Set<Watched>();
  const now = () => performance.now();
  let turn = 0;
  let isTurnCounted = false;

  function end(own: Watched, reason: 'resets' | 'overhead'): void {
    if (own.isEnding) return;
    own.isEnding = true;
    active.delete(own);
    stopReading(own.socket);
    own.permit?.abused();
    events.connectionCut(surface, reason);
    sendGoaway(own);
  }

  /** In one turn Node reads up to half a megabyte of a connection: 50,000 one-byte frames. */
  function addBodyFrame(own: Watched, bytes: number): void {
    own.usefulBytes += bytes;
    if (own.turn !== turn) {
      own.turn = turn;
      own.turnOverhead = 0;
    }
    own.turnOverhead += frameHeadBytes - bytes * framingShare;
    if (own.turnOverhead > maxTurnOverheadBytes) end(own, 'overhead');
    if (isTurnCounted) return;
    isTurnCounted = true;
    setImmediate(() => {
      isTurnCounted = false;
      turn += 1;
    });
  }

  function check(own: Watched): void {
    const { bytesRead } = own.socket;
    const overhead = bytesRead - own.bytesRead - own.usefulBytes * (1 + framingShare);
    own.bytesRead = bytesRead;
    own.usefulBytes = 0;
    if (overhead > 0 && !own.overhead.take(overhead)) end(own, 'overhead');
  }

  server.on('session', (session: Http2Session) => {
    const connection = session.socket && connectionOf(session.socket);
    if (!connection) return;
    const own: Watched = {
      ...connection,
      session,
      resets: createTokenBucket(resetLimits, now),
      overhead: createTokenBucket(overheadLimits, now),
      bytesRead: connection.socket.bytesRead,
      usefulBytes: 0,
      turnOverhead: 0,
      turn: 0,
      isEnding: false,
    };
    watched.set(session, own);
    active.add(own);
    session.once('close', () => active.delete(own));
  });
  server.on('stream', (stream: ServerHttp2Stream) => {
    const own = stream.session && watched.get(stream.session);
    if (!own) return;
    own.usefulBytes += headBytes;
    onBodyFrame(stream, (bytes) => addBodyFrame(own, bytes));
    stream.once('close', () => {
      // Bytes in flight when the server closes a stream do not count against its client.
      if (!stream.readableEnded) own.usefulBytes += windowBytes;
      if (isCancelled(stream) && !own.resets.take(1)) end(own, 'resets');
    });
  });
  const timer = setInterval(() => active.forEach(check), checkEveryMs).unref();
  server.once('close', () => clearInterval(timer));
}

/**
 * Node does not expose the socket of a session, which differs from the one below TLS.
 * @param server gets its connections as `connection` events with socket and permit.
 */
export function trackConnections(server: AnyHttp2Server): (ends: Ends) => Connection | undefined {
  const byEnds = new Map<string, Connection>();
  server.on('connection', (socket: Socket, permit?: ConnectionPermit) => {
    const key = keyOf(socket);
    const connection = { socket, permit };
    byEnds.set(key, connection);
    socket.once('close', () => {
      permit?.closed();
      // A later connection may have the same ends.
      if (byEnds.get(key) === connection) byEnds.delete(key);
    });
  });
  return (ends) => byEnds.get(keyOf(ends));
}

type Ends = Pick<Socket, 'remoteAddress' | 'remotePort' | 'localAddress'>;

function keyOf({ remoteAddress, remotePort, localAddress }: Ends): string {
  return [remoteAddress, remotePort, localAddress].join(' ');
}

/** Below TLS `pause` has no effect, since TLS reads from the handle. */
function stopReading(socket: Socket): void {
  const { _handle } = socket as { _handle?: { readonly readStop?: () => void } | null };
  _handle?.readStop?.();
}

function sendGoaway({ session, socket }: Watched): void {
  // Node aborts the process if a session is destroyed while it is reading.
  setImmediate(() => {
    if (!session.destroyed) session.goaway(constants.NGHTTP2_ENHANCE_YOUR_CALM);
  });
  // Closed at once with bytes unread, the socket would be reset and the GOAWAY lost.
  setTimeout(() => {
    if (!session.destroyed) session.destroy();
    socket.destroy();
  }, goawayMs).unref();
}

function onBodyFrame(stream: ServerHttp2Stream, count: (bytes: number) => void): void {
  const push = stream.push.bind(stream);
  stream.push = (chunk: Buffer | null, encoding?: BufferEncoding) => {
    if (chunk !== null) count(chunk.length);
    return push(chunk, encoding);
  };
}

/** By either side. */
function isCancelled(stream: ServerHttp2Stream): boolean {
  return stream.aborted || stream.rstCode !== constants.NGHTTP2_NO_ERROR;
}
