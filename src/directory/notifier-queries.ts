/** Destinations of alerts in the directory's database. */
import { randomUUID } from 'node:crypto';
import { AppError } from '../model/errors.ts';
import { requireAccount } from './account-queries.ts';
import { countRows, type Database, deleteRows, listRows } from './database.ts';
import type { NotifierStore } from './port.ts';

export function createNotifierQueries(database: Database): NotifierStore {
  return {
    listNotifiers: (accountId) =>
      database.read((db) => listRows(db, 'notifiers', { where: { accountId }, orderBy: ['name'] })),

    createNotifier: (notifier, maxNotifiers) =>
      database.write(async (tx) => {
        await requireAccount(tx, notifier.accountId);
        if ((await countRows(tx, 'notifiers', notifier.accountId)) >= maxNotifiers) {
          throw new AppError(
            'conflict',
            `cannot create another notifier: the account has the maximum of ${maxNotifiers}; ` +
              'delete one first',
          );
        }
        const createdAt = database.timestamp();
        const undelivered = { lastSuccessAt: null, lastFailureAt: null, lastFailure: null };
        const created = { ...notifier, notifierId: randomUUID(), createdAt, ...undelivered };
        await tx.insertInto('notifiers').values(created).execute();
        return created;
      }),

    noteDeliveries: (notifierId, deliveries) =>
      database.writeConcurrently(async (tx) => {
        await tx
          .updateTable('notifiers')
          .set(deliveries)
          .where('notifierId', '=', notifierId)
          .execute();
      }),

    deleteNotifier: (accountId, notifierId) =>
      database.write((tx) => deleteRows(tx, 'notifiers', { accountId, notifierId })),
  };
}
