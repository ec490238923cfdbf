/**
 * Answers in gRPC's words: HTTP 200 whatever happened, and the status after the message, or in its
 * place where there is none. What an error is called here and in HTTP stands in one table of the
 * model; where gRPC's senders need another word, it is chosen below.
 */
import { Http2ServerResponse } from 'node:http2';
import type { AppError } from '../model/errors.ts';
import type { Problem } from '../model/protocol.ts';
import { toProblem } from './errors.ts';
import type { HttpResponse } from './transport.ts';

/** What a method returns. */
export interface GrpcReply {
  /** The message in its frame. */
  readonly body: Uint8Array;
  /** Sent before the message. */
  readonly metadata: Readonly<Record<string, string>>;
}

export interface GrpcFailure {
  readonly problem: Problem;
  /** `google.rpc.Status` as protobuf; undefined where nothing is to be added to the message. */
  readonly details: Uint8Array | undefined;
  readonly metadata: Readonly<Record<string, string>>;
}

const contentType = 'application/grpc';
const unimplemented = 12;
const unavailable = 14;
const acceptEncoding = { 'grpc-accept-encoding': 'identity,gzip' };
/** Clients take 8 KiB of headers, and this may grow to three times its length. */
const maxMessageLength = 1024;

/**
 * Senders drop what they hold on INTERNAL and UNKNOWN, so a fault of ours is UNAVAILABLE; and an
 * encoding that is not taken is UNIMPLEMENTED by gRPC's own rule.
 */
export function toGrpcProblem(error: AppError, requestId: string): Problem {
  const problem = toProblem(error, requestId);
  switch (error.code) {
    case 'internal':
      return { ...problem, grpcCode: unavailable };
    case 'unsupported_media':
      return { ...problem, grpcCode: unimplemented };
    default:
      return problem;
  }
}

export function sendReply(response: Http2ServerResponse, { body, metadata }: GrpcReply): void {
  response.writeHead(200, { ...metadata, 'content-type': contentType, ...acceptEncoding });
  response.addTrailers({ 'grpc-status': '0' });
  response.end(body);
}

/**
 * Headers alone, with the status among them. Over HTTP/1.1, where gRPC has no answer of its own,
 * they come with 505, which a proxy in between passes on.
 */
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

/** For a request that is refused before anything else of it is looked at. */
export function refuseGrpc(response: HttpResponse, error: AppError): void {
  const problem = toGrpcProblem(error, '');
  sendFailure(response, { problem, details: undefined, metadata: {} });
}

/** The same words as in the details; UTF-8 in percent-encoding, but for what prints in ASCII. */
function toGrpcMessage({ detail, requestId }: Problem): string {
  const name = requestId === '' ? '' : ` (request ${requestId})`;
  const text = detail.slice(0, maxMessageLength).toWellFormed() + name;
  return text.replace(/[^\x20-\x24\x26-\x7e]+/g, encodeURIComponent);
}

/** Base64 without padding, as it should be sent. */
function toBinaryValue(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64').replace(/=+$/, '');
}
