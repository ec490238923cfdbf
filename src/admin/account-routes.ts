/** Accounts in the control API, and who the caller is. */
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
  return [
    whoami(context),
    listAccounts(context),
    getAccount(context),
    createAccount(context),
    updateAccount(context),
    deleteAccount(context),
  ];
}

function whoami({ directory }: AdminContext): AdminRoute {
  return defineRoute({
    method: 'GET',
    path: '/whoami',
    operationId: 'whoami',
    summary: 'The token in use: its scopes and accounts',
    scope: undefined,
    response: whoamiAnswer,
    successStatus: 200,
    handle: async ({ caller }) => ({
      tokenId: caller.tokenId,
      scopes: [...caller.scopes],
      accounts: (await listCovered(directory, caller)).map(({ accountId, name }) => ({
        accountId,
        name,
      })),
    }),
  });
}

function listAccounts({ directory }: AdminContext): AdminRoute {
  return defineRoute({
    method: 'GET',
    path: '/accounts',
    operationId: 'listAccounts',
    summary: 'Accounts that the token manages',
    scope: 'admin',
    response: accountsAnswer,
    successStatus: 200,
    handle: async ({ caller }) => ({ accounts: await listCovered(directory, caller) }),
  });
}

function getAccount({ directory }: AdminContext): AdminRoute {
  return defineRoute({
    method: 'GET',
    path: '/accounts/:accountId',
    operationId: 'getAccount',
    summary: 'One account',
    scope: 'admin',
    params: accountParams,
    response: accountAnswer,
    successStatus: 200,
    handle: async ({ caller, params }) => {
      checkCovered(caller, params.accountId);
      return found(await directory.getAccount(params.accountId), params.accountId);
    },
  });
}

function createAccount({ directory, record }: AdminContext): AdminRoute {
  return defineRoute({
    method: 'POST',
    path: '/accounts',
    operationId: 'createAccount',
    summary: 'Create an account',
    scope: 'operator',
    body: newAccount,
    response: accountAnswer,
    successStatus: 201,
    handle: async ({ caller, body }) => {
      const account = await directory.createAccount(body);
      const { accountId } = account;
      const { tokenId } = caller;
      record({ operation: 'createAccount', tokenId, accountId, targetId: accountId });
      return account;
    },
  });
}

function updateAccount({ directory, record }: AdminContext): AdminRoute {
  return defineRoute({
    method: 'PATCH',
    path: '/accounts/:accountId',
    operationId: 'updateAccount',
    summary: 'Rename an account, or (scope operator) change its quota',
    scope: 'admin',
    params: accountParams,
    body: accountChange,
    response: accountAnswer,
    successStatus: 200,
    handle: async ({ caller, params: { accountId }, body }) => {
      checkCovered(caller, accountId);
      // A quota protects the service from the account, so the account cannot lift it.
      if (body.eventsPerSecond !== undefined) checkScope(caller, 'operator');
      const account = found(await directory.updateAccount(accountId, body), accountId);
      const { tokenId } = caller;
      record({ operation: 'updateAccount', tokenId, accountId, targetId: accountId });
      return account;
    },
  });
}

function deleteAccount({ directory, record }: AdminContext): AdminRoute {
  return defineRoute({
    method: 'DELETE',
    path: '/accounts/:accountId',
    operationId: 'deleteAccount',
    summary: 'Delete an account without streams or receivers, and its tokens',
    scope: 'operator',
    params: accountParams,
    response: undefined,
    successStatus: 204,
    handle: async ({ caller, params: { accountId } }) => {
      if (!(await directory.deleteAccount(accountId))) throw notFound(accountId);
      const { tokenId } = caller;
      record({ operation: 'deleteAccount', tokenId, accountId, targetId: accountId });
    },
  });
}

async function listCovered(directory: Directory, caller: AdminCaller): Promise<Account[]> {
  const accounts = await directory.listAccounts();
  return accounts.filter((account) => coversAccount(caller, account.accountId));
}

/** Another's account answers like one that does not exist. */
function checkCovered(caller: AdminCaller, accountId: string): void {
  if (!coversAccount(caller, accountId)) throw notFound(accountId);
}

function found(account: Account | undefined, accountId: string): Account {
  if (!account) throw notFound(accountId);
  return account;
}

function notFound(accountId: string): AppError {
  return new AppError('not_found', `cannot find account ${accountId}`);
}
