/** Opens a server with a test protocol for gRPC; calls it with the stock client or with frames. */
import http2 from 'node:http2';
import {
  type CallOptions,
  Client,
  type ClientUnaryCall,
  compressionAlgorithms,
  credentials,
  Metadata,
  type ServiceError,
} from '@grpc/grpc-js';
import type { Protocol } from '../../src/model/protocol.ts';
import { frame, unframe } from '../../src/protocols/otlp/grpc-message.ts';
import { encodeProblem } from '../../src/protocols/otlp/reply.ts';
import { type Edge, type EdgeOptions, openEdge, secret } from './edge.ts';

export const exportPath = '/opentelemetry.proto.collector.logs.v1.LogsService/Export';
export const checkPath = '/grpc.health.v1.Health/Check';

/** The line protocol of `edge.ts`, in gRPC frames. */
const grpcLines: Partial<Protocol> = {
  name: 'otlp_grpc',
  mediaTypes: [{ name: 'application/grpc' }, { name: 'application/grpc+proto' }],
  codings: ['identity', 'gzip'],
  unframe,
  encodeProblem,
  reply: ({ rows }) => ({
    status: 200,
    contentType: 'application/grpc',
    body: frame(Buffer.from(`accepted ${rows}`)),
  }),
};

export function openGrpcEdge(options: EdgeOptions = {}): Promise<Edge> {
  return openEdge({ ...options, protocol: { ...grpcLines, ...options.protocol } });
}

/** The result of a call. */
export interface Outcome {
  readonly code: number;
  readonly details: string;
  /** Sent before the message. */
  readonly metadata: Metadata;
  /** Sent with the status. */
  readonly trailers: Metadata;
  readonly message: string | undefined;
}

export interface Call {
  readonly path: string;
  readonly message: string | Buffer;
  readonly metadata: readonly (readonly [string, string])[];
  readonly options: CallOptions;
}

export const goodCall: Call = {
  path: exportPath,
  message: 'event',
  metadata: [['authorization', `Bearer ${secret}`]],
  options: {},
};

export interface ClientOptions {
  /** Default: the ingest port. */
  readonly port?: number;
  /** Compression algorithm, in the client's numbering. */
  readonly compression?: compressionAlgorithms;
}

/** The stock client, without retries. */
export function openClient({ ports, ca }: Edge, options: ClientOptions = {}): Client {
  const { port = ports.ingest, compression = compressionAlgorithms.identity } = options;
  return new Client(`127.0.0.1:${port}`, credentials.createSsl(Buffer.from(ca)), {
    'grpc.ssl_target_name_override': 'localhost',
    'grpc.enable_retries': 0,
    'grpc.max_send_message_length': -1,
    'grpc.default_compression_algorithm': compression,
    // One channel per client.
    'grpc.use_local_subchannel_pool': 1,
  });
}

/** @param onCall gets the call, to cancel it. */
export function call(
  client: Client,
  change: Partial<Call> = {},
  onCall: (call: ClientUnaryCall) => void = () => {},
): Promise<Outcome> {
  const { path, message, metadata, options } = { ...goodCall, ...change };
  const { promise, resolve } = Promise.withResolvers<Outcome>();
  const sent = new Metadata();
  for (const [name, value] of metadata) sent.add(name, value);
  let received = new Metadata();
  let status: Pick<ServiceError, 'code' | 'details' | 'metadata'> | undefined;
  let answer: string | undefined;
  const settle = () => {
    if (status === undefined) return;
    const { code, details, metadata: trailers } = status;
    resolve({ code, details, metadata: received, trailers, message: answer });
  };
  const made = client.makeUnaryRequest(
    path,
    (text: string | Buffer) => Buffer.from(text),
    (bytes: Buffer) => bytes.toString(),
    message,
    sent,
    options,
    (_error, value) => {
      answer = value;
      settle();
    },
  );
  made.on('metadata', (head: Metadata) => {
    received = head;
  });
  made.on('status', (end) => {
    status = end;
    setImmediate(settle);
  });
  onCall(made);
  return promise;
}

/** A response over HTTP/2. */
export interface RawOutcome {
  readonly headers: http2.IncomingHttpHeaders & http2.IncomingHttpStatusHeader;
  readonly trailers: http2.IncomingHttpHeaders;
  readonly body: Buffer;
  readonly rstCode: number;
}

export interface RawCall {
  readonly path: string;
  /** Replaces the default headers; a list is sent as repeated headers. */
  readonly headers: Readonly<Record<string, string | string[]>>;
  /** Undefined = headers only, with the stream left open. */
  readonly body: Buffer | undefined;
}

export function connectHttp2({ ports, ca }: Edge, port = ports.ingest): http2.ClientHttp2Session {
  const session = http2.connect(`https://localhost:${port}`, {
    ca,
    family: 4,
    strictSingleValueFields: false,
  } as http2.SecureClientSessionOptions);
  return session.on('error', () => {});
}

/**
 * Resolves when the response has ended, or the stream has closed without one.
 * @param onStream gets the stream, to write to it or reset it.
 */
export function callRaw(
  session: http2.ClientHttp2Session,
  change: Partial<RawCall> = {},
  onStream: (stream: http2.ClientHttp2Stream) => void = () => {},
): Promise<RawOutcome> {
  const { path, headers, body } = {
    path: exportPath,
    headers: {},
    body: frame(Buffer.from('event')),
    ...change,
  };
  const { promise, resolve, reject } = Promise.withResolvers<RawOutcome>();
  const stream = session.request(
    {
      ':method': 'POST',
      ':path': path,
      'content-type': 'application/grpc',
      te: 'trailers',
      authorization: `Bearer ${secret}`,
      ...headers,
    },
    { endStream: body?.length === 0 },
  );
  onStream(stream);
  let answer: RawOutcome['headers'] = {};
  let trailers: http2.IncomingHttpHeaders = {};
  const pieces: Buffer[] = [];
  stream.on('response', (head) => {
    answer = head;
  });
  stream.on('trailers', (fields) => {
    trailers = fields;
  });
  stream.on('data', (piece: Buffer) => pieces.push(piece));
  stream.on('error', reject);
  const settle = () => {
    const rstCode = stream.rstCode ?? 0;
    resolve({ headers: answer, trailers, body: Buffer.concat(pieces), rstCode });
  };
  stream.on('end', settle).on('close', settle);
  if (body !== undefined && body.length > 0) stream.end(body);
  return promise;
}
