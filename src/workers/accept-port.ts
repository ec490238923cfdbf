/**
 * The ingest port where other processes serve it: accepts connections and passes each on, unread.
 * It stays open whatever becomes of them.
 */
import { type AddressInfo, createServer, type Socket } from 'node:net';

export interface AcceptPort {
  /** As it was bound. */
  readonly port: number;
  /** Accepts no more; what was passed on is not its business. */
  close(): Promise<void>;
}

/** @throws Error when the port cannot be bound */
export async function openAcceptPort(
  { host, port }: { readonly host: string; readonly port: number },
  pass: (socket: Socket) => void,
): Promise<AcceptPort> {
  const server = createServer({ pauseOnConnect: true, noDelay: true }, (socket) => {
    // One that breaks before it is passed on is nobody's loss.
    socket.on('error', () => {});
    pass(socket);
  });
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject);
  server.once('listening', resolve);
  if (host === '') server.listen(port);
  else server.listen(port, host);
  try {
    await promise;
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Error(
      `cannot open the ingest port ${host}:${port}: ${reason}; choose another with --ingest-port`,
      { cause },
    );
  }
  return {
    port: (server.address() as AddressInfo).port,
    // Node would wait here for connections that other processes have.
    close: async () => void server.close(),
  };
}
