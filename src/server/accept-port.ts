/**
 * Accepts the connections of a TLS port and passes each on, unread, with the permit of its address.
 * It stays open whatever becomes of them.
 */
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import type { ConnectionGate, ConnectionPermit } from '../admission/port.ts';
import type { HttpEvents, Surface } from '../telemetry/request-events.ts';
import { messageOf } from '../std/error-text.ts';

export interface AcceptOptions {
  readonly surface: Surface;
  /** Empty = all addresses, IPv6 and IPv4. */
  readonly host: string;
  /** 0 = any free port. */
  readonly port: number;
  /** Open connections; undefined = they are counted elsewhere. */
  readonly maxConnections: number | undefined;
}

export interface AcceptPort {
  /** As it was bound. */
  readonly port: number;
  /** Accepts no more; what was passed on is not its business. */
  close(): void;
}

/** @throws Error when the port cannot be bound */
export async function openAcceptPort(
  options: AcceptOptions,
  { gate, events }: { readonly gate: ConnectionGate; readonly events: HttpEvents },
  pass: (socket: Socket, permit: ConnectionPermit) => void,
): Promise<AcceptPort> {
  const { surface, maxConnections } = options;
  const server = createServer({ pauseOnConnect: true, noDelay: true }, (socket) => {
    // One that breaks before it is passed on needs no answer.
    socket.on('error', () => {});
    const address = socket.remoteAddress ?? '';
    const permit = gate.admit(address);
    if (permit === undefined) {
      events.addressRefused(surface, address);
      socket.destroy();
      return;
    }
    pass(socket, permit);
  });
  if (maxConnections !== undefined) server.maxConnections = maxConnections;
  server.on('drop', () => events.connectionCut(surface, 'cap'));
  await listen(server, options);
  // Node would wait here for connections that other processes have.
  return { port: (server.address() as AddressInfo).port, close: () => void server.close() };
}

async function listen(server: Server, { surface, host, port }: AcceptOptions): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject);
  server.once('listening', resolve);
  if (host === '') server.listen(port);
  else server.listen(port, host);
  try {
    await promise;
  } catch (cause) {
    const reason = messageOf(cause);
    throw new Error(
      `cannot open the ${surface} port ${host}:${port}: ${reason}; choose another with ` +
        `--${surface}-port`,
      { cause },
    );
  }
}
