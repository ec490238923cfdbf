/**
 * gRPC over HTTP/2: reads the metadata of a call and writes responses. The status follows the
 * message as a trailer; without a message it is among the headers.
 * https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md
 */
import { Http2ServerResponse } from 'node:http2';
import type { RequestBody } from '../admission/port.ts';
import { AppError } from '../model/errors.ts';
import type { Problem } from '../model/protocol.ts';
import type { RequestHeaders } from '../model/request.ts';
import { toProblem } from './errors.ts';
import { type HttpRequest, type HttpResponse, readHeaders } from './transport.ts';

export interface GrpcMetadata {
  /** Its `contentEncoding` is `grpc-encoding`: the coding of messages, not of the stream. */
  readonly headers: RequestHeaders;
  /** On the clock of `performance.now()`; undefined if the client set none. */
  readonly deadlineMs: number | undefined;
}

export interface GrpcCall extends GrpcMetadata {
  /** Peer address of the socket; may be a proxy. */
  readonly peerAddress: string;
  readonly body: RequestBody;
}

export interface GrpcReply {
  /** The message in its frame. */
  readonly body: Uint8Array;
  /** Sent before the message. */
  readonly metadata: Readonly<Record<string, string>>;
}

export interface GrpcFailure {
  readonly problem: Problem;
  /** A `google.rpc.Status` message; undefined if it would only repeat the problem. */
  readonly details: Uint8Array | undefined;
  readonly metadata: Readonly<Record<string, string>>;
}

const contentType = 'application/grpc';
const grpcType = /^application\/grpc/i;
const unimplemented = 12;
const unavailable = 14;
const acceptEncoding = { 'grpc-accept-encoding': 'identity,gzip' };
/** Clients accept 8 KiB of headers, and percent-encoding can triple the length. */
const maxMessageLength = 1024;

/** By content type: `application/grpc`, `application/grpc+proto`, `application/grpc-web`, … */
export function isGrpc(request: HttpRequest): boolean {
  const type = request.headers['content-type'];
  return type !== undefined && type.length >= contentType.length && grpcType.test(type);
}

/** @throws AppError `malformed` for an invalid `grpc-timeout` */
export function readMetadata(request: HttpRequest): GrpcMetadata {
  const contentEncoding = valuesOf(request, 'grpc-encoding');
  return {
    headers: { ...readHeaders(request), contentEncoding },
    deadlineMs: toDeadline(valuesOf(request, 'grpc-timeout')),
  };
}

/** At most eight digits, then one of six units. */
const timeoutPattern = /^(\d{1,8})([HMSmun])$/;
const unitMs: Readonly<Record<string, number>> = {
  H: 3_600_000,
  M: 60_000,
  S: 1000,
  m: 1,
  u: 1e-3,
  n: 1e-6,
};

function toDeadline([value, second]: readonly string[]): number | undefined {
  if (value === undefined) return undefined;
  const [, count, unit = ''] = timeoutPattern.exec(value) ?? [];
  if (count === undefined || second !== undefined) {
    const sent = JSON.stringify(value.slice(0, 20));
    throw new AppError(
      'malformed',
      `cannot read the grpc-timeout ${sent}: send one, of at most eight digits and a unit`,
      { parameter: 'grpc-timeout' },
    );
  }
  return performance.now() + Number(count) * (unitMs[unit] ?? 0);
}

/** Every value of a lower-case header name; HTTP/2 has no other case. */
function valuesOf({ rawHeaders }: HttpRequest, name: string): string[] {
  return rawHeaders.filter((_value, index) => index % 2 === 1 && rawHeaders[index - 1] === name);
}

/**
 * The gRPC status differs from the error table for two codes: senders drop data on INTERNAL, so a
 * bug is UNAVAILABLE, and an unsupported coding is UNIMPLEMENTED by the gRPC specification.
 */
export function toGrpcProblem(error: AppError, requestId: string): Problem {
  const problem = toProblem(error, requestId);
  if (error.code === 'internal') return { ...problem, grpcCode: unavailable };
  if (error.code === 'unsupported_media') return { ...problem, grpcCode: unimplemented };
  return problem;
}

export function sendReply(response: Http2ServerResponse, { body, metadata }: GrpcReply): void {
  response.writeHead(200, { ...metadata, 'content-type': contentType, ...acceptEncoding });
  response.addTrailers({ 'grpc-status': '0' });
  response.end(body);
}

/** gRPC defines no response over HTTP/1.1: the status is 505, which a proxy passes on. */
export function sendFailure(response: HttpResponse, failure: GrpcFailure): void {
  const { problem, details, metadata } = failure;
  const fields = {
    ...metadata,
    'content-type': contentType,
    'grpc-status': String(problem.grpcCode),
    'grpc-message': toGrpcMessage(problem),
    ...(problem.grpcCode === unimplemented ? acceptEncoding : {}),
    ...(details === undefined ? {} : { 'grpc-status-details-bin': toBinaryValue(details) }),
  };
  if (response instanceof Http2ServerResponse) {
    response.stream.respond({ ':status': 200, ...fields }, { endStream: true });
  } else {
    response.writeHead(505, { ...fields, connection: 'close', 'content-length': '0' }).end();
  }
}

/** The detail, as in the status message; percent-encoded UTF-8, except printable ASCII. */
function toGrpcMessage({ detail, requestId }: Problem): string {
  const name = requestId === '' ? '' : ` (request ${requestId})`;
  const text = detail.slice(0, maxMessageLength).toWellFormed() + name;
  return text.replace(/[^\x20-\x24\x26-\x7e]+/g, encodeURIComponent);
}

/** Base64 without padding, as the specification recommends. */
function toBinaryValue(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64').replace(/=+$/, '');
}
