/**
 * The limits of a ClickHouse server on a request, which the engine does not have: a proxy in front
 * of it that refuses what a server refuses.
 */
import { once } from 'node:events';
import {
  createServer,
  type IncomingMessage,
  request as send,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';

/** Defaults of `http_max_uri_size` and `http_max_field_value_size`. */
const maxUriBytes = 2 ** 20;
const maxFieldBytes = 128 * 1024;

export interface ServerLimits {
  readonly port: number;
  close(): Promise<void>;
}

/** @param port of the engine */
export async function openServerLimits(port: number): Promise<ServerLimits> {
  const options = { maxHeaderSize: 2 * maxUriBytes };
  const server = createServer(options, (incoming, response) => {
    void forward(port, incoming, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

async function forward(
  port: number,
  incoming: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { url: path = '/', headers, method } = incoming;
  const body = Buffer.concat(await incoming.toArray());
  const fault = findFault(path, headers['content-type'] ?? '', body);
  if (fault !== undefined) {
    // https://github.com/ClickHouse/ClickHouse/blob/master/src/Server/HTTP/HTMLForm.cpp
    const text = `Code: 1000. DB::Exception: ${fault}. (POCO_EXCEPTION)`;
    response.writeHead(500, { 'X-ClickHouse-Exception-Code': '1000' }).end(text);
    return;
  }
  const forwarded = send({ host: '127.0.0.1', port, path, method, headers });
  forwarded.once('error', () => response.destroy());
  forwarded.once('response', (answer) => {
    response.writeHead(answer.statusCode ?? 500, answer.headers);
    answer.pipe(response);
  });
  forwarded.end(body);
}

function findFault(url: string, contentType: string, body: Buffer): string | undefined {
  if (url.length > maxUriBytes) return 'URI too long';
  // Counted before percent-decoding.
  const fields = (url.split('?')[1] ?? '').split('&').map((pair) => pair.replace(/^[^=]*=/, ''));
  const boundary = /^multipart\/form-data; boundary=(.*)$/.exec(contentType)?.[1];
  if (boundary !== undefined) fields.push(...body.toString('latin1').split(`--${boundary}`));
  return fields.some((value) => value.length > maxFieldBytes)
    ? 'HTML Form Exception: Field value too long'
    : undefined;
}
