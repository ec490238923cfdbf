/** Saved views in the directory's database. */
import { randomUUID } from 'node:crypto';
import type { Transaction } from 'kysely';
import type { View } from '../model/account.ts';
import { AppError } from '../model/errors.ts';
import { requireAccount } from './account-queries.ts';
import type { Database } from './database.ts';
import type { ViewStore } from './port.ts';
import type { Tables, ViewRow } from './tables.ts';

export function createViewQueries(database: Database): ViewStore {
  return {
    listViews: (accountId) =>
      database.read(async (db) => {
        const rows = await db
          .selectFrom('views')
          .selectAll()
          .where('account_id', '=', accountId)
          .orderBy('name')
          .execute();
        return rows.map(toView);
      }),

    getView: (viewId) =>
      database.read(async (db) => {
        const row = await db
          .selectFrom('views')
          .selectAll()
          .where('view_id', '=', viewId)
          .executeTakeFirst();
        return row && toView(row);
      }),

    createView: (view, maxViews) =>
      database.write(async (tx) => {
        await requireAccount(tx, view.accountId);
        await checkRoom(tx, view.accountId, maxViews);
        await checkNameFree(tx, view);
        const now = database.timestamp();
        const row: ViewRow = {
          view_id: randomUUID(),
          account_id: view.accountId,
          name: view.name,
          query: view.query,
          created_at: now,
          updated_at: now,
        };
        await tx.insertInto('views').values(row).execute();
        return toView(row);
      }),

    updateView: (viewId, change) =>
      database.write(async (tx) => {
        const row = await tx
          .selectFrom('views')
          .selectAll()
          .where('view_id', '=', viewId)
          .executeTakeFirst();
        if (!row) return undefined;
        const changed = { ...toView(row), ...change };
        await checkNameFree(tx, changed);
        const columns = {
          name: changed.name,
          query: changed.query,
          updated_at: database.timestamp(),
        };
        await tx.updateTable('views').set(columns).where('view_id', '=', viewId).execute();
        return toView({ ...row, ...columns });
      }),

    deleteView: (viewId) =>
      database.write(async (tx) => {
        const deleted = await tx
          .deleteFrom('views')
          .where('view_id', '=', viewId)
          .executeTakeFirst();
        return deleted.numDeletedRows > 0n;
      }),
  };
}

async function checkRoom(
  tx: Transaction<Tables>,
  accountId: string,
  maxViews: number,
): Promise<void> {
  const { count } = await tx
    .selectFrom('views')
    .select((select) => select.fn.countAll().as('count'))
    .where('account_id', '=', accountId)
    .executeTakeFirstOrThrow();
  if (Number(count) < maxViews) return;
  throw new AppError(
    'conflict',
    `cannot save another view: the account has ${maxViews}, which is the most; delete one first`,
  );
}

/** Words that name the view: the constraint alone would only say that something is wrong. */
async function checkNameFree(
  tx: Transaction<Tables>,
  { accountId, name, viewId = '' }: Pick<View, 'accountId' | 'name'> & { viewId?: string },
): Promise<void> {
  const row = await tx
    .selectFrom('views')
    .select('view_id')
    .where('account_id', '=', accountId)
    .where('name', '=', name)
    .where('view_id', '!=', viewId)
    .executeTakeFirst();
  if (!row) return;
  throw new AppError(
    'conflict',
    `cannot call the view ${JSON.stringify(name)}: view ${row.view_id} of this account has that ` +
      'name; choose another, or change that one',
    { parameter: 'name' },
  );
}

function toView(row: ViewRow): View {
  return {
    viewId: row.view_id,
    accountId: row.account_id,
    name: row.name,
    query: row.query,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
