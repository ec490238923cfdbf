/** Binds surfaces to their ports, and closes them without losing a request. */
import type { AddressInfo, Server as NetServer, Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { Surface } from '../telemetry/http-events.ts';

export interface PortOptions {
  /** Empty = all addresses, IPv6 and IPv4. */
  readonly host: string;
  /** 0 = any free port. */
  readonly port: number;
}

/** In place of a port: connections come one by one from a process that has it. */
export const handedOver = 'handed over';

export interface BoundSurfaces {
  /** The ports as they were bound; 0 where there is none. */
  readonly ports: Readonly<Record<Surface, number>>;
  /** A connection for the surface that is handed them. */
  take(socket: Socket): void;
  /** Stops accepting, lets requests under way end, then lets go of every connection. */
  close(): Promise<void>;
}

export interface UnboundSurface {
  readonly surface: Surface;
  readonly app: FastifyInstance;
  readonly port: PortOptions | typeof handedOver;
}

/**
 * @param closeGraceMs for requests under way when the surfaces close.
 * @throws Error when a port cannot be bound
 */
export async function bindSurfaces(
  surfaces: readonly UnboundSurface[],
  closeGraceMs: number,
): Promise<BoundSurfaces> {
  const sockets = new Set<Socket>();
  const handed = surfaces.find(({ port }) => port === handedOver)?.app.server;
  const ports: Record<Surface, number> = { ingest: 0, stream: 0, ops: 0 };

  const close = async () => {
    const timer = setTimeout(() => {
      for (const socket of sockets) socket.destroy();
    }, closeGraceMs);
    await Promise.all(surfaces.map(({ app }) => closeSurface(app)));
    if (handed !== undefined) await untilClosed(sockets);
    clearTimeout(timer);
    for (const socket of sockets) socket.destroy();
  };
  try {
    for (const { surface, app, port } of surfaces) {
      track(app.server, sockets);
      if (port === handedOver) await standBy(app);
      else ports[surface] = await bind(app, surface, port);
    }
  } catch (error) {
    await close();
    throw error;
  }
  return { ports, take: (socket) => void handed?.emit('connection', socket), close };
}

/** Node watches over the times of HTTP/1.1 only from when a listener listens. */
async function standBy(app: FastifyInstance): Promise<void> {
  await app.ready();
  app.server.emit('listening');
}

/** A listener does not wait for connections that it was handed. */
async function untilClosed(sockets: ReadonlySet<Socket>): Promise<void> {
  await Promise.all(
    [...sockets].map((socket) => new Promise((done) => socket.once('close', done))),
  );
}

async function bind(app: FastifyInstance, name: Surface, options: PortOptions): Promise<number> {
  const { host, port } = options;
  try {
    await app.ready();
    await listen(app.server, host, port);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Error(
      `cannot open the ${name} port ${host}:${port}: ${reason}; choose another with --${name}-port`,
      { cause },
    );
  }
  return (app.server.address() as AddressInfo).port;
}

/**
 * Fastify marks answers as the last of their connections from here on; the listener itself is ours
 * to close.
 */
async function closeSurface(app: FastifyInstance): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const closing = app.close();
  // Without a port of its own it is closed at once, but for the connections it was handed.
  app.server.close(() => resolve());
  await Promise.all([closing, promise]);
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
