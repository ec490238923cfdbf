/** Raw TLS connections of attackers, reopened when the server closes them. */
import { readFileSync } from 'node:fs';
import { connect as connectPlain, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect, type TLSSocket } from 'node:tls';
import type { Tally, Target } from './attack.ts';

export interface Dialled {
  readonly socket: TLSSocket;
  /** Resolves when either side has closed the connection. */
  readonly closed: Promise<void>;
}

const authorities = new Map<string, Buffer>();

/** @returns undefined if the connection failed */
export async function dial(target: Target, alpn: 'h2' | 'http/1.1'): Promise<Dialled | undefined> {
  const { caFile } = target.quickstart;
  const ca = authorities.get(caFile) ?? readFileSync(caFile);
  authorities.set(caFile, ca);
  const socket = connect({
    socket: dialPlain(target),
    servername: 'localhost',
    ca,
    ALPNProtocols: [alpn],
  });
  socket.on('error', () => {});
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  const opened = new Promise<boolean>((resolve) => {
    socket.once('secureConnect', () => resolve(true));
    socket.once('close', () => resolve(false));
  });
  return (await opened) ? { socket, closed } : undefined;
}

/** Without TLS, for attacks before the handshake. */
export function dialPlain(target: Target): Socket {
  const socket = connectPlain({
    host: '127.0.0.1',
    port: portOf(target),
    localAddress: target.from,
  });
  socket.on('error', () => {});
  return socket;
}

function portOf({ quickstart, port }: Target): number {
  return Number(new URL(port === 'ingest' ? quickstart.ingestUrl : quickstart.streamUrl).port);
}

export interface Load {
  readonly target: Target;
  readonly stop: AbortSignal;
  /** Concurrent connections. */
  readonly connections: number;
  readonly alpn: 'h2' | 'http/1.1';
}

/**
 * Keeps this many connections open; `use` runs on each until the server closes it or `stop` aborts.
 * @returns counts of opened, refused and closed connections, and of `use`
 */
export async function keepConnections(
  { target, stop, connections, alpn }: Load,
  use: (socket: TLSSocket, tally: Tally) => Promise<void>,
): Promise<Tally> {
  const tally: Tally = { opened: 0, refused: 0, closed: 0 };
  await Promise.all(
    Array.from({ length: connections }, async () => {
      while (!stop.aborted) {
        const dialled = await dial(target, alpn);
        if (dialled === undefined) {
          count(tally, 'refused');
          await pause(20, stop);
          continue;
        }
        count(tally, 'opened');
        const { socket, closed } = dialled;
        void use(socket, tally).catch(() => {});
        await Promise.race([closed, aborted(stop)]);
        if (stop.aborted) socket.destroy();
        else count(tally, 'closed');
        await pause(5, stop);
      }
    }),
  );
  return tally;
}

export function count(tally: Tally, name: string, by = 1): void {
  tally[name] = (tally[name] ?? 0) + by;
}

export async function pause(ms: number, stop: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal: stop }).catch(() => undefined);
}

export function aborted(stop: AbortSignal): Promise<void> {
  if (stop.aborted) return Promise.resolve();
  return new Promise((resolve) => stop.addEventListener('abort', () => resolve(), { once: true }));
}

/** Writes what `next` returns while the connection is writable. */
export async function pump(
  socket: TLSSocket,
  stop: AbortSignal,
  next: () => Uint8Array,
): Promise<void> {
  while (!stop.aborted && !socket.destroyed) {
    const isTaken = socket.write(next());
    if (isTaken) await new Promise(setImmediate);
    else await drained(socket, stop);
  }
}

function drained(socket: TLSSocket, stop: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const settle = () => {
      socket.off('drain', settle).off('close', settle);
      stop.removeEventListener('abort', settle);
      resolve();
    };
    socket.once('drain', settle).once('close', settle);
    stop.addEventListener('abort', settle, { once: true });
  });
}
