/** Tokens in the directory's database, which stores digests of secrets and no secret. */
import { sql } from 'kysely';
import type { Scope, Token, TokenGrant } from '../model/account.ts';
import { AppError } from '../model/errors.ts';
import { createId } from '../std/random-id.ts';
import { requireAccount } from './account-queries.ts';
import { type Database, type Db, deleteRows, findRow, type TokenRow, type Tx } from './database.ts';
import type { Directory, GrantSource, NewToken } from './port.ts';
import { inChunks } from './statistics-queries.ts';

export function createTokenQueries(database: Database) {
  const change = (tokenId: string, columns: Partial<TokenRow>): Promise<Token | undefined> =>
    database.write(async (tx) => {
      if (Object.keys(columns).length > 0) {
        await tx.updateTable('tokens').set(columns).where('tokenId', '=', tokenId).execute();
      }
      return getToken(tx, tokenId);
    });

  return {
    listTokens: (accountId) =>
      database.read(async (db) => {
        const rows = await tokensWithAccounts(db)
          .where('tokens.tokenId', 'in', (own) =>
            own.selectFrom('tokenAccounts').select('tokenId').where('accountId', '=', accountId),
          )
          .execute();
        return toTokens(rows);
      }),

    listUnboundTokens: () =>
      database.read(async (db) =>
        toTokens(await tokensWithAccounts(db).where('bound.accountId', 'is', null).execute()),
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
        ...(expiresAt !== undefined && { expiresAt }),
      }),

    rotateToken: (tokenId, digest) => change(tokenId, { digest }),

    revokeToken: (tokenId) =>
      database.write(async (tx) => {
        await tx
          .updateTable('tokens')
          .set({ revokedAt: database.timestamp() })
          .where('tokenId', '=', tokenId)
          .where('revokedAt', 'is', null)
          .execute();
        return getToken(tx, tokenId);
      }),

    deleteToken: (tokenId) => database.write((tx) => deleteRows(tx, 'tokens', { tokenId })),

    noteTokensUsed: async (usedAtMs) => {
      for await (const used of inChunks([...usedAtMs], usesPerTransaction)) {
        await database.writeConcurrently((tx) => noteUsed(tx, used));
      }
    },
  } satisfies Partial<Directory & GrantSource>;
}

/** A change of a token, such as its revocation, waits for its row. */
const usesPerTransaction = 1_000;

async function noteUsed(tx: Tx, used: readonly (readonly [string, number])[]): Promise<void> {
  const rows = used.map(([tokenId, ms]) => sql`(${tokenId}, ${new Date(ms).toISOString()})`);
  // Another node may have written a later use.
  await sql`
    update tokens set last_used_at = used.column2
    from (values ${sql.join(rows)}) as used
    where token_id = used.column1
      and (last_used_at is null or last_used_at < used.column2)
  `.execute(tx);
}

/** @throws AppError `not_found` if one of its accounts, or its receiver, does not exist */
export async function insertToken(tx: Tx, token: NewToken, createdAt: string): Promise<Token> {
  for (const accountId of token.accountIds) await requireAccount(tx, accountId);
  if (token.receiverId !== null) await requireReceiver(tx, token.receiverId, token.accountIds);
  const { type, name, digest, accountIds, receiverId, expiresAt } = token;
  const row: TokenRow = {
    tokenId: createId('tok'),
    type,
    name,
    digest,
    receiverId,
    expiresAt,
    allAccounts: token.allAccounts ? 1 : 0,
    scopes: JSON.stringify(token.scopes),
    revokedAt: null,
    lastUsedAt: null,
    createdAt,
  };
  await tx.insertInto('tokens').values(row).execute();
  for (const accountId of accountIds) {
    await tx.insertInto('tokenAccounts').values({ tokenId: row.tokenId, accountId }).execute();
  }
  return toToken(row, [...accountIds]);
}

async function requireReceiver(
  tx: Tx,
  receiverId: string,
  accountIds: readonly string[],
): Promise<void> {
  const receiver = await findRow(tx, 'receivers', { receiverId });
  if (receiver && accountIds.includes(receiver.accountId)) return;
  throw new AppError('not_found', `cannot find receiver ${receiverId} in this account`);
}

async function getToken(db: Db, tokenId: string): Promise<Token | undefined> {
  const rows = await tokensWithAccounts(db).where('tokens.tokenId', '=', tokenId).execute();
  return toTokens(rows)[0];
}

/**
 * One row per token and account, read in one statement: between two statements a token could be
 * deleted, and would look like one without accounts.
 */
function tokensWithAccounts(db: Db) {
  return db
    .selectFrom('tokens')
    .leftJoin('tokenAccounts as bound', 'bound.tokenId', 'tokens.tokenId')
    .selectAll('tokens')
    .select('bound.accountId')
    .orderBy('createdAt')
    .orderBy('tokens.tokenId')
    .orderBy('bound.accountId');
}

function toTokens(rows: readonly (TokenRow & { accountId: string | null })[]): Token[] {
  const byId = Map.groupBy(rows, (row) => row.tokenId);
  return Array.from(byId.values(), (group) =>
    toToken(
      group[0] as TokenRow,
      group.flatMap((row) => row.accountId ?? []),
    ),
  );
}

function toToken(row: TokenRow & { accountId?: unknown }, accountIds: string[]): Token {
  const { digest: _digest, accountId: _accountId, allAccounts, scopes, ...same } = row;
  return {
    ...same,
    accountIds,
    allAccounts: allAccounts === 1,
    scopes: JSON.parse(scopes) as Scope[],
  };
}

function toGrant(token: Token): TokenGrant {
  const { tokenId, type, accountIds, allAccounts, receiverId, expiresAt, revokedAt } = token;
  return {
    tokenId,
    type,
    accountIds,
    allAccounts,
    receiverId,
    scopes: new Set(token.scopes),
    expiresAtMs: expiresAt === null ? null : Date.parse(expiresAt),
    revoked: revokedAt !== null,
  };
}
