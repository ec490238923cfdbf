/** Streams in the directory's database. */
import { randomUUID } from 'node:crypto';
import type { Transaction } from 'kysely';
import type { Stream } from '../model/account.ts';
import { AppError } from '../model/errors.ts';
import { requireAccount } from './account-queries.ts';
import type { Database } from './database.ts';
import type { Directory } from './port.ts';
import type { StreamRow, Tables } from './tables.ts';

type StreamQueries = Pick<
  Directory,
  'listStreams' | 'listAllStreams' | 'getStream' | 'createStream' | 'updateStream' | 'deleteStream'
>;

export function createStreamQueries(database: Database): StreamQueries {
  return {
    listStreams: (accountId) =>
      database.read(async (db) => {
        const rows = await db
          .selectFrom('streams')
          .selectAll()
          .where('account_id', '=', accountId)
          .orderBy('created_at')
          .orderBy('stream_id')
          .execute();
        return rows.map(toStream);
      }),

    listAllStreams: () =>
      database.read(async (db) =>
        (await db.selectFrom('streams').selectAll().execute()).map(toStream),
      ),

    getStream: (streamId) =>
      database.read(async (db) => {
        const row = await db
          .selectFrom('streams')
          .selectAll()
          .where('stream_id', '=', streamId)
          .executeTakeFirst();
        return row && toStream(row);
      }),

    createStream: (stream) =>
      database.write(async (tx) => {
        await requireAccount(tx, stream.accountId);
        const row: StreamRow = {
          stream_id: randomUUID(),
          account_id: stream.accountId,
          name: stream.name,
          retention_days: stream.retentionDays,
          data_deleted_until: null,
          created_at: database.timestamp(),
        };
        await tx.insertInto('streams').values(row).execute();
        return toStream(row);
      }),

    updateStream: (streamId, change) =>
      database.write(async (tx) => {
        const row = await tx
          .updateTable('streams')
          .set((column) => ({
            name: change.name ?? column.ref('name'),
            ...(change.retentionDays !== undefined && { retention_days: change.retentionDays }),
            ...(change.dataDeletedUntil !== undefined && {
              data_deleted_until: column
                .case()
                .when('data_deleted_until', '>', change.dataDeletedUntil)
                .then(column.ref('data_deleted_until'))
                .else(change.dataDeletedUntil)
                .end(),
            }),
          }))
          .where('stream_id', '=', streamId)
          .returningAll()
          .executeTakeFirst();
        return row && toStream(row);
      }),

    deleteStream: (streamId) => database.write((tx) => deleteStream(tx, streamId)),
  };
}

/** @throws AppError `not_found` where the account has no such stream */
export async function requireStream(
  tx: Transaction<Tables>,
  accountId: string,
  streamId: string,
): Promise<void> {
  const row = await tx
    .selectFrom('streams')
    .select('stream_id')
    .where('stream_id', '=', streamId)
    .where('account_id', '=', accountId)
    .executeTakeFirst();
  if (!row) throw new AppError('not_found', `cannot find stream ${streamId} in this account`);
}

async function deleteStream(tx: Transaction<Tables>, streamId: string): Promise<boolean> {
  const receiver = await tx
    .selectFrom('receivers')
    .select('receiver_id')
    .where('stream_id', '=', streamId)
    .executeTakeFirst();
  if (receiver) {
    throw new AppError(
      'conflict',
      `cannot delete stream ${streamId}: receiver ${receiver.receiver_id} feeds it; ` +
        'delete the receiver or give it another stream first',
    );
  }
  const deleted = await tx
    .deleteFrom('streams')
    .where('stream_id', '=', streamId)
    .executeTakeFirst();
  return deleted.numDeletedRows > 0n;
}

function toStream(row: StreamRow): Stream {
  return {
    streamId: row.stream_id,
    accountId: row.account_id,
    name: row.name,
    retentionDays: row.retention_days,
    dataDeletedUntil: row.data_deleted_until,
    createdAt: row.created_at,
  };
}
