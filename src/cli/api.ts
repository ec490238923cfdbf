/** The API of the stream port (openapi/stream.json), as one token in one account. */
import type { IncomingMessage } from 'node:http';
import { text as readText } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Scan } from '../model/plan.ts';
import { scanHeaders } from '../model/read-route.ts';
import { messageOf } from '../std/error-text.ts';
import type { Connection } from './connection.ts';
import { parseJson, parseRetryAfter, problemText, reasonOf, sendRequest } from './http.ts';
import { CommandError, exitCodes } from './terminal.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface ControlCall {
  readonly method: Method;
  /** Below `/api/v1/admin`. */
  readonly path: readonly string[];
  readonly body?: object | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** False for calls that belong to no account; default true. */
  readonly inAccount?: boolean;
  /** For the headers of the response; default 30,000. */
  readonly timeoutMs?: number;
}

export interface StreamOptions {
  readonly accept: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The connection counts as broken after this long without a byte. */
  readonly idleTimeoutMs: number;
}

/** All methods throw a CommandError, or the signal's reason once it is aborted. */
export type Api = ReturnType<typeof createApi>;

interface Request {
  readonly method: Method;
  readonly path: readonly string[];
  readonly query?: URLSearchParams | undefined;
  readonly body?: object | undefined;
  readonly accountId?: string | undefined;
  readonly accept: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly timeoutMs?: number | undefined;
}

/** The service responded with an error status. */
export class ApiFailure extends CommandError {
  readonly status: number;
  /** From `Retry-After`; undefined without one. */
  readonly retryAfterSeconds: number | undefined;

  constructor(message: string, status: number, retryAfterSeconds: number | undefined) {
    super(`${message} (${status})`);
    this.status = status;
    this.retryAfterSeconds = retryAfterSeconds;
  }

  get isBusy(): boolean {
    return this.status === 503 || this.status === 429;
  }
}

/** The service cannot be reached, or the connection broke within a response. */
export class ConnectionFailure extends CommandError {}

const json = 'application/json';
const defaultTimeoutMs = 30_000;
const maxProblemBytes = 1_000_000;
const maxAttempts = 4;
const maxRetryAfterSeconds = 10;

/**
 * @param signal aborts requests in flight.
 * @param onScan called for each response that says what the service read for it
 */
export function createApi(
  connection: Connection,
  signal: AbortSignal,
  onScan: (scanned: Scan) => void,
) {
  let account: Promise<string> | undefined;
  const activeAccount = () => (account ??= findAccount());

  /** @returns the JSON of the response; undefined for an empty one. */
  async function call<Result>({ path, inAccount = true, ...rest }: ControlCall): Promise<Result> {
    const accountId = inAccount ? await activeAccount() : undefined;
    const request = { ...rest, path: ['admin', ...path], accountId, accept: json };
    return readJson<Result>(await send(connection, request, signal), signal);
  }

  async function findAccount(): Promise<string> {
    if (connection.accountId !== undefined) return connection.accountId;
    const { accounts } = await call<{ accounts: { accountId: string }[] }>({
      method: 'GET',
      path: ['whoami'],
      inAccount: false,
    });
    const [only, second] = accounts;
    if (only && !second) return only.accountId;
    throw new CommandError(
      `cannot choose between ${accounts.length} accounts: ` +
        'give --account or WEIR_ACCOUNT (weir whoami lists them)',
      exitCodes.usage,
    );
  }

  async function read(request: Omit<Request, 'method'>): Promise<IncomingMessage> {
    const accountId = await activeAccount();
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await send(connection, { method: 'GET', accountId, ...request }, signal);
      } catch (error) {
        const isBusy = error instanceof ApiFailure && error.isBusy;
        if (attempt === maxAttempts || !isBusy) throw error;
        const seconds = Math.min(error.retryAfterSeconds ?? 1, maxRetryAfterSeconds);
        await sleep(seconds * 1_000, undefined, { signal });
      }
    }
  }

  return {
    call,
    /** Retries while the service is busy. @param path below `/api/v1`, such as `['logs']`. */
    async get<Result>(path: readonly string[], query?: URLSearchParams): Promise<Result> {
      const response = await read({ path, query, accept: json });
      const { [scanHeaders.rows.toLowerCase()]: rows, [scanHeaders.bytes.toLowerCase()]: bytes } =
        response.headers;
      if (rows !== undefined) onScan({ rows: Number(rows), bytes: Number(bytes) });
      return readJson<Result>(response, signal);
    },
    /** Like `get`, for a response that is read chunk by chunk. */
    async open(
      path: readonly string[],
      query: URLSearchParams,
      { idleTimeoutMs, ...options }: StreamOptions,
    ): Promise<AsyncIterable<Uint8Array>> {
      return readChunks(await read({ path, query, ...options }), idleTimeoutMs, signal);
    },
  };
}

async function send(
  connection: Connection,
  { method, path, query, body, accountId, accept, headers, timeoutMs = defaultTimeoutMs }: Request,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const { url: base, token, ca } = connection;
  const url = new URL(
    `${base.href.replace(/\/$/, '')}/api/v1/${path.map(encodeURIComponent).join('/')}`,
  );
  url.search = query?.toString() ?? '';
  signal.throwIfAborted();
  // Limits the wait for the headers only.
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), timeoutMs);
  const response = await sendRequest(url, {
    method,
    ca,
    signal: AbortSignal.any([signal, late.signal]),
    headers: {
      ...headers,
      authorization: `Bearer ${token}`,
      accept,
      ...(accountId !== undefined && { 'x-active-account': accountId }),
      ...(body !== undefined && { 'content-type': json }),
    },
    body: body && JSON.stringify(body),
  })
    .catch((error: unknown) => {
      signal.throwIfAborted();
      throw new ConnectionFailure(
        late.signal.aborted
          ? `cannot wait for ${url.origin} any longer: no response within ${timeoutMs / 1_000} s`
          : `cannot reach ${url.origin}: ${reasonOf(error)} (--url, WEIR_URL)`,
      );
    })
    .finally(() => clearTimeout(timer));
  const status = response.statusCode ?? 0;
  if (status >= 200 && status < 300) return response;
  throw await readFailure(response, status);
}

async function readFailure(response: IncomingMessage, status: number): Promise<ApiFailure> {
  const length = Number(response.headers['content-length'] ?? 0);
  // A longer body is not a problem document of Weir.
  if (length > maxProblemBytes) response.destroy();
  const problem = parseJson(await readText(response).catch(() => ''));
  const reason = problemText(problem) ?? 'the request failed: the service gave no reason';
  return new ApiFailure(reason, status, parseRetryAfter(response.headers['retry-after']));
}

async function readJson<Result>(response: IncomingMessage, signal: AbortSignal): Promise<Result> {
  const text = await readText(response).catch((error: unknown) => {
    throw toConnectionFailure(error, signal);
  });
  const value = parseJson(text);
  if (value === undefined && text !== '') {
    throw new CommandError('cannot parse the response: check that --url is the address of Weir');
  }
  return value as Result;
}

async function* readChunks(
  response: IncomingMessage,
  idleTimeoutMs: number,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const idle = new ConnectionFailure(
    `cannot continue reading: no data for ${idleTimeoutMs / 1_000} s`,
  );
  const chunks = response[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;
  try {
    for (;;) {
      // Runs only while waiting for the service, so a slow consumer does not trip it.
      const timer = setTimeout(() => response.destroy(idle), idleTimeoutMs);
      const next = await chunks.next().finally(() => clearTimeout(timer));
      if (next.done) return;
      yield next.value;
    }
  } catch (error) {
    throw toConnectionFailure(error, signal);
  } finally {
    response.destroy();
  }
}

function toConnectionFailure(error: unknown, signal: AbortSignal): unknown {
  if (signal.aborted || error instanceof CommandError) return error;
  const reason = messageOf(error);
  return new ConnectionFailure(`cannot read the whole response: the connection broke (${reason})`);
}
