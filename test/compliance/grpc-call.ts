/** One Export call over HTTP/2, with its outcome as a status of SPEC §7. */
import { connect } from 'node:http2';
import { readFileSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import type { Service } from '../harness/service.ts';

export interface Outgoing {
  readonly receiverId: string;
  /** Values of `Authorization`. */
  readonly authorization: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

export interface Incoming {
  /** HTTP status, or the equivalent of the gRPC status. */
  readonly status: number;
  readonly text: string;
  /** Undefined when the sender must not retry. */
  readonly retryAfter: number | undefined;
}

export const logsMethod = '/opentelemetry.proto.collector.logs.v1.LogsService/Export';
export const metricsMethod = '/opentelemetry.proto.collector.metrics.v1.MetricsService/Export';

/** Meaning of each gRPC code; `RetryInfo` distinguishes the two kinds of exhausted resources. */
const statusOf: Readonly<Record<number, number>> = {
  0: 200,
  3: 400,
  5: 404,
  7: 403,
  12: 415,
  14: 503,
  16: 401,
};

export async function callGrpc(
  service: Service,
  outgoing: Outgoing,
  method = logsMethod,
): Promise<Incoming> {
  const { ingestUrl, caFile } = service.quickstart;
  const session = connect(ingestUrl, { ca: readFileSync(caFile) });
  try {
    return await call(session, outgoing, method);
  } finally {
    session.close();
  }
}

function call(
  session: ReturnType<typeof connect>,
  outgoing: Outgoing,
  method: string,
): Promise<Incoming> {
  const { promise, resolve, reject } = Promise.withResolvers<Incoming>();
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(outgoing.body.length, 1);
  const type = outgoing.headers['content-type'] ?? 'application/grpc';
  const { 'content-type': _, ...others } = outgoing.headers;
  const list = [':method', 'POST', ':path', method, ':scheme', 'https', ':authority', 'localhost'];
  list.push('te', 'trailers', 'content-type', type, ...Object.entries(others).flat());
  for (const value of outgoing.authorization) list.push('authorization', value);
  const stream = session.request(list);
  let told: IncomingHttpHeaders = {};
  const tell = (name: string) => [told[name] ?? ''].flat().join();
  session.on('error', reject);
  stream.on('error', reject);
  stream.on('response', (headers) => (told = { ...told, ...headers }));
  stream.on('trailers', (trailers) => (told = { ...told, ...trailers }));
  stream.resume();
  stream.on('end', () => {
    const code = Number(told['grpc-status']);
    const details = Buffer.from(tell('grpc-status-details-bin'), 'base64');
    const isRetryable = details.includes('google.rpc.RetryInfo');
    resolve({
      status: code === 8 ? (isRetryable ? 429 : 413) : (statusOf[code] ?? 500),
      text: decodeURIComponent(tell('grpc-message')),
      retryAfter: isRetryable ? 1 : undefined,
    });
  });
  stream.end(Buffer.concat([prefix, outgoing.body]));
  return promise;
}
