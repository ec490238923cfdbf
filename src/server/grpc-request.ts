/**
 * gRPC's metadata as the values that HTTP requests become, so that the ingest spine sees one kind
 * of request (https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md). Nothing of the body
 * is touched here.
 */
import type { RequestBody } from '../admission/port.ts';
import { AppError } from '../model/errors.ts';
import type { RequestHeaders } from '../model/request.ts';
import { type HttpRequest, readHeaders } from './transport.ts';

/** The head of a call. */
export interface GrpcMetadata {
  /** `contentEncoding` is what `grpc-encoding` says: the coding of messages, not of the stream. */
  readonly headers: RequestHeaders;
  /** As `performance.now()` counts; undefined where the caller set none. */
  readonly deadlineMs: number | undefined;
}

/** A call as its method sees it. */
export interface GrpcCall extends GrpcMetadata {
  /** Of the socket; may be a proxy. */
  readonly peerAddress: string;
  readonly body: RequestBody;
}

/** @throws AppError `malformed` for a `grpc-timeout` that is none */
export function readMetadata(request: HttpRequest): GrpcMetadata {
  const contentEncoding = valuesOf(request, 'grpc-encoding');
  return {
    headers: { ...readHeaders(request), contentEncoding },
    deadlineMs: toDeadline(valuesOf(request, 'grpc-timeout')),
  };
}

/** By its content type: `application/grpc`, `application/grpc+proto`, `application/grpc-web`, … */
export function isGrpc(request: HttpRequest): boolean {
  const type = request.headers['content-type'];
  return type !== undefined && type.length >= 16 && grpcType.test(type);
}

const grpcType = /^application\/grpc/i;
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

/** Every value that was sent under a lower-case name; HTTP/2 knows no other case. */
function valuesOf({ rawHeaders }: HttpRequest, name: string): string[] {
  return rawHeaders.filter((_value, index) => index % 2 === 1 && rawHeaders[index - 1] === name);
}
