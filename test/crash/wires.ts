/**
 * Requests of each protocol. The body of a log is the name of its event; a sample encodes it in
 * labels, time and value.
 */
import { connect } from 'node:http2';
import { compressSync } from 'snappy';
import {
  encodeWriteRequest,
  type Labels,
  type Sample,
  toNumber,
  toSample,
} from '../harness/prompb.ts';
import { bytesField, text } from '../harness/proto-wire.ts';
import { lokiProtobuf } from '../protocols/loki-push.ts';
import { forward, syslog } from './socket-wires.ts';
import { lost, type Request, type Send, type Target } from './target.ts';
import { eventName } from './verdict.ts';

export type WireName =
  | 'json_logs'
  | 'loki'
  | 'elasticsearch'
  | 'splunk_hec'
  | 'datadog'
  | 'forward'
  | 'syslog'
  | 'otlp_json'
  | 'otlp_protobuf'
  | 'otlp_grpc'
  | 'remote_write'
  | 'prom_text';

export const wires: Readonly<Record<WireName, Send>> = {
  json_logs(target, request) {
    const body = JSON.stringify(request.names.map((message) => ({ message })));
    const { url, token } = target.quickstart.receivers.http_json;
    return post(target, { url, token, body, type: 'application/json', key: request.key });
  },
  loki(target, { names, key }) {
    const time = BigInt(Date.now()) * 1_000_000n;
    const entries = names.map((line) => ({ time, line }));
    const body = compressSync(lokiProtobuf([{ labels: { app: 'crash' }, entries }]));
    return postLogs(target, '/loki/api/v1/push', { body, type: 'application/x-protobuf', key });
  },
  elasticsearch(target, { names, key }) {
    const action = '{"create":{"_index":"crash"}}';
    const body = names.map((message) => `${action}\n${JSON.stringify({ message })}\n`).join('');
    return postLogs(target, '/_bulk', { body, type: 'application/x-ndjson', key });
  },
  splunk_hec(target, { names, key }) {
    const body = names.map((event) => JSON.stringify({ event })).join('');
    return postLogs(target, '/services/collector/event', { body, type: 'application/json', key });
  },
  datadog(target, { names, key }) {
    const body = JSON.stringify(names.map((message) => ({ message, ddtags: 'env:crash' })));
    return postLogs(target, '/api/v2/logs', { body, type: 'application/json', key });
  },
  forward,
  syslog,
  otlp_json(target, request) {
    const logRecords = request.names.map((name) => ({ body: { stringValue: name } }));
    const body = JSON.stringify({ resourceLogs: [{ scopeLogs: [{ logRecords }] }] });
    const { url, token } = target.quickstart.receivers.otlp;
    return post(target, { url, token, body, type: 'application/json', key: request.key });
  },
  otlp_protobuf(target, request) {
    const body = toProtobuf(request.names);
    const { url, token } = target.quickstart.receivers.otlp;
    return post(target, { url, token, body, type: 'application/x-protobuf', key: request.key });
  },
  otlp_grpc: (target, { names }) => callGrpc(target, toProtobuf(names)),
  remote_write(target, request) {
    const series = samplesOf(request).map(({ labels, timeMs, value }) => ({
      labels: { __name__: sampleName, ...labels },
      samples: [toSample(timeMs, value)],
    }));
    const body = compressSync(encodeWriteRequest(series));
    const { writeUrl: url, token } = target.quickstart.receivers.prometheus;
    return post(target, { url, token, body, type: 'application/x-protobuf', coding: 'snappy' });
  },
  prom_text(target, request) {
    const lines = samplesOf(request).map(({ labels, timeMs, value }) => {
      const pairs = Object.entries(labels).map(([label, word]) => `${label}="${word}"`);
      return `${sampleName}{${pairs.join(',')}} ${value} ${timeMs}\n`;
    });
    const { pushUrl: url, token } = target.quickstart.receivers.prometheus;
    return post(target, { url, token, body: lines.join(''), type: 'text/plain' });
  },
};

export const sampleName = 'crash_events_total';

/** The event of a sample. */
export function nameOfSample(labels: Labels, sample: Sample): string {
  const place = Number(sample.timeMs) - firstMs;
  const name = eventName(Number(labels['sender']), Math.floor(place / 100), place % 100);
  const isWhole = toNumber(sample.bits) === place && labels['part'] === partOf(place);
  return isWhole ? name : `${name}, spoilt: ${JSON.stringify(labels)} ${toNumber(sample.bits)}`;
}

const firstMs = 1_750_000_000_000;

/** New series appear throughout, so that kills hit their first samples. */
function partOf(place: number): string {
  return String(Math.floor(place / 1000));
}

function samplesOf({ request, names }: Request) {
  return names.map((name, index) => {
    const sender = /^sender (\d+)/.exec(name)?.[1] ?? '';
    const place = request * 100 + index;
    return { labels: { part: partOf(place), sender }, timeMs: firstMs + place, value: place };
  });
}

function toProtobuf(names: readonly string[]): Buffer {
  const records = names.map((name) => bytesField(2, bytesField(5, text(1, name))));
  return bytesField(1, bytesField(2, Buffer.concat(records)));
}

interface Post {
  readonly url: string;
  readonly token: string;
  readonly body: string | Buffer;
  readonly type: string;
  readonly coding?: string;
  readonly key?: string | undefined;
}

/** Sends to a path at the root, where the token names the receiver. */
function postLogs(target: Target, path: string, request: Omit<Post, 'url' | 'token'>) {
  const { ingestUrl, receivers } = target.quickstart;
  return post(target, { ...request, url: ingestUrl + path, token: receivers.http_json.token });
}

async function post(target: Target, { url, token, body, type, coding, key }: Post) {
  const answer = await target.http.send(url, {
    method: 'POST',
    body,
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': type,
      ...(coding !== undefined && { 'content-encoding': coding }),
      ...(key !== undefined && { 'idempotency-key': key }),
    },
  });
  if (answer.status === 503) return 'unavailable';
  const isTaken =
    [200, 202, 204].includes(answer.status) && !/reject|"errors":true/i.test(answer.text);
  if (isTaken) return 'taken';
  throw new Error(`unexpected answer ${answer.status}: ${answer.text}`);
}

function callGrpc({ ca, quickstart }: Target, message: Buffer) {
  const { promise, resolve, reject } = Promise.withResolvers<'taken' | 'unavailable'>();
  const session = connect(quickstart.ingestUrl, { ca });
  const frame = Buffer.alloc(5);
  frame.writeUInt32BE(message.length, 1);
  const stream = session.request({
    ':method': 'POST',
    ':path': '/opentelemetry.proto.collector.logs.v1.LogsService/Export',
    'content-type': 'application/grpc',
    te: 'trailers',
    authorization: `Bearer ${quickstart.receivers.otlp.token}`,
  });
  let status: string | undefined;
  session.on('error', reject);
  stream.on('error', reject);
  stream.on('response', (headers) => (status = headers['grpc-status']?.toString()));
  stream.on('trailers', (trailers) => (status = trailers['grpc-status']?.toString()));
  stream.resume();
  stream.on('close', () => {
    session.close();
    if (status === '0') resolve('taken');
    else if (status === '14') resolve('unavailable');
    else if (status === undefined) reject(lost());
    else reject(new Error(`unexpected gRPC status ${status}`));
  });
  stream.end(Buffer.concat([frame, message]));
  return promise;
}
