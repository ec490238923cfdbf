/**
 * The connections of a listener below TLS: Node does not hand out the socket of an HTTP/2 session,
 * which is needed to cut off a peer that reads nothing.
 */
import type { Socket } from 'node:net';
import type { ConnectionPermit } from '../admission/port.ts';

export interface Connection {
  /** Received so far, below TLS. */
  bytesRead(): number;
  /** What is on its way stays there; at most one more read is processed. */
  stopReading(): void;
  /** Its address pays for what came over it. */
  abused(): void;
  /** Ends it at once; what is still to be sent is lost. */
  destroy(): void;
}

/** Below TLS, `pause` has no effect: what TLS reads by is the handle. */
interface Handled {
  readonly _handle?: { readonly readStop?: () => void } | null;
}

type Ends = Pick<Socket, 'remoteAddress' | 'remotePort' | 'localAddress'>;

export interface Connections {
  /** @param permit undefined = its address is not counted */
  add(socket: Socket, permit: ConnectionPermit | undefined): void;
  /** @returns undefined where it is closed already */
  of(ends: Ends): Connection | undefined;
}

export function createConnections(): Connections {
  const byEnds = new Map<string, Connection>();
  return {
    add(socket, permit) {
      const key = keyOf(socket);
      const connection: Connection = {
        bytesRead: () => socket.bytesRead,
        stopReading: () => (socket as unknown as Handled)._handle?.readStop?.(),
        abused: () => permit?.abused(),
        destroy: () => void socket.destroy(),
      };
      byEnds.set(key, connection);
      socket.once('close', () => {
        permit?.closed();
        // Its ends may be those of another connection by now.
        if (byEnds.get(key) === connection) byEnds.delete(key);
      });
    },
    of: (ends) => byEnds.get(keyOf(ends)),
  };
}

function keyOf({ remoteAddress, remotePort, localAddress }: Ends): string {
  return [remoteAddress, remotePort, localAddress].join(' ');
}
