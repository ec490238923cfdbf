/** URLs of a receiver, exactly as issued to senders (SPEC §2). */
import type { ReceiverKind } from './account.ts';

export interface ReceiverUrls {
  /** The log path. */
  readonly http_json: { readonly url: string; readonly linesUrl: string };
  /** OTLP logs and metrics over HTTP, and host and port for gRPC exporters. */
  readonly otlp: { readonly url: string; readonly metricsUrl: string; readonly grpc: string };
  /** Text or OpenMetrics push, and remote_write 1.0 and 2.0. */
  readonly prometheus: {
    readonly pushUrl: string;
    readonly writeUrl: string;
    readonly writeV2Url: string;
  };
}

/** @param ingestUrl public ingest URL without a trailing slash: `https://host:8443`. */
export function toReceiverUrls<Kind extends ReceiverKind>(
  receiver: { readonly kind: Kind; readonly receiverId: string },
  ingestUrl: string,
): ReceiverUrls[Kind] {
  const base = `${ingestUrl}/v1/receivers/${receiver.receiverId}`;
  const urls: ReceiverUrls = {
    http_json: { url: `${base}/logs`, linesUrl: `${base}/lines` },
    otlp: {
      url: `${base}/otlp/v1/logs`,
      metricsUrl: `${base}/otlp/v1/metrics`,
      grpc: toAuthority(ingestUrl),
    },
    prometheus: {
      pushUrl: `${base}/prometheus/metrics`,
      writeUrl: `${base}/prometheus/api/v1/write`,
      writeV2Url: `${base}/prometheus/api/v2/write`,
    },
  };
  return urls[receiver.kind];
}

/** gRPC targets include the default port too. */
function toAuthority(ingestUrl: string): string {
  const { hostname, port, protocol } = new URL(ingestUrl);
  const defaultPort = protocol === 'https:' ? '443' : '80';
  return `${hostname}:${port === '' ? defaultPort : port}`;
}
