/** Tokens in the directory's database. Secrets never come here, only their digests. */
import type { Kysely, Transaction } from 'kysely';
import type { Scope, Token } from '../model/account.ts';
import { AppError } from '../model/errors.ts';
import { createId } from '../std/random-id.ts';
import { requireAccount } from './account-queries.ts';
import type { Database } from './database.ts';
import { inOrder } from './in-order.ts';
import type { Directory, GrantSource, NewToken, TokenGrant } from './port.ts';
import type { Tables, TokenRow } from './tables.ts';

type TokenQueries = Pick<
  Directory & GrantSource,
  | 'listTokens'
  | 'listUnboundTokens'
  | 'getToken'
  | 'createToken'
  | 'updateToken'
  | 'rotateToken'
  | 'revokeToken'
  | 'deleteToken'
  | 'findToken'
  | 'noteTokensUsed'
>;

export function createTokenQueries(database: Database): TokenQueries {
  const change = (tokenId: string, columns: Partial<TokenRow>): Promise<Token | undefined> =>
    database.write(async (tx) => {
      if (Object.keys(columns).length > 0) {
        await tx.updateTable('tokens').set(columns).where('token_id', '=', tokenId).execute();
      }
      return getToken(tx, tokenId);
    });

  return {
    listTokens: (accountId) =>
      database.read(async (db) => {
        const rows = await tokensWithAccounts(db)
          .where('tokens.token_id', 'in', (own) =>
            own.selectFrom('token_accounts').select('token_id').where('account_id', '=', accountId),
          )
          .execute();
        return toTokens(rows);
      }),

    listUnboundTokens: () =>
      database.read(async (db) =>
        toTokens(await tokensWithAccounts(db).where('bound.account_id', 'is', null).execute()),
      ),

    getToken: (tokenId) => database.read((db) => getToken(db, tokenId)),

    findToken: (digest) =>
      database.read(async (db) => {
        const rows = await tokensWithAccounts(db).where('digest', '=', digest).execute();
        const token = toTokens(rows)[0];
        return token && toGrant(token);
      }),

    createToken: (token) => database.write((tx) => insertToken(tx, token, database.timestamp())),

    updateToken: (tokenId, { name, expiresAt }) =>
      change(tokenId, {
        ...(name !== undefined && { name }),
        ...(expiresAt !== undefined && { expires_at: expiresAt }),
      }),

    rotateToken: (tokenId, digest) => change(tokenId, { digest }),

    revokeToken: (tokenId) =>
      database.write(async (tx) => {
        await tx
          .updateTable('tokens')
          .set({ revoked_at: database.timestamp() })
          .where('token_id', '=', tokenId)
          .where('revoked_at', 'is', null)
          .execute();
        return getToken(tx, tokenId);
      }),

    deleteToken: (tokenId) =>
      database.write(async (tx) => {
        const deleted = await tx
          .deleteFrom('tokens')
          .where('token_id', '=', tokenId)
          .executeTakeFirst();
        return deleted.numDeletedRows > 0n;
      }),

    noteTokensUsed: (usedAtMs) =>
      database.writeBeside(async (tx) => {
        for (const [tokenId, millis] of inOrder([...usedAtMs], ([id]) => id)) {
          const usedAt = new Date(millis).toISOString();
          await tx
            .updateTable('tokens')
            .set({ last_used_at: usedAt })
            .where('token_id', '=', tokenId)
            // Another node may have seen it later and written it sooner.
            .where((row) =>
              row.or([row('last_used_at', 'is', null), row('last_used_at', '<', usedAt)]),
            )
            .execute();
        }
      }),
  };
}

/** @throws AppError `not_found` where one of its accounts, or its receiver, does not exist */
export async function insertToken(
  tx: Transaction<Tables>,
  token: NewToken,
  createdAt: string,
): Promise<Token> {
  for (const accountId of token.accountIds) await requireAccount(tx, accountId);
  if (token.receiverId !== null) await requireReceiver(tx, token.receiverId, token.accountIds);
  const row: TokenRow = {
    token_id: createId('tok'),
    type: token.type,
    name: token.name,
    digest: token.digest,
    all_accounts: token.allAccounts ? 1 : 0,
    receiver_id: token.receiverId,
    scopes: JSON.stringify(token.scopes),
    expires_at: token.expiresAt,
    revoked_at: null,
    last_used_at: null,
    created_at: createdAt,
  };
  await tx.insertInto('tokens').values(row).execute();
  for (const accountId of token.accountIds) {
    await tx
      .insertInto('token_accounts')
      .values({ token_id: row.token_id, account_id: accountId })
      .execute();
  }
  return toToken(row, [...token.accountIds]);
}

async function requireReceiver(
  tx: Transaction<Tables>,
  receiverId: string,
  accountIds: readonly string[],
): Promise<void> {
  const row = await tx
    .selectFrom('receivers')
    .select('receiver_id')
    .where('receiver_id', '=', receiverId)
    .where('account_id', 'in', accountIds)
    .executeTakeFirst();
  if (row) return;
  throw new AppError('not_found', `cannot find receiver ${receiverId} in this account`);
}

async function getToken(db: Kysely<Tables>, tokenId: string): Promise<Token | undefined> {
  const rows = await tokensWithAccounts(db).where('tokens.token_id', '=', tokenId).execute();
  return toTokens(rows)[0];
}

/**
 * One row per token and account, in one statement: read apart, a token deleted in between would
 * look like one without accounts.
 */
function tokensWithAccounts(db: Kysely<Tables>) {
  return db
    .selectFrom('tokens')
    .leftJoin('token_accounts as bound', 'bound.token_id', 'tokens.token_id')
    .selectAll('tokens')
    .select('bound.account_id')
    .orderBy('created_at')
    .orderBy('tokens.token_id')
    .orderBy('bound.account_id');
}

function toTokens(rows: readonly (TokenRow & { account_id: string | null })[]): Token[] {
  const byId = Map.groupBy(rows, (row) => row.token_id);
  return Array.from(byId.values(), (group) =>
    toToken(
      group[0] as TokenRow,
      group.flatMap((row) => row.account_id ?? []),
    ),
  );
}

function toToken(row: TokenRow, accountIds: string[]): Token {
  return {
    tokenId: row.token_id,
    type: row.type,
    name: row.name,
    accountIds,
    allAccounts: row.all_accounts === 1,
    receiverId: row.receiver_id,
    scopes: JSON.parse(row.scopes) as Scope[],
    expiresAt: row.expires_at,
    revokedAt: row.revoked_at,
    lastUsedAt: row.last_used_at,
    createdAt: row.created_at,
  };
}

function toGrant(token: Token): TokenGrant {
  return {
    tokenId: token.tokenId,
    type: token.type,
    accountIds: token.accountIds,
    allAccounts: token.allAccounts,
    receiverId: token.receiverId,
    scopes: new Set(token.scopes),
    expiresAtMs: token.expiresAt === null ? null : Date.parse(token.expiresAt),
    revoked: token.revokedAt !== null,
  };
}
