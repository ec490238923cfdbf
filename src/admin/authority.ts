/**
 * Authorization in the control API. The scope `admin` manages the resources of its accounts and
 * grants at most its own scopes; `operator` does so for all accounts, and manages accounts.
 */
import type { Scope, Token } from '../model/account.ts';
import { AppError } from '../model/errors.ts';

/** The valid token of a request. */
export interface AdminCaller {
  readonly tokenId: string;
  readonly accountIds: readonly string[];
  readonly scopes: ReadonlySet<Scope>;
}

/** @throws AppError `forbidden` */
export function checkScope(caller: AdminCaller, scope: Scope | undefined): void {
  if (scope === undefined || hasScope(caller, scope)) return;
  throw new AppError('forbidden', `cannot do this with the token: it lacks the scope ${scope}`);
}

export function isOperator(caller: AdminCaller): boolean {
  return caller.scopes.has('operator');
}

export function coversAccount(caller: AdminCaller, accountId: string): boolean {
  return isOperator(caller) || caller.accountIds.includes(accountId);
}

/** @throws AppError `forbidden` */
export function checkAccount(caller: AdminCaller, accountId: string): void {
  if (coversAccount(caller, accountId)) return;
  throw new AppError('forbidden', `cannot manage account ${accountId} with this token`);
}

/**
 * Checks that the caller may grant this token: it must have all of its scopes and accounts.
 * @throws AppError `forbidden`
 */
export function checkGrant(
  caller: AdminCaller,
  token: Pick<Token, 'type' | 'accountIds' | 'scopes'>,
): void {
  checkManagesToken(caller, token);
  // Each admin of an account may grant sending to its receivers.
  if (token.type === 'ingest') return;
  const missing = token.scopes.find((scope) => !hasScope(caller, scope));
  if (missing === undefined) return;
  throw new AppError('forbidden', `cannot grant the scope ${missing}: your token lacks it`, {
    parameter: 'scopes',
  });
}

/**
 * Checks that the caller may revoke this token: it must manage all of its accounts.
 * @throws AppError `forbidden`
 */
export function checkManagesToken(
  caller: AdminCaller,
  token: Pick<Token, 'accountIds' | 'scopes'>,
): void {
  if (isOperator(caller)) return;
  if (token.accountIds.length === 0 || token.scopes.includes('operator')) {
    throw new AppError('forbidden', 'cannot manage an operator token without the scope operator');
  }
  if (token.accountIds.every((accountId) => coversAccount(caller, accountId))) return;
  throw new AppError('forbidden', 'cannot manage a token of accounts that your token lacks', {
    parameter: 'accountIds',
  });
}

function hasScope(caller: AdminCaller, scope: Scope): boolean {
  return caller.scopes.has(scope) || (scope === 'admin' && isOperator(caller));
}
