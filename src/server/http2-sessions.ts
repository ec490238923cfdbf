/**
 * Bounds what one HTTP/2 connection makes the server do besides requests that are answered: streams
 * that end before their answer (CVE-2023-44487, CVE-2025-8671), and bytes that are neither bodies
 * nor heads, such as one-byte DATA frames and floods of SETTINGS or PING. Beyond it the connection
 * gets GOAWAY with ENHANCE_YOUR_CALM and is closed.
 */
import {
  constants,
  type Http2SecureServer,
  type Http2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import { type Allowance, createAllowance } from '../std/allowance.ts';
import type { HttpEvents, Surface } from '../telemetry/request-events.ts';
import type { Connection, Connections } from './connections.ts';

/**
 * A browser that redraws, or a sender whose deadlines pass, cancels up to all streams that it may
 * have at once. Node itself ends a session at twice as many.
 */
export const resetLimits = { burst: 100, perSecond: 20 } as const;

/** Far more than frames and acknowledgements of any client take. */
const overheadLimits = { burst: 1024 * 1024, perSecond: 256 * 1024 } as const;
/** Heads of frames and TLS records, of what comes in frames of 200 bytes or more. */
const framingShare = 1 / 16;
/** What the head of a request may take, compressed, and what its client sends along. */
const headBytes = 4096;
const checkEveryMs = 250;
/** More than pieces of 64 bytes make of all that Node reads in one turn. */
const maxTurnOverheadBytes = 40 * 1024;
const frameHeadBytes = 9;
/** What all streams of a connection may have in flight; by default a sender stops every 64 KiB. */
export const windowBytes = 1024 * 1024;
/** For the GOAWAY to be sent to a peer that reads. */
const farewellMs = 1000;

interface Watched {
  readonly session: Http2Session;
  readonly connection: Connection;
  readonly resets: Allowance;
  readonly overhead: Allowance;
  /** Up to the last check. */
  bytesRead: number;
  /** Since the last check. */
  usefulBytes: number;
  /** Of pieces of bodies, in this turn of the event loop. */
  turnOverhead: number;
  turn: number;
  isEnding: boolean;
}

/** @param server takes connections that `connections` knows */
export function boundSessions(
  server: Http2SecureServer,
  connections: Connections,
  { surface, events }: { readonly surface: Surface; readonly events: HttpEvents },
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
    own.connection.stopReading();
    own.connection.abused();
    events.connectionCut(surface, reason);
    sendGoaway(own);
  }

  /** Node reads half a megabyte of a connection in one turn: fifty thousand one-byte frames. */
  function addPiece(own: Watched, bytes: number): void {
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
    const bytes = own.connection.bytesRead();
    const overhead = bytes - own.bytesRead - own.usefulBytes * (1 + framingShare);
    own.bytesRead = bytes;
    own.usefulBytes = 0;
    if (overhead > 0 && !own.overhead.take(overhead)) end(own, 'overhead');
  }

  function begin(session: Http2Session, connection: Connection): void {
    const own: Watched = {
      session,
      connection,
      resets: createAllowance(resetLimits, now),
      overhead: createAllowance(overheadLimits, now),
      bytesRead: connection.bytesRead(),
      usefulBytes: 0,
      turnOverhead: 0,
      turn: 0,
      isEnding: false,
    };
    watched.set(session, own);
    active.add(own);
    session.once('close', () => active.delete(own));
  }

  server.on('session', (session) => {
    const connection = session.socket && connections.of(session.socket);
    if (connection) begin(session, connection);
  });
  server.on('stream', (stream: ServerHttp2Stream) => {
    const own = stream.session && watched.get(stream.session);
    if (!own) return;
    own.usefulBytes += headBytes;
    onPiece(stream, (bytes) => addPiece(own, bytes));
    stream.once('close', () => {
      // What is on its way when the server is done with a stream is not held against its client.
      if (!stream.readableEnded) own.usefulBytes += windowBytes;
      if (isCutShort(stream) && !own.resets.take(1)) end(own, 'resets');
    });
  });
  const timer = setInterval(() => active.forEach(check), checkEveryMs).unref();
  server.once('close', () => clearInterval(timer));
}

function sendGoaway({ session, connection }: Watched): void {
  // Node aborts where a session is destroyed from within its own reading.
  setImmediate(() => {
    if (!session.destroyed) session.goaway(constants.NGHTTP2_ENHANCE_YOUR_CALM);
  });
  // Closed at once with bytes unread, the socket would be reset and the GOAWAY lost.
  setTimeout(() => {
    if (!session.destroyed) session.destroy();
    connection.destroy();
  }, farewellMs).unref();
}

/** Tells of each piece of a body as it arrives, whatever becomes of it. */
function onPiece(stream: ServerHttp2Stream, tell: (bytes: number) => void): void {
  const push = stream.push.bind(stream);
  stream.push = (chunk: Buffer | null, encoding?: BufferEncoding) => {
    if (chunk !== null) tell(chunk.length);
    return push(chunk, encoding);
  };
}

/** By whichever side. */
function isCutShort(stream: ServerHttp2Stream): boolean {
  return stream.aborted || stream.rstCode !== constants.NGHTTP2_NO_ERROR;
}
