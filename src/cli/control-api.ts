/** Calls of the control API. It knows nothing of what the answers mean. */
import { text as readText } from 'node:stream/consumers';
import { type ApiClient, type Method, toBrokenAnswer } from './api-client.ts';
import type { Connection } from './connection.ts';
import { CommandError, exitCodes } from './terminal.ts';

export interface Call {
  readonly method: Method;
  /** Below `/api/v1/admin`, such as `/streams`; ids as further parts, encoded later. */
  readonly path: readonly string[];
  readonly body?: object;
}

export interface ControlApi {
  /** A call that concerns no account. @throws CommandError */
  call<Answer>(call: Call): Promise<Answer>;
  /** A call in the chosen account, or in the token's only one. @throws CommandError */
  callInAccount<Answer>(call: Call): Promise<Answer>;
  /** The chosen account, or the token's only one; looked up once. @throws CommandError */
  activeAccount(): Promise<string>;
}

export function createControlApi(
  client: ApiClient,
  connection: Connection,
  signal: AbortSignal,
): ControlApi {
  const exchange = async (what: Call, accountId: string | undefined): Promise<unknown> => {
    const { method, path, body } = what;
    const response = await client.send({
      method,
      path: ['admin', ...path],
      body,
      accountId,
      accept: 'application/json',
    });
    const text = await readText(response).catch((error: unknown) => {
      throw toBrokenAnswer(error, signal);
    });
    return parse(text);
  };
  const call = <Answer>(what: Call, accountId?: string): Promise<Answer> =>
    exchange(what, accountId) as Promise<Answer>;

  const findAccount = async (): Promise<string> => {
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
  let found: Promise<string> | undefined;
  const activeAccount = () => (found ??= findAccount());

  return {
    call,
    callInAccount: async (what) => call(what, await activeAccount()),
    activeAccount,
  };
}

/** @returns undefined for what is no JSON, such as an empty answer or the page of a proxy. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
