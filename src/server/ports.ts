/** Opens ports, passes their connections to the surfaces, and closes without losing a request. */
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import type { ConnectionGate, ConnectionPermit } from '../admission/port.ts';
import { messageOf } from '../std/error-text.ts';
import type { HttpEvents, Surface } from '../telemetry/request-events.ts';
import type { PlainListener } from './plain-listener.ts';

export interface PortOptions {
  /** Empty = all addresses, IPv6 and IPv4. */
  readonly host: string;
  /** 0 = any free port. */
  readonly port: number;
}

/** In place of a port: another process accepts the connections and passes them on. */
export const handedOver = 'handed over';

export interface ClosingTimes {
  /**
   * An idle connection is kept this long, since it may carry a request already: it gets a response,
   * marked as the last one. HTTP/2 clients learn from GOAWAY what was not processed.
   */
  readonly noticeMs: number;
  /** Requests still in flight after this long are cut off. */
  readonly graceMs: number;
}

export interface BoundSurfaces {
  /** The bound ports; 0 if none was bound. */
  readonly ports: Readonly<Record<Surface, number>>;
  /** Handles a connection that another process has accepted. */
  take(socket: Socket, permit: ConnectionPermit, port: PortKind): void;
  /** Stops accepting, lets requests in flight end, then closes every connection. */
  close(): Promise<void>;
}

/** `plain`: from a proxy that ended TLS. */
export type PortKind = 'tls' | 'plain';

export interface UnboundSurface {
  readonly surface: Surface;
  readonly app: FastifyInstance;
  readonly port: PortOptions | typeof handedOver;
  readonly plain:
    | { readonly port: PortOptions | typeof handedOver; readonly listener: PlainListener }
    | undefined;
  readonly gate: ConnectionGate;
  /** Undefined = no limit. */
  readonly maxConnections: number | undefined;
}

/** @throws Error when a port cannot be bound */
export async function bindSurfaces(
  surfaces: readonly UnboundSurface[],
  times: ClosingTimes,
  events: HttpEvents,
): Promise<BoundSurfaces> {
  const sockets = new Set<Socket>();
  const accepting: AcceptPort[] = [];
  const ports: Record<Surface, number> = { ingest: 0, stream: 0, ops: 0 };
  const close = async () => {
    for (const port of accepting) port.close();
    await closeSurfaces(surfaces, sockets, times);
  };
  const pass = ({ app, plain }: UnboundSurface, kind: PortKind) => {
    return (socket: Socket, permit: ConnectionPermit) => {
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
      if (kind === 'tls') app.server.emit('connection', socket, permit);
      else plain?.listener.take(socket, permit);
    };
  };
  const open = async (one: UnboundSurface, kind: PortKind, port: PortOptions) => {
    const { surface, gate, maxConnections } = one;
    const options = { surface, kind, ...port, maxConnections };
    const opened = await openAcceptPort(options, { gate, events }, pass(one, kind));
    accepting.push(opened);
    return opened.port;
  };
  try {
    for (const one of surfaces) {
      const { surface, app, port, plain } = one;
      await app.ready();
      // Node enforces the timeouts of HTTP/1.1 only from this event on.
      app.server.emit('listening');
      if (plain !== undefined && plain.port !== handedOver) await open(one, 'plain', plain.port);
      if (port !== handedOver) ports[surface] = await open(one, 'tls', port);
    }
  } catch (error) {
    await close();
    throw error;
  }
  const handed = surfaces.find(({ port }) => port === handedOver);
  return {
    ports,
    take(socket, permit, kind) {
      // The listener of the process that accepted it stayed there.
      socket.on('error', ignoreError);
      if (handed !== undefined) pass(handed, kind)(socket, permit);
    },
    close,
  };
}

const sweepMs = 10;

async function closeSurfaces(
  surfaces: readonly UnboundSurface[],
  sockets: ReadonlySet<Socket>,
  { noticeMs, graceMs }: ClosingTimes,
): Promise<void> {
  const startedAt = performance.now();
  // From here on Fastify marks each response as the last one of its connection.
  await Promise.all(surfaces.map(({ app }) => app.close()));
  for (;;) {
    const isEmpty = sockets.size === 0;
    const passedMs = performance.now() - startedAt;
    // Closes connections that are idle by now.
    if (isEmpty || passedMs >= noticeMs) {
      for (const { app, plain } of surfaces) {
        app.server.close();
        plain?.listener.close();
      }
    }
    if (isEmpty) return;
    if (passedMs >= graceMs) for (const socket of sockets) socket.destroy();
    await sleep(sweepMs);
  }
}

/** An early error without a listener would end the process. */
function ignoreError(): void {}

export interface AcceptOptions extends PortOptions {
  readonly surface: Surface;
  readonly kind: PortKind;
  /** Open connections; undefined = no limit. */
  readonly maxConnections: number | undefined;
}

export interface AcceptPort {
  /** The bound port. */
  readonly port: number;
  /** Stops accepting; connections stay open. */
  close(): void;
}

/**
 * Passes each connection that the gate admits on, unread, with its permit.
 * @throws Error when the port cannot be bound
 */
export async function openAcceptPort(
  options: AcceptOptions,
  { gate, events }: { readonly gate: ConnectionGate; readonly events: HttpEvents },
  pass: (socket: Socket, permit: ConnectionPermit) => void,
): Promise<AcceptPort> {
  const { surface, kind, maxConnections } = options;
  const server = createServer({ pauseOnConnect: true, noDelay: true }, (socket) => {
    socket.on('error', ignoreError);
    const address = socket.remoteAddress ?? '';
    const permit = kind === 'plain' ? gate.admitProxy(address) : gate.admit(address);
    if (permit === undefined) {
      events.addressRefused(surface, kind, address);
      socket.destroy();
      return;
    }
    pass(socket, permit);
  });
  if (maxConnections !== undefined) server.maxConnections = maxConnections;
  server.on('drop', () => events.connectionCut(surface, 'cap'));
  await listen(server, options);
  // Does not wait for connections that other processes have.
  return { port: (server.address() as AddressInfo).port, close: () => void server.close() };
}

async function listen(server: Server, { surface, kind, host, port }: AcceptOptions): Promise<void> {
  const flag = kind === 'plain' ? `--proxy-${surface}-port` : `--${surface}-port`;
  try {
    const listening = once(server, 'listening');
    server.listen(port, host === '' ? undefined : host);
    await listening;
  } catch (cause) {
    throw new Error(
      `cannot open the ${surface} port ${host}:${port}: ${messageOf(cause)}; choose another ` +
        `with ${flag}`,
      { cause },
    );
  }
}
