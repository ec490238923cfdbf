/** Accounts in the control API, and the identity of the caller. */
import type { Directory } from '../directory/port.ts';
import type { Account } from '../model/account.ts';
import { AppError } from '../model/errors.ts';
import { type AdminCaller, checkScope, coversAccount } from './authority.ts';
import type { AdminContext } from './context.ts';
import { type AdminRoute, defineRoute } from './routes.ts';
import {
  accountAnswer,
  accountChange,
  accountParams,
  accountsAnswer,
  newAccount,
  whoamiAnswer,
} from './schemas.ts';

export function accountRoutes(context: AdminContext): AdminRoute[] {
  return [...readRoutes(context), ...writeRoutes(context)];
}

function readRoutes({ directory }: AdminContext): AdminRoute[] {
  return [
    defineRoute({
      endpoint: 'GET /whoami',
      operationId: 'whoami',
      summary: 'The token in use: its scopes and accounts',
      scope: null,
      response: whoamiAnswer,
      handle: async ({ caller }) => {
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
      handle: async ({ caller }) => ({ accounts: await listCovered(directory, caller) }),
    }),
    defineRoute({
      endpoint: 'GET /accounts/:accountId',
      operationId: 'getAccount',
      summary: 'One account',
      params: accountParams,
      response: accountAnswer,
      handle: async ({ caller, params: { accountId } }) => {
        checkCovered(caller, accountId);
        return requireAccount(await directory.getAccount(accountId), accountId);
      },
    }),
  ];
}

function writeRoutes({ directory, record }: AdminContext): AdminRoute[] {
  return [
    defineRoute({
      endpoint: 'POST /accounts',
      operationId: 'createAccount',
      summary: 'Create an account',
      scope: 'operator',
      body: newAccount,
      response: accountAnswer,
      successStatus: 201,
      handle: async ({ caller, body }) => {
        const account = await directory.createAccount(body);
        const { accountId } = account;
        record('createAccount', { caller, accountId }, accountId);
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
      handle: async ({ caller, params: { accountId }, body }) => {
        checkCovered(caller, accountId);
        // The quota protects the service from the account, so its admins cannot change it.
        if (body.eventsPerSecond !== undefined) checkScope(caller, 'operator');
        const account = requireAccount(await directory.updateAccount(accountId, body), accountId);
        record('updateAccount', { caller, accountId }, accountId);
        return account;
      },
    }),
    defineRoute({
      endpoint: 'DELETE /accounts/:accountId',
      operationId: 'deleteAccount',
      summary: 'Delete an account without streams or receivers, and its tokens',
      scope: 'operator',
      params: accountParams,
      handle: async ({ caller, params: { accountId } }) => {
        if (!(await directory.deleteAccount(accountId))) throw notFound(accountId);
        record('deleteAccount', { caller, accountId }, accountId);
      },
    }),
  ];
}

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
