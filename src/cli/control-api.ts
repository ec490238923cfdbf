/** Calls of the control API over HTTPS. It knows nothing of what the answers mean. */
import { type IncomingMessage, request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { text as readText } from 'node:stream/consumers';
import type { Connection } from './connection.ts';
import { CommandError, exitCodes } from './terminal.ts';

export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

export interface Call {
  readonly method: Method;
  /** Below `/api/v1/admin`, such as `/streams`; ids as further parts, encoded here. */
  readonly path: readonly string[];
  readonly body?: object;
}

export interface ControlApi {
  /** A call that concerns no account. @throws CommandError */
  call<Answer>(call: Call): Promise<Answer>;
  /** A call in the chosen account, or in the token's only one. @throws CommandError */
  callInAccount<Answer>(call: Call): Promise<Answer>;
}

const timeoutMs = 30_000;

export function createControlApi(connection: Connection): ControlApi {
  const call = <Answer>(what: Call, accountId?: string): Promise<Answer> =>
    exchange(connection, what, accountId) as Promise<Answer>;

  const activeAccount = async (): Promise<string> => {
    if (connection.accountId !== undefined) return connection.accountId;
    const { accounts } = await call<{ accounts: { accountId: string }[] }>({
      method: 'GET',
      path: ['whoami'],
    });
    const [only, second] = accounts;
    if (only && !second) return only.accountId;
    throw new CommandError(
      `cannot tell which of ${accounts.length} accounts is meant: ` +
        'give --account or WEIR_ACCOUNT (weir whoami lists them)',
      exitCodes.usage,
    );
  };

  return {
    call,
    callInAccount: async (what) => call(what, await activeAccount()),
  };
}

async function exchange(
  connection: Connection,
  { method, path, body }: Call,
  accountId: string | undefined,
): Promise<unknown> {
  const base = connection.url.href.replace(/\/$/, '');
  const url = new URL(`${base}/api/v1/admin/${path.map(encodeURIComponent).join('/')}`);
  const payload = body && JSON.stringify(body);
  const send = url.protocol === 'https:' ? httpsRequest : httpRequest;
  const request = send(url, {
    method,
    ...(connection.ca !== undefined && { ca: connection.ca }),
    signal: AbortSignal.timeout(timeoutMs),
    headers: {
      authorization: `Bearer ${connection.token}`,
      accept: 'application/json',
      ...(accountId !== undefined && { 'x-active-account': accountId }),
      ...(payload !== undefined && {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(payload),
      }),
    },
  });
  try {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      request.on('response', resolve).on('error', reject).end(payload);
    });
    return readAnswer(response.statusCode ?? 0, await readText(response));
  } catch (error) {
    throw error instanceof CommandError ? error : unreachable(url, error);
  }
}

function readAnswer(status: number, text: string): unknown {
  const answer = parse(text);
  if (status >= 200 && status < 300) return answer;
  const { detail, title } = (answer ?? {}) as { detail?: unknown; title?: unknown };
  const words = [detail, title].find((word) => typeof word === 'string');
  throw new CommandError(`${words ?? 'cannot do that: the service gave no reason'} (${status})`);
}

/** @returns undefined for what is no JSON, such as an empty answer or the page of a proxy. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const hints: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there; is the service running?',
  ENOTFOUND: 'there is no such host',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is not trusted; give --ca-file',
  SELF_SIGNED_CERT_IN_CHAIN: 'its certificate is not trusted; give --ca-file',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its certificate is not trusted; give --ca-file',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'its certificate is not trusted; give --ca-file',
};

function unreachable(url: URL, error: unknown): CommandError {
  if (error instanceof Error && error.name === 'TimeoutError') {
    return new CommandError(`cannot reach ${url.origin}: no answer within ${timeoutMs / 1000} s`);
  }
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const words = hints[code] ?? (error instanceof Error ? error.message : String(error));
  return new CommandError(`cannot reach ${url.origin}: ${words} (--url, WEIR_URL)`);
}
