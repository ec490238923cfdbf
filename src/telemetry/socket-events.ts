/** Events of the listeners of protocols that are not HTTP. */
import type { AppError } from '../model/errors.ts';
import { type Instruments, registerMetrics } from './instruments.ts';
import { socketMetrics } from './metrics.ts';

/** Why a connection was closed by Weir; `refused`: its token, certificate or receiver. */
export type SocketCut = 'cap' | 'address' | 'tls' | 'timeout' | 'refused' | 'memory';

/** Minimum time between log lines of one listener. */
const lineMs = 60_000;

export type SocketEvents = ReturnType<typeof createSocketEvents>;

export function createSocketEvents({ log, metrics: registry }: Instruments) {
  const metrics = registerMetrics(registry, socketMetrics);
  const nextLineMs = new Map<string, number>();

  function mayLog(line: string): boolean {
    const nowMs = performance.now();
    if (nowMs < (nextLineMs.get(line) ?? 0)) return false;
    nextLineMs.set(line, nowMs + lineMs);
    return true;
  }

  return {
    listening: (listener: string, address: string) => log.info({ listener, address }, 'listening'),
    connected: (listener: string) => metrics.weir_socket_connections.inc({ listener }),
    disconnected: (listener: string) => metrics.weir_socket_connections.dec({ listener }),
    connectionCut: (listener: string, reason: SocketCut) =>
      metrics.weir_socket_connections_cut_total.inc({ listener, reason }),
    /** Senders can cause this at any rate: one line a minute. */
    senderRefused(listener: string, peerAddress: string, { code, message }: AppError) {
      metrics.weir_socket_connections_cut_total.inc({ listener, reason: 'refused' });
      if (mayLog(`refused ${listener}`)) {
        log.warn({ listener, peerAddress, code }, `closing a connection: ${message}`);
      }
    },
    /** @param reason an error code, or a word of `weir_socket_messages_dropped_total` */
    dropped(listener: string, reason: string, messages: number, detail = '') {
      metrics.weir_socket_messages_dropped_total.inc({ listener, reason }, messages);
      if (mayLog(`dropped ${listener} ${reason}`)) {
        log.warn({ listener, reason, detail }, 'dropping messages that cannot be stored');
      }
    },
    failed(listener: string, error: unknown) {
      if (mayLog(`failed ${listener}`)) {
        log.error({ listener, err: error }, 'cannot store messages: an internal fault of Weir');
      }
    },
  };
}
