/**
 * The place of gRPC on the ingest port: every HTTP/2 request of a gRPC content type ends here and
 * nowhere else. No method is served yet, so all of them are answered in gRPC's own words.
 */
import { Http2ServerRequest, Http2ServerResponse } from 'node:http2';
import { errorTable } from '../model/errors.ts';
import type { HttpRequest, HttpResponse } from './transport.ts';

/**
 * `application/grpc`, `application/grpc+proto`, …
 * (https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md).
 */
export function isGrpc(request: HttpRequest): boolean {
  const type = request.headers['content-type'];
  return (
    type !== undefined &&
    type.length >= 16 &&
    type.slice(0, 16).toLowerCase() === 'application/grpc' &&
    request instanceof Http2ServerRequest
  );
}

/** A response of headers alone: HTTP 200, the gRPC status where trailers would stand. */
export function answerGrpc(response: HttpResponse): void {
  if (!(response instanceof Http2ServerResponse)) return;
  response.stream.respond(
    {
      ':status': 200,
      'content-type': 'application/grpc',
      'grpc-status': String(errorTable.method_not_allowed.grpcCode),
      'grpc-message': 'cannot serve this method: no gRPC method is served here yet',
    },
    { endStream: true },
  );
}
