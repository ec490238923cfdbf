/**
 * Requests to one JSON receiver over connections that stay open. It sends a body once and says what
 * came of it; whether to repeat it is for others to decide.
 */
import { Agent as HttpAgent, type IncomingMessage, request as httpRequest } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { text as readText } from 'node:stream/consumers';
import { parseRetryAfter } from './retry.ts';
import type { Target } from '../connection.ts';

export interface IngestAnswer {
  readonly status: number;
  /** Parsed JSON; undefined where the answer is none. */
  readonly body: unknown;
  readonly retryAfterSeconds: number | undefined;
}

export interface IngestClient {
  /**
   * @param key to be kept when the same body is sent again.
   * @throws Error of the network, or a TimeoutError
   */
  post(body: Uint8Array, key: string): Promise<IngestAnswer>;
  close(): void;
}

const timeoutMs = 60_000;

export function createIngestClient(target: Target): IngestClient {
  const isSecure = target.url.protocol === 'https:';
  const agent = isSecure
    ? new HttpsAgent({ keepAlive: true, ...(target.ca !== undefined && { ca: target.ca }) })
    : new HttpAgent({ keepAlive: true });
  const send = isSecure ? httpsRequest : httpRequest;

  async function post(body: Uint8Array, key: string): Promise<IngestAnswer> {
    const request = send(target.url, {
      method: 'POST',
      agent,
      signal: AbortSignal.timeout(timeoutMs),
      headers: {
        authorization: `Bearer ${target.token}`,
        'content-type': 'application/json',
        'content-length': body.length,
        'idempotency-key': key,
      },
    });
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      request.on('response', resolve).on('error', reject).end(body);
    });
    const text = await readText(response);
    return {
      status: response.statusCode ?? 0,
      body: parse(text),
      retryAfterSeconds: parseRetryAfter(response.headers['retry-after'], Date.now()),
    };
  }

  return { post, close: () => agent.destroy() };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
