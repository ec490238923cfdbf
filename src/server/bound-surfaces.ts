/** Binds surfaces to their ports, and closes them without losing a request. */
import { type AddressInfo, Server as NetServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import type { ConnectionGate, ConnectionPermit } from '../admission/port.ts';
import type { HttpEvents, Surface } from '../telemetry/request-events.ts';
import { type AcceptPort, openAcceptPort } from './accept-port.ts';
import { messageOf } from '../std/error-text.ts';

export interface PortOptions {
  /** Empty = all addresses, IPv6 and IPv4. */
  readonly host: string;
  /** 0 = any free port. */
  readonly port: number;
}

/** In place of a port: connections come one by one from a process that has it. */
export const handedOver = 'handed over';

export interface ClosingTimes {
  /**
   * A connection that waits for a request may carry one already: it is kept so long, to answer that
   * and say that it was the last one. Clients of HTTP/2 are told what was not answered.
   */
  readonly noticeMs: number;
  /** What is under way after so long is cut off. */
  readonly graceMs: number;
}

export interface BoundSurfaces {
  /** The ports as they were bound; 0 where there is none. */
  readonly ports: Readonly<Record<Surface, number>>;
  /** A connection for the surface that is handed them. */
  take(socket: Socket, permit: ConnectionPermit): void;
  /** Stops accepting, lets requests under way end, then lets go of every connection. */
  close(): Promise<void>;
}

export interface UnboundSurface {
  readonly surface: Surface;
  readonly app: FastifyInstance;
  readonly port: PortOptions | typeof handedOver;
  /** How connections are accepted; undefined = by the surface itself, without limits. */
  readonly accepting: Accepting | undefined;
}

export interface Accepting {
  readonly gate: ConnectionGate;
  readonly events: HttpEvents;
  readonly maxConnections: number;
}

/** @throws Error when a port cannot be bound */
export async function bindSurfaces(
  surfaces: readonly UnboundSurface[],
  times: ClosingTimes,
): Promise<BoundSurfaces> {
  const sockets = new Set<Socket>();
  const accepting: AcceptPort[] = [];
  const handed = surfaces.find(({ port }) => port === handedOver)?.app.server;
  const ports: Record<Surface, number> = { ingest: 0, stream: 0, ops: 0 };
  const close = async () => {
    for (const port of accepting) port.close();
    await closeSurfaces(surfaces, sockets, times);
  };
  try {
    for (const one of surfaces) {
      const { surface, app, port } = one;
      track(app.server, sockets);
      if (port === handedOver) {
        await standBy(app);
      } else if (one.accepting === undefined) {
        ports[surface] = await bind(app, surface, port);
      } else {
        const opened = await accept(one, port, one.accepting);
        accepting.push(opened);
        ports[surface] = opened.port;
      }
    }
  } catch (error) {
    await close();
    throw error;
  }
  const take = (socket: Socket, permit: ConnectionPermit) =>
    void handed?.emit('connection', socket, permit);
  return { ports, take, close };
}

async function accept(
  { surface, app }: UnboundSurface,
  port: PortOptions,
  { gate, events, maxConnections }: Accepting,
): Promise<AcceptPort> {
  await standBy(app);
  return openAcceptPort(
    { surface, ...port, maxConnections },
    { gate, events },
    (socket, permit) => {
      app.server.emit('connection', socket, permit);
    },
  );
}

const sweepMs = 10;

async function closeSurfaces(
  surfaces: readonly UnboundSurface[],
  sockets: ReadonlySet<Socket>,
  { noticeMs, graceMs }: ClosingTimes,
): Promise<void> {
  const startedAt = performance.now();
  await Promise.all(surfaces.map(({ app }) => stopAccepting(app)));
  for (;;) {
    const isEmpty = sockets.size === 0;
    const passedMs = performance.now() - startedAt;
    // Lets go of connections without a request, more of them each time.
    if (isEmpty || passedMs >= noticeMs) for (const { app } of surfaces) app.server.close();
    if (isEmpty) return;
    if (passedMs >= graceMs) for (const socket of sockets) socket.destroy();
    await sleep(sweepMs);
  }
}

/** Node watches over the times of HTTP/1.1 only from when a listener listens. */
async function standBy(app: FastifyInstance): Promise<void> {
  await app.ready();
  app.server.emit('listening');
}

async function bind(app: FastifyInstance, name: Surface, options: PortOptions): Promise<number> {
  const { host, port } = options;
  try {
    await app.ready();
    await listen(app.server, host, port);
  } catch (cause) {
    const reason = messageOf(cause);
    throw new Error(
      `cannot open the ${name} port ${host}:${port}: ${reason}; choose another with --${name}-port`,
      { cause },
    );
  }
  return (app.server.address() as AddressInfo).port;
}

/** Connections stay; Fastify marks each answer from here on as the last on its connection. */
async function stopAccepting(app: FastifyInstance): Promise<void> {
  // That of HTTP lets go of idle connections as well.
  NetServer.prototype.close.call(app.server);
  await app.close();
}

function listen(server: NetServer, host: string, port: number): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject);
  const done = () => {
    server.off('error', reject);
    resolve();
  };
  if (host === '') server.listen(port, done);
  else server.listen(port, host, done);
  return promise;
}

function track(server: NetServer, sockets: Set<Socket>): void {
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
}
