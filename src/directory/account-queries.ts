/** Accounts in the directory's database. */
import { randomUUID } from 'node:crypto';
import type { Transaction } from 'kysely';
import type { Account, Scope } from '../model/account.ts';
import { AppError } from '../model/errors.ts';
import type { Database } from './database.ts';
import type { Directory } from './port.ts';
import type { AccountRow, Tables } from './tables.ts';

type AccountQueries = Pick<
  Directory,
  'listAccounts' | 'getAccount' | 'createAccount' | 'updateAccount' | 'deleteAccount'
>;

export function createAccountQueries(database: Database): AccountQueries {
  return {
    listAccounts: () =>
      database.read(async (db) => {
        const rows = await db
          .selectFrom('accounts')
          .selectAll()
          .orderBy('created_at')
          .orderBy('account_id')
          .execute();
        return rows.map(toAccount);
      }),

    getAccount: (accountId) =>
      database.read(async (db) => {
        const row = await db
          .selectFrom('accounts')
          .selectAll()
          .where('account_id', '=', accountId)
          .executeTakeFirst();
        return row && toAccount(row);
      }),

    createAccount: (account) =>
      database.write(async (tx) => {
        const row: AccountRow = {
          account_id: randomUUID(),
          name: account.name,
          events_per_second: account.eventsPerSecond,
          created_at: database.timestamp(),
        };
        await tx.insertInto('accounts').values(row).execute();
        return toAccount(row);
      }),

    updateAccount: (accountId, change) =>
      database.write(async (tx) => {
        const row = await tx
          .updateTable('accounts')
          .set((column) => ({
            name: change.name ?? column.ref('name'),
            ...(change.eventsPerSecond !== undefined && {
              events_per_second: change.eventsPerSecond,
            }),
          }))
          .where('account_id', '=', accountId)
          .returningAll()
          .executeTakeFirst();
        return row && toAccount(row);
      }),

    deleteAccount: (accountId) => database.write((tx) => deleteAccount(tx, accountId)),
  };
}

/** @throws AppError `not_found` */
export async function requireAccount(tx: Transaction<Tables>, accountId: string): Promise<void> {
  const row = await tx
    .selectFrom('accounts')
    .select('account_id')
    .where('account_id', '=', accountId)
    .executeTakeFirst();
  if (!row) throw new AppError('not_found', `cannot find account ${accountId}`);
}

async function deleteAccount(tx: Transaction<Tables>, accountId: string): Promise<boolean> {
  for (const table of ['receivers', 'streams'] as const) {
    const row = await tx
      .selectFrom(table)
      .select('account_id')
      .where('account_id', '=', accountId)
      .executeTakeFirst();
    if (!row) continue;
    throw new AppError(
      'conflict',
      `cannot delete account ${accountId}: it still has ${table}; delete them first`,
    );
  }
  const tokens = await tx
    .selectFrom('tokens')
    .innerJoin('token_accounts as own', 'own.token_id', 'tokens.token_id')
    .select(['tokens.token_id', 'tokens.scopes'])
    .where('own.account_id', '=', accountId)
    .execute();
  await tx.deleteFrom('token_accounts').where('account_id', '=', accountId).execute();
  for (const token of tokens) {
    const scopes = JSON.parse(token.scopes) as Scope[];
    if (!scopes.includes('operator')) await deleteIfUnbound(tx, token.token_id);
  }
  const deleted = await tx
    .deleteFrom('accounts')
    .where('account_id', '=', accountId)
    .executeTakeFirst();
  return deleted.numDeletedRows > 0n;
}

async function deleteIfUnbound(tx: Transaction<Tables>, tokenId: string): Promise<void> {
  await tx
    .deleteFrom('tokens')
    .where('token_id', '=', tokenId)
    .where('token_id', 'not in', (rest) => rest.selectFrom('token_accounts').select('token_id'))
    .execute();
}

function toAccount(row: AccountRow): Account {
  return {
    accountId: row.account_id,
    name: row.name,
    eventsPerSecond: row.events_per_second,
    createdAt: row.created_at,
  };
}
