/** Accounts in the control API, and the identity of the caller. */
import type { Directory } from '../directory/port.ts';
import type { Account } from '../model/account.ts';
import { AppError } from '../model/errors.ts';
import { type AdminCaller, checkScope, coversAccount } from './authority.ts';
import { type DefinedRoute, defineRoute } from './routes.ts';
import {
  accountAnswer,
  accountChange,
  accountParams,
  accountsAnswer,
  newAccount,
  whoamiAnswer,
} from './schemas.ts';

export const accountRoutes: readonly DefinedRoute[] = [
  defineRoute({
    endpoint: 'GET /whoami',
    operationId: 'whoami',
    summary: 'The token in use: its scopes and accounts',
    scope: null,
    response: whoamiAnswer,
    handle: async ({ caller }, { directory }) => {
      const accounts = await listCovered(directory, caller);
      return {
        tokenId: caller.tokenId,
        scopes: [...caller.scopes],
        accounts: accounts.map(({ accountId, name }) => ({ accountId, name })),
      };
    },
  }),
  defineRoute({
    endpoint: 'GET /accounts',
    operationId: 'listAccounts',
    summary: 'Accounts that the token manages',
    response: accountsAnswer,
    handle: async ({ caller }, { directory }) => ({
      accounts: await listCovered(directory, caller),
    }),
  }),
  defineRoute({
    endpoint: 'GET /accounts/:accountId',
    operationId: 'getAccount',
    summary: 'One account',
    params: accountParams,
    response: accountAnswer,
    handle: async ({ caller, params: { accountId } }, { directory }) => {
      checkCovered(caller, accountId);
      return requireAccount(await directory.getAccount(accountId), accountId);
    },
  }),
  defineRoute({
    endpoint: 'POST /accounts',
    operationId: 'createAccount',
    summary: 'Create an account',
    scope: 'operator',
    body: newAccount,
    response: accountAnswer,
    successStatus: 201,
    handle: async ({ body }, { directory, record }) => {
      const account = await directory.createAccount(body);
      const { accountId } = account;
      record(accountId);
      return account;
    },
  }),
  defineRoute({
    endpoint: 'PATCH /accounts/:accountId',
    operationId: 'updateAccount',
    summary: 'Rename an account, or (scope operator) change its quota',
    params: accountParams,
    body: accountChange,
    response: accountAnswer,
    handle: async ({ caller, params: { accountId }, body }, { directory, record }) => {
      checkCovered(caller, accountId);
      // The quota protects the service from the account, so its admins cannot change it.
      if (body.eventsPerSecond !== undefined) checkScope(caller, 'operator');
      const account = requireAccount(await directory.updateAccount(accountId, body), accountId);
      record(accountId);
      return account;
    },
  }),
  defineRoute({
    endpoint: 'DELETE /accounts/:accountId',
    operationId: 'deleteAccount',
    summary: 'Delete an account without streams or receivers, and its tokens',
    scope: 'operator',
    params: accountParams,
    handle: async ({ params: { accountId } }, { directory, record }) => {
      if (!(await directory.deleteAccount(accountId))) throw notFound(accountId);
      record(accountId);
    },
  }),
];

async function listCovered(directory: Directory, caller: AdminCaller): Promise<Account[]> {
  const accounts = await directory.listAccounts();
  return accounts.filter((account) => coversAccount(caller, account.accountId));
}

/** Answers `not_found` for accounts of others too, so that their ids cannot be probed. */
function checkCovered(caller: AdminCaller, accountId: string): void {
  if (!coversAccount(caller, accountId)) throw notFound(accountId);
}

function requireAccount(account: Account | undefined, accountId: string): Account {
  if (!account) throw notFound(accountId);
  return account;
}

function notFound(accountId: string): AppError {
  return new AppError('not_found', `cannot find account ${accountId}`);
}
