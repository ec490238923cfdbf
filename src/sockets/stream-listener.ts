/** A TCP or TLS port whose connections speak a protocol without HTTP. */
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import {
  createServer as createTlsServer,
  type Server as TlsServer,
  type TLSSocket,
} from 'node:tls';
import type { ConnectionGate, ConnectionPermit } from '../admission/port.ts';
import { AppError } from '../model/errors.ts';
import { messageOf } from '../std/error-text.ts';
import type { SocketEvents } from '../telemetry/socket-events.ts';

export interface SocketAddress {
  /** Empty = all addresses, IPv6 and IPv4. */
  readonly host: string;
  /** 0 = any free port. */
  readonly port: number;
}

/** The certificate of the service, kept current in a listener. */
export interface TlsSource {
  material(): { readonly cert: string; readonly key: string };
  follow(server: Pick<TlsServer, 'setSecureContext'>): void;
}

export interface TlsOptions {
  readonly certificate: TlsSource;
  /** PEM of the authorities of client certificates; undefined = none is required. */
  readonly clientCa: string | undefined;
  readonly handshakeTimeoutMs: number;
}

export interface StreamListenerOptions {
  readonly listener: string;
  /** Ends an error about the address. */
  readonly setting: string;
  readonly address: SocketAddress;
  readonly tls: TlsOptions | undefined;
  readonly maxConnections: number;
}

export interface Peer {
  readonly address: string;
  /** Common name and DNS names of its verified certificate; empty without one. */
  readonly names: readonly string[];
}

export interface OpenSocket {
  readonly port: number;
  /** Stops accepting, and resolves when what was received is stored or dropped. */
  close(): Promise<void>;
}

/**
 * Serves one connection until it ends; must break off when `closing` is aborted and nothing is
 * buffered. @throws AppError if the sender is refused
 */
export type ServeConnection = (socket: Socket, peer: Peer, closing: AbortSignal) => Promise<void>;

/** Finds dead peers of idle connections. */
const keepAliveMs = 60_000;

interface Accepted {
  readonly socket: Socket;
  readonly permit: ConnectionPermit;
  isServed: boolean;
}

/** @throws Error when the port cannot be bound */
export async function openStreamListener(
  options: StreamListenerOptions,
  { gate, events }: { readonly gate: ConnectionGate; readonly events: SocketEvents },
  serve: ServeConnection,
): Promise<OpenSocket> {
  const { listener, tls } = options;
  /** By address and port of the peer: a TLS socket does not expose the socket below it. */
  const accepted = new Map<string, Accepted>();
  const serving = new Set<Promise<void>>();
  const closing = new AbortController();

  async function run(socket: Socket, { permit }: Accepted, names: readonly string[]) {
    const peer = { address: socket.remoteAddress ?? '', names };
    events.connected(listener);
    try {
      await serve(socket, peer, closing.signal);
    } catch (error) {
      // Other errors are those of a connection that broke.
      if (error instanceof AppError) {
        events.senderRefused(listener, peer.address, error);
        permit.abused();
      }
    } finally {
      socket.destroySoon();
      events.disconnected(listener);
    }
  }

  function begin(socket: Socket, connection: Accepted, names: readonly string[]): void {
    connection.isServed = true;
    const served = run(socket, connection, names);
    serving.add(served);
    void served.finally(() => serving.delete(served));
  }

  function accept(socket: Socket): Accepted | undefined {
    // An early error without a listener would end the process.
    socket.on('error', () => {});
    const permit = gate.admit(socket.remoteAddress ?? '');
    if (permit === undefined) {
      events.connectionCut(listener, 'address');
      socket.destroy();
      return undefined;
    }
    const connection = { socket, permit, isServed: false };
    const key = keyOf(socket);
    accepted.set(key, connection);
    socket.once('close', () => {
      permit.closed();
      // A later connection may have the same ends.
      if (accepted.get(key) === connection) accepted.delete(key);
    });
    socket.setKeepAlive(true, keepAliveMs);
    return connection;
  }

  const secure = tls && openSecure(tls);
  secure?.on('tlsClientError', () => events.connectionCut(listener, 'tls'));
  secure?.on('secureConnection', (socket: TLSSocket) => {
    const connection = accepted.get(keyOf(socket));
    if (connection === undefined) return void socket.destroy();
    socket.on('error', () => {});
    begin(socket, connection, namesOf(socket));
  });
  const server = createServer({ pauseOnConnect: true, noDelay: true }, (socket) => {
    const connection = accept(socket);
    if (connection === undefined) return;
    if (secure === undefined) begin(socket, connection, []);
    else secure.emit('connection', socket);
  });
  server.maxConnections = options.maxConnections;
  server.on('drop', () => events.connectionCut(listener, 'cap'));
  await listen(server, options);
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      server.close();
      closing.abort();
      for (const { socket, isServed } of accepted.values()) if (!isServed) socket.destroy();
      await Promise.all(serving);
    },
  };
}

function openSecure({ certificate, clientCa: ca, handshakeTimeoutMs }: TlsOptions): TlsServer {
  const client = ca === undefined ? {} : { ca, requestCert: true, rejectUnauthorized: true };
  const server = createTlsServer({
    ...certificate.material(),
    ...client,
    minVersion: 'TLSv1.2',
    handshakeTimeout: handshakeTimeoutMs,
  });
  certificate.follow({
    setSecureContext: (material) => server.setSecureContext({ ...material, ...client }),
  });
  return server;
}

function keyOf({ remoteAddress, remotePort, localAddress }: Socket): string {
  return [remoteAddress, remotePort, localAddress].join(' ');
}

/** Verified by TLS: a certificate without an authority does not get this far. */
function namesOf(socket: TLSSocket): string[] {
  if (!socket.authorized) return [];
  const raw = socket.getPeerX509Certificate();
  if (raw === undefined) return [];
  const commonName = /^CN=(.+)$/m.exec(raw.subject)?.[1];
  const dnsNames = Array.from(
    (raw.subjectAltName ?? '').matchAll(/(?:^|, )DNS:([^,"]+)/g),
    ([, name = '']) => name,
  );
  return commonName === undefined ? dnsNames : [commonName, ...dnsNames];
}

async function listen(server: Server, options: StreamListenerOptions): Promise<void> {
  const { host, port } = options.address;
  try {
    const listening = once(server, 'listening');
    server.listen(port, host === '' ? undefined : host);
    await listening;
  } catch (cause) {
    throw cannotListen(options, cause);
  }
}

export function cannotListen(
  { address, setting }: Pick<StreamListenerOptions, 'address' | 'setting'>,
  cause: unknown,
): Error {
  const reason = messageOf(cause);
  return new Error(
    `cannot listen on ${address.host}:${address.port}: ${reason}; choose another with ${setting}`,
    { cause },
  );
}
