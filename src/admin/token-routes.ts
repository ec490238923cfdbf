/** Tokens in the control API. A secret is only in the answers that create or rotate it. */
import type { Directory, NewToken } from '../directory/port.ts';
import type { Token } from '../model/account.ts';
import { AppError } from '../model/errors.ts';
import { digestSecret, mintSecret } from '../codec/token-secret.ts';
import {
  type AdminCaller,
  checkGrant,
  checkManagesToken,
  coversAccount,
  isOperator,
} from './authority.ts';
import { defineAccountRoute, type DefinedRoute, notFound } from './routes.ts';
import {
  issuedTokenAnswer,
  newToken,
  tokenAnswer,
  tokenChange,
  tokenParams,
  tokensAnswer,
} from './schemas.ts';

export const tokenRoutes: readonly DefinedRoute[] = [
  defineAccountRoute({
    endpoint: 'GET /tokens',
    operationId: 'listTokens',
    summary: 'Tokens of the account and, for an operator, those for all accounts',
    response: tokensAnswer,
    handle: async ({ caller, accountId }, { directory }) => {
      const tokens = await directory.listTokens(accountId);
      if (isOperator(caller)) tokens.push(...(await directory.listUnboundTokens()));
      return { tokens: tokens.map((token) => withManagedAccounts(caller, token)) };
    },
  }),
  defineAccountRoute({
    endpoint: 'GET /tokens/:tokenId',
    operationId: 'getToken',
    summary: 'One token, without its secret',
    params: tokenParams,
    response: tokenAnswer,
    handle: async ({ caller, accountId, params }, { directory }) =>
      withManagedAccounts(caller, await find(directory, { caller, accountId }, params.tokenId)),
  }),
  defineAccountRoute({
    endpoint: 'POST /tokens',
    operationId: 'createToken',
    summary: 'Create a token; only this response has its secret',
    body: newToken,
    response: issuedTokenAnswer,
    successStatus: 201,
    handle: async ({ caller, accountId, body }, { directory, record, now }) => {
      const { expiresAt, scopes } = body;
      const given = body.type === 'access' ? body.accountIds : undefined;
      const granted: Omit<NewToken, 'digest'> = {
        type: body.type,
        name: body.name,
        accountIds: unique(given ?? [accountId]),
        allAccounts: given?.length === 0,
        receiverId: body.type === 'ingest' ? body.receiverId : null,
        scopes: unique(scopes),
        expiresAt: expiresAt && toFuture(expiresAt, now()),
      };
      checkBound(granted);
      checkGrant(caller, granted);
      const secret = mintSecret(body.type);
      const token = await directory.createToken({ ...granted, digest: digestSecret(secret) });
      record(token.tokenId);
      return { ...withManagedAccounts(caller, token), token: secret };
    },
  }),
  defineAccountRoute({
    params: tokenParams,
    endpoint: 'PATCH /tokens/:tokenId',
    operationId: 'updateToken',
    summary: 'Rename a token or change when it expires',
    body: tokenChange,
    response: tokenAnswer,
    handle: async (
      { caller, accountId, params: { tokenId }, body },
      { directory, record, now },
    ) => {
      // A later expiry is a new grant.
      checkGrant(caller, await find(directory, { caller, accountId }, tokenId));
      const token = await directory.updateToken(tokenId, {
        ...body,
        ...(body.expiresAt && { expiresAt: toFuture(body.expiresAt, now()) }),
      });
      if (!token) throw notFound('token', tokenId);
      record(tokenId);
      return withManagedAccounts(caller, token);
    },
  }),
  defineAccountRoute({
    params: tokenParams,
    endpoint: 'POST /tokens/:tokenId/rotate',
    operationId: 'rotateToken',
    summary: 'Replace a secret; the old one stops working, and only this response has the new one',
    response: issuedTokenAnswer,
    handle: async ({ caller, accountId, params: { tokenId } }, { directory, record }) => {
      const old = await find(directory, { caller, accountId }, tokenId);
      // The new secret gives the caller all grants of the token.
      checkGrant(caller, old);
      if (old.revokedAt !== null) {
        throw new AppError('conflict', `cannot rotate ${tokenId}: it is revoked; create another`);
      }
      const secret = mintSecret(old.type);
      const token = await directory.rotateToken(tokenId, digestSecret(secret));
      if (!token) throw notFound('token', tokenId);
      record(tokenId);
      return { ...withManagedAccounts(caller, token), token: secret };
    },
  }),
  defineAccountRoute({
    params: tokenParams,
    endpoint: 'POST /tokens/:tokenId/revoke',
    operationId: 'revokeToken',
    summary: 'Revoke a token permanently',
    response: tokenAnswer,
    handle: async ({ caller, accountId, params: { tokenId } }, { directory, record }) => {
      checkManagesToken(caller, await find(directory, { caller, accountId }, tokenId));
      const token = await directory.revokeToken(tokenId);
      if (!token) throw notFound('token', tokenId);
      record(tokenId);
      return withManagedAccounts(caller, token);
    },
  }),
  defineAccountRoute({
    params: tokenParams,
    endpoint: 'DELETE /tokens/:tokenId',
    operationId: 'deleteToken',
    summary: 'Revoke and delete a token',
    handle: async ({ caller, accountId, params: { tokenId } }, { directory, record }) => {
      checkManagesToken(caller, await find(directory, { caller, accountId }, tokenId));
      if (!(await directory.deleteToken(tokenId))) throw notFound('token', tokenId);
      record(tokenId);
    },
  }),
];

interface Viewer {
  readonly caller: AdminCaller;
  readonly accountId: string;
}

async function find(directory: Directory, viewer: Viewer, tokenId: string): Promise<Token> {
  const token = await directory.getToken(tokenId);
  if (!token || !isVisible(viewer, token)) throw notFound('token', tokenId);
  return token;
}

function isVisible({ caller, accountId }: Viewer, token: Token): boolean {
  if (token.accountIds.includes(accountId)) return true;
  return token.accountIds.length === 0 && isOperator(caller);
}

/** Omits the accounts that the caller does not manage. */
function withManagedAccounts(caller: AdminCaller, token: Token): Token {
  return { ...token, accountIds: token.accountIds.filter((id) => coversAccount(caller, id)) };
}

function checkBound(token: Pick<Token, 'allAccounts' | 'scopes'>): void {
  if (!token.allAccounts || token.scopes.includes('operator')) return;
  throw new AppError(
    'malformed',
    'cannot create a token of no account: name one in accountIds, or grant the scope operator',
    { parameter: 'accountIds' },
  );
}

function toFuture(expiresAt: string, nowMs: number): string {
  const expiresAtMs = Date.parse(expiresAt);
  if (expiresAtMs > nowMs) return new Date(expiresAtMs).toISOString();
  throw new AppError('malformed', `cannot let a token expire at ${expiresAt}: that is past`, {
    parameter: 'expiresAt',
  });
}

function unique<Value>(values: readonly Value[]): Value[] {
  return [...new Set(values)];
}
