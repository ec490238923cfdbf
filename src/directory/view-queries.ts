/** Saved views in the directory's database. */
import { randomUUID } from 'node:crypto';
import type { View } from '../model/account.ts';
import { AppError } from '../model/errors.ts';
import { requireAccount } from './account-queries.ts';
import { countRows, type Database, deleteRows, findRow, listRows, type Tx } from './database.ts';
import type { ViewStore } from './port.ts';

export function createViewQueries(database: Database): ViewStore {
  return {
    listViews: (accountId) =>
      database.read((db) => listRows(db, 'views', { where: { accountId }, orderBy: ['name'] })),

    getView: (viewId) => database.read((db) => findRow(db, 'views', { viewId })),

    createView: ({ accountId, name, query }, maxViews) =>
      database.write(async (tx) => {
        await requireAccount(tx, accountId);
        if ((await countRows(tx, 'views', accountId)) >= maxViews) {
          throw new AppError(
            'conflict',
            `cannot save another view: the account has the maximum of ${maxViews}; ` +
              'delete one first',
          );
        }
        const now = database.timestamp();
        const times = { createdAt: now, updatedAt: now };
        const view: View = { viewId: randomUUID(), accountId, name, query, ...times };
        await checkNameFree(tx, view);
        await tx.insertInto('views').values(view).execute();
        return view;
      }),

    updateView: (viewId, { name, query }) =>
      database.write(async (tx) => {
        const view = await tx
          .updateTable('views')
          .set({ query, updatedAt: database.timestamp() })
          .where('viewId', '=', viewId)
          .returningAll()
          .executeTakeFirst();
        if (!view || name === undefined) return view;
        const renamed = { ...view, name };
        await checkNameFree(tx, renamed);
        await tx.updateTable('views').set({ name }).where('viewId', '=', viewId).execute();
        return renamed;
      }),

    deleteView: (viewId) => database.write((tx) => deleteRows(tx, 'views', { viewId })),
  };
}

/** Checked before the constraint fails, for a message that names the other view. */
async function checkNameFree(tx: Tx, { accountId, name, viewId }: View): Promise<void> {
  const row = await findRow(tx, 'views', { accountId, name });
  if (!row || row.viewId === viewId) return;
  throw new AppError(
    'conflict',
    `cannot call the view ${JSON.stringify(name)}: view ${row.viewId} of this account has that ` +
      'name; choose another, or change that one',
    { parameter: 'name' },
  );
}
