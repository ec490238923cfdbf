/**
 * One HTTP/1.1 exchange: headers may repeat, the body may be bytes, the response is returned whole.
 */
import { request as httpRequest, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http';
import { request as httpsRequest, Agent, type RequestOptions } from 'node:https';

export interface Exchange {
  readonly method?: string;
  /** A list of name, value, name, value … is sent unchanged, including duplicates. */
  readonly headers?: OutgoingHttpHeaders | readonly string[];
  readonly body?: string | Uint8Array;
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly bytes: Buffer;
  /** `bytes` as UTF-8. */
  readonly text: string;
  /** @throws SyntaxError unless the body is JSON */
  json<T = unknown>(): T;
}

export type Send = (url: string | URL, exchange?: Exchange) => Promise<Answer>;

export interface HttpClient {
  readonly send: Send;
  close(): void;
}

/** @param ca PEM of the certificate authority. */
export function createHttpClient(ca: string, maxSockets = 64): HttpClient {
  const agent = new Agent({ ca, keepAlive: true, maxSockets });
  return {
    send: (url, exchange = {}) => exchangeOnce(new URL(url), exchange, agent),
    close: () => agent.destroy(),
  };
}

/** For plain HTTP, such as the operations port. */
export const sendPlain: Send = (url, exchange = {}) => exchangeOnce(new URL(url), exchange);

function exchangeOnce(url: URL, exchange: Exchange, agent?: Agent): Promise<Answer> {
  const { method = 'GET', headers = {}, body } = exchange;
  const options: RequestOptions = { method, headers: withLength(headers, body, url) };
  return new Promise((resolve, reject) => {
    const request =
      url.protocol === 'https:'
        ? httpsRequest(url, { ...options, ...(agent === undefined ? {} : { agent }) })
        : httpRequest(url, { ...options, agent: false });
    request.on('error', reject);
    request.on('response', (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const bytes = Buffer.concat(chunks);
        const text = bytes.toString('utf8');
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          bytes,
          text,
          json: <T>() => JSON.parse(text) as T,
        });
      });
    });
    request.end(body);
  });
}

/** Node adds no headers to a raw list, so these are added here. */
function withLength(
  headers: OutgoingHttpHeaders | readonly string[],
  body: string | Uint8Array | undefined,
  url: URL,
): OutgoingHttpHeaders | readonly string[] {
  const length = body === undefined ? undefined : Buffer.byteLength(body);
  if (!isRaw(headers)) {
    const isPlain = length !== undefined && headers['transfer-encoding'] === undefined;
    return isPlain ? { 'content-length': length, ...headers } : headers;
  }
  const names = headers.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase());
  const host = names.includes('host') ? [] : ['Host', url.host];
  const isSized = names.includes('content-length') || names.includes('transfer-encoding');
  const size = length === undefined || isSized ? [] : ['Content-Length', String(length)];
  return [...host, ...headers, ...size];
}

function isRaw(headers: OutgoingHttpHeaders | readonly string[]): headers is readonly string[] {
  return Array.isArray(headers);
}
