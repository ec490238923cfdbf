/**
 * Tokens in the control API. A secret leaves here twice at most: when it is created and when it is
 * rotated.
 */
import type { Directory, NewToken } from '../directory/port.ts';
import type { Token } from '../model/account.ts';
import { AppError } from '../model/errors.ts';
import { digestSecret, mintSecret } from '../codec/token-secret.ts';
import {
  type AdminCaller,
  checkGrant,
  checkReach,
  coversAccount,
  isOperator,
} from './authority.ts';
import type { AdminContext } from './context.ts';
import { type AdminRoute, defineAccountRoute } from './routes.ts';
import {
  issuedTokenAnswer,
  newToken,
  tokenAnswer,
  tokenChange,
  tokenParams,
  tokensAnswer,
} from './schemas.ts';

export function tokenRoutes(context: AdminContext): AdminRoute[] {
  return [
    listTokens(context),
    getToken(context),
    createToken(context),
    updateToken(context),
    rotateToken(context),
    revokeToken(context),
    deleteToken(context),
  ];
}

function listTokens({ directory }: AdminContext): AdminRoute {
  return defineAccountRoute({
    method: 'GET',
    path: '/tokens',
    operationId: 'listTokens',
    summary: 'Tokens of the account, and for an operator those over all accounts',
    scope: 'admin',
    response: tokensAnswer,
    successStatus: 200,
    handle: async ({ caller, accountId }) => {
      const tokens = await directory.listTokens(accountId);
      if (isOperator(caller)) tokens.push(...(await directory.listUnboundTokens()));
      return { tokens: tokens.map((token) => asSeenBy(caller, token)) };
    },
  });
}

function getToken({ directory }: AdminContext): AdminRoute {
  return defineAccountRoute({
    method: 'GET',
    path: '/tokens/:tokenId',
    operationId: 'getToken',
    summary: 'One token, without its secret',
    scope: 'admin',
    params: tokenParams,
    response: tokenAnswer,
    successStatus: 200,
    handle: async ({ caller, accountId, params }) =>
      asSeenBy(caller, await find(directory, { caller, accountId }, params.tokenId)),
  });
}

function createToken({ directory, now, record }: AdminContext): AdminRoute {
  return defineAccountRoute({
    method: 'POST',
    path: '/tokens',
    operationId: 'createToken',
    summary: 'Create a token; its secret is in this answer only',
    scope: 'admin',
    body: newToken,
    response: issuedTokenAnswer,
    successStatus: 201,
    handle: async ({ caller, accountId, body }) => {
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
      record({
        operation: 'createToken',
        tokenId: caller.tokenId,
        accountId,
        targetId: token.tokenId,
      });
      return { ...asSeenBy(caller, token), token: secret };
    },
  });
}

function updateToken({ directory, now, record }: AdminContext): AdminRoute {
  return defineAccountRoute({
    method: 'PATCH',
    path: '/tokens/:tokenId',
    operationId: 'updateToken',
    summary: 'Rename a token or change when it expires',
    scope: 'admin',
    params: tokenParams,
    body: tokenChange,
    response: tokenAnswer,
    successStatus: 200,
    handle: async ({ caller, accountId, params: { tokenId }, body }) => {
      // A later expiry grants the token anew.
      checkGrant(caller, await find(directory, { caller, accountId }, tokenId));
      const token = await directory.updateToken(tokenId, {
        ...body,
        ...(body.expiresAt && { expiresAt: toFuture(body.expiresAt, now()) }),
      });
      if (!token) throw notFound(tokenId);
      record({ operation: 'updateToken', tokenId: caller.tokenId, accountId, targetId: tokenId });
      return asSeenBy(caller, token);
    },
  });
}

function rotateToken({ directory, record }: AdminContext): AdminRoute {
  return defineAccountRoute({
    method: 'POST',
    path: '/tokens/:tokenId/rotate',
    operationId: 'rotateToken',
    summary: 'Replace a secret; the old one stops working, the new one is in this answer only',
    scope: 'admin',
    params: tokenParams,
    response: issuedTokenAnswer,
    successStatus: 200,
    handle: async ({ caller, accountId, params: { tokenId } }) => {
      const old = await find(directory, { caller, accountId }, tokenId);
      // Whoever holds the new secret holds all of the token's powers.
      checkGrant(caller, old);
      if (old.revokedAt !== null) {
        throw new AppError('conflict', `cannot rotate ${tokenId}: it is revoked; create another`);
      }
      const secret = mintSecret(old.type);
      const token = await directory.rotateToken(tokenId, digestSecret(secret));
      if (!token) throw notFound(tokenId);
      record({ operation: 'rotateToken', tokenId: caller.tokenId, accountId, targetId: tokenId });
      return { ...asSeenBy(caller, token), token: secret };
    },
  });
}

function revokeToken({ directory, record }: AdminContext): AdminRoute {
  return defineAccountRoute({
    method: 'POST',
    path: '/tokens/:tokenId/revoke',
    operationId: 'revokeToken',
    summary: 'Revoke a token for good',
    scope: 'admin',
    params: tokenParams,
    response: tokenAnswer,
    successStatus: 200,
    handle: async ({ caller, accountId, params: { tokenId } }) => {
      checkReach(caller, await find(directory, { caller, accountId }, tokenId));
      const token = await directory.revokeToken(tokenId);
      if (!token) throw notFound(tokenId);
      record({ operation: 'revokeToken', tokenId: caller.tokenId, accountId, targetId: tokenId });
      return asSeenBy(caller, token);
    },
  });
}

function deleteToken({ directory, record }: AdminContext): AdminRoute {
  return defineAccountRoute({
    method: 'DELETE',
    path: '/tokens/:tokenId',
    operationId: 'deleteToken',
    summary: 'Revoke a token and forget it',
    scope: 'admin',
    params: tokenParams,
    response: undefined,
    successStatus: 204,
    handle: async ({ caller, accountId, params: { tokenId } }) => {
      checkReach(caller, await find(directory, { caller, accountId }, tokenId));
      if (!(await directory.deleteToken(tokenId))) throw notFound(tokenId);
      record({ operation: 'deleteToken', tokenId: caller.tokenId, accountId, targetId: tokenId });
    },
  });
}

interface Viewer {
  readonly caller: AdminCaller;
  readonly accountId: string;
}

async function find(directory: Directory, viewer: Viewer, tokenId: string): Promise<Token> {
  const token = await directory.getToken(tokenId);
  if (!token || !isVisible(viewer, token)) throw notFound(tokenId);
  return token;
}

function isVisible({ caller, accountId }: Viewer, token: Token): boolean {
  if (token.accountIds.includes(accountId)) return true;
  return token.accountIds.length === 0 && isOperator(caller);
}

/** Whose else a token is stays between those accounts. */
function asSeenBy(caller: AdminCaller, token: Token): Token {
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

function notFound(tokenId: string): AppError {
  return new AppError('not_found', `cannot find token ${tokenId} in this account`);
}
