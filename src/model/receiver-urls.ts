/**
 * The addresses at which a receiver takes data, exactly as they are issued to senders (SPEC §2).
 */
import type { Receiver } from './account.ts';

/** Which of them a receiver has depends on its kind. */
export interface ReceiverUrls {
  /** `http_json`: the log path; `otlp`: OTLP logs over HTTP. */
  readonly url?: string;
  /** `otlp`: host and port for gRPC exporters. */
  readonly grpc?: string;
  /** `prometheus`: text or OpenMetrics push. */
  readonly pushUrl?: string;
  /** `prometheus`: remote_write. */
  readonly writeUrl?: string;
}

/**
 * @param ingestUrl the public ingest address without a trailing slash, e.g.
 * `https://localhost:8443`.
 */
export function toReceiverUrls(
  receiver: Pick<Receiver, 'kind' | 'receiverId'>,
  ingestUrl: string,
): ReceiverUrls {
  const base = `${ingestUrl}/v1/receivers/${receiver.receiverId}`;
  switch (receiver.kind) {
    case 'http_json':
      return { url: `${base}/logs` };
    case 'otlp':
      return { url: `${base}/otlp/v1/logs`, grpc: toAuthority(ingestUrl) };
    case 'prometheus':
      return {
        pushUrl: `${base}/prometheus/metrics`,
        writeUrl: `${base}/prometheus/api/v1/write`,
      };
  }
}

/** gRPC targets name their port even where it is the default one of the scheme. */
function toAuthority(ingestUrl: string): string {
  const { hostname, port, protocol } = new URL(ingestUrl);
  return `${hostname}:${port === '' ? (protocol === 'https:' ? '443' : '80') : port}`;
}
