/** An HTTP/2 connection that makes sequential `LogsService/Export` calls. */
import { connect } from 'node:http2';
import type { Wire, WireTarget } from './load-http.ts';

const path = '/opentelemetry.proto.collector.logs.v1.LogsService/Export';

/** @param onOpen called once calls can be made */
export function openGrpcWire({ ca, url, token }: WireTarget, onOpen: () => void): Wire {
  const session = connect(url, { ca });
  session.once('connect', onOpen);
  session.on('error', (error) => {
    throw error;
  });
  const headers = {
    ':method': 'POST',
    ':path': path,
    'content-type': 'application/grpc',
    te: 'trailers',
    authorization: `Bearer ${token}`,
  };
  return {
    send({ bytes }, onAnswer) {
      const stream = session.request(headers);
      let status: unknown;
      stream.on('response', (response) => (status = response['grpc-status']));
      stream.on('trailers', (trailers) => (status = trailers['grpc-status']));
      stream.on('end', () => onAnswer(status === '0'));
      stream.resume();
      stream.end(bytes);
    },
  };
}
