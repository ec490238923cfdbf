/** Sends a bomb over TLS, by HTTP or gRPC. */
import { readFileSync } from 'node:fs';
import { connect } from 'node:http2';
import type { HttpClient } from '../harness/http.ts';
import type { Quickstart } from '../harness/quickstart.ts';

export interface Target {
  readonly http: HttpClient;
  readonly quickstart: Quickstart;
}

export type Way =
  | 'json'
  | 'lines'
  | 'long index'
  | 'loki'
  | 'datadog'
  | 'gelf'
  | 'bulk'
  | 'hec'
  | 'raw'
  | 'journal'
  | 'otlp'
  | 'otlp metrics'
  | 'push'
  | 'write'
  | 'influx'
  | 'grpc';

export interface Sent {
  readonly way: Way;
  /** Besides the token. */
  readonly headers: Readonly<Record<string, string>>;
  /** For gRPC including the frame. */
  readonly body: Buffer;
}

/** @returns the HTTP status, or the gRPC status. */
export function send(target: Target, sent: Sent): Promise<number> {
  if (sent.way === 'grpc') return callGrpc(target, sent);
  const { http_json: json, otlp, prometheus } = target.quickstart.receivers;
  const targets = {
    json: [json.url, json.token],
    lines: [new URL('lines', json.url).href, json.token],
    loki: [new URL('loki/api/v1/push', json.url).href, json.token],
    datadog: [new URL('datadog/api/v2/logs', json.url).href, json.token],
    gelf: [new URL('gelf', json.url).href, json.token],
    bulk: [new URL('elasticsearch/_bulk', json.url).href, json.token],
    'long index': [new URL(`elasticsearch/${'x'.repeat(255)}/_bulk`, json.url).href, json.token],
    hec: [new URL('services/collector', json.url).href, json.token],
    raw: [new URL(`services/collector/raw?source=${'x'.repeat(900)}`, json.url).href, json.token],
    journal: [new URL('journal/upload', json.url).href, json.token],
    otlp: [otlp.url, otlp.token],
    'otlp metrics': [otlp.metricsUrl, otlp.token],
    push: [prometheus.pushUrl, prometheus.token],
    influx: [
      prometheus.writeUrl.replace('prometheus/api/v1/write', 'influx/write'),
      prometheus.token,
    ],
    write: [prometheus.writeUrl, prometheus.token],
  } as const;
  const [url, token] = targets[sent.way];
  const headers = { authorization: `Bearer ${token}`, ...sent.headers };
  return target.http
    .send(url, { method: 'POST', headers, body: sent.body })
    .then(({ status }) => status);
}

function callGrpc(target: Target, { headers, body }: Sent): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const { ingestUrl, caFile, receivers } = target.quickstart;
  // Unsent bytes count too: otherwise this client cuts the answer off.
  const session = connect(ingestUrl, { ca: readFileSync(caFile), maxSessionMemory: 1024 });
  const stream = session.request({
    ':method': 'POST',
    ':path': '/opentelemetry.proto.collector.logs.v1.LogsService/Export',
    'content-type': 'application/grpc',
    te: 'trailers',
    authorization: `Bearer ${receivers.otlp.token}`,
    ...headers,
  });
  let status: unknown;
  const take = (told: Readonly<Record<string, unknown>>) =>
    (status = told['grpc-status'] ?? status);
  session.on('error', reject);
  stream.on('error', reject);
  stream.on('response', take);
  stream.on('trailers', take);
  stream.resume();
  stream.on('close', () => {
    session.close();
    resolve(Number(status));
  });
  stream.end(body);
  return promise;
}
