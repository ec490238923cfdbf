/**
 * Requests to the stream port: addresses, headers, and failures in words. It knows nothing of what
 * the answers mean.
 */
import { type IncomingMessage, request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { text as readText } from 'node:stream/consumers';
import type { Connection } from './connection.ts';
import { reasonOf } from './network-failure.ts';
import { CommandError } from './terminal.ts';
import { messageOf } from '../std/error-text.ts';

export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

export interface ApiRequest {
  readonly method: Method;
  /** Below `/api/v1`, such as `['admin', 'streams']`; each part is encoded here. */
  readonly path: readonly string[];
  readonly query?: URLSearchParams | undefined;
  readonly body?: object | undefined;
  readonly accountId?: string | undefined;
  readonly accept: string;
  /** Further headers, names in lower case. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

export interface ApiClient {
  /**
   * @returns the answer, as soon as its head is there; its body is for the caller to read.
   * @throws ApiFailure for any status but 2xx, CommandError where there is no answer, the reason of
   * the signal once it is aborted
   */
  send(request: ApiRequest): Promise<IncomingMessage>;
}

/** The service has answered, and said no. */
export class ApiFailure extends CommandError {
  readonly status: number;
  /** Seconds after which the service would be asked again; undefined = it did not say. */
  readonly retryAfterSeconds: number | undefined;

  constructor(message: string, status: number, retryAfterSeconds: number | undefined) {
    super(`${message} (${status})`);
    this.status = status;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** The service cannot be reached, or went away within its answer. */
export class ConnectionFailure extends CommandError {}

const headTimeoutMs = 30_000;
const mostFailureBytes = 1_000_000;

/** @param signal ends what is under way. */
export function createApiClient(connection: Connection, signal: AbortSignal): ApiClient {
  return {
    async send(request) {
      const url = toUrl(connection.url, request);
      const response = await sendOnce(connection, request, { url, signal });
      const status = response.statusCode ?? 0;
      if (status >= 200 && status < 300) return response;
      throw await readFailure(response, status);
    },
  };
}

/** Whatever ends the reading of a body early, in words; the abort of the signal as it is. */
export function toBrokenAnswer(error: unknown, signal: AbortSignal): unknown {
  if (signal.aborted || error instanceof CommandError) return error;
  const words = messageOf(error);
  return new ConnectionFailure(`cannot read the whole answer: the connection broke (${words})`);
}

async function sendOnce(
  connection: Connection,
  { method, body, accountId, accept, headers }: ApiRequest,
  { url, signal }: { url: URL; signal: AbortSignal },
): Promise<IncomingMessage> {
  const payload = body && JSON.stringify(body);
  const send = url.protocol === 'https:' ? httpsRequest : httpRequest;
  signal.throwIfAborted();
  const request = send(url, {
    method,
    ...(connection.ca !== undefined && { ca: connection.ca }),
    signal,
    headers: {
      ...headers,
      authorization: `Bearer ${connection.token}`,
      accept,
      ...(accountId !== undefined && { 'x-active-account': accountId }),
      ...(payload !== undefined && {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(payload),
      }),
    },
  });
  // Of the head alone: a body may take as long as it goes on.
  const tooLate = new Error(`no answer within ${headTimeoutMs / 1_000} s`);
  const timer = setTimeout(() => request.destroy(tooLate), headTimeoutMs);
  try {
    return await new Promise<IncomingMessage>((resolve, reject) => {
      request.on('response', resolve).on('error', reject).end(payload);
    });
  } catch (error) {
    signal.throwIfAborted();
    throw unreachable(url, error);
  } finally {
    clearTimeout(timer);
  }
}

function toUrl(base: URL, { path, query }: ApiRequest): URL {
  const url = new URL(
    `${base.href.replace(/\/$/, '')}/api/v1/${path.map(encodeURIComponent).join('/')}`,
  );
  url.search = query?.toString() ?? '';
  return url;
}

async function readFailure(response: IncomingMessage, status: number): Promise<ApiFailure> {
  const { detail, title } = parse(await readShortText(response));
  const words = [detail, title].find((word) => typeof word === 'string');
  const retryAfter = Number(response.headers['retry-after'] ?? Number.NaN);
  return new ApiFailure(
    words ?? 'cannot do that: the service gave no reason',
    status,
    Number.isFinite(retryAfter) ? retryAfter : undefined,
  );
}

/** Problems are short; whatever is not is no problem of Weir's, such as the page of a proxy. */
async function readShortText(response: IncomingMessage): Promise<string> {
  const length = Number(response.headers['content-length'] ?? 0);
  if (length > mostFailureBytes) {
    response.destroy();
    return '';
  }
  return readText(response).catch(() => '');
}

function parse(text: string): { readonly detail?: unknown; readonly title?: unknown } {
  try {
    return (JSON.parse(text) ?? {}) as { detail?: unknown; title?: unknown };
  } catch {
    return {};
  }
}

function unreachable(url: URL, error: unknown): ConnectionFailure {
  const words = error instanceof Error ? reasonOf(error) : String(error);
  return new ConnectionFailure(`cannot reach ${url.origin}: ${words} (--url, WEIR_URL)`);
}
