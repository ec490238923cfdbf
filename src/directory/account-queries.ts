/** Accounts and their streams. */
import { randomUUID } from 'node:crypto';
import type { Account, Stream } from '../model/account.ts';
import { AppError } from '../model/errors.ts';
import { type Database, deleteRows, findRow, listRows, type Tx } from './database.ts';
import type { Directory } from './port.ts';

export function createAccountQueries(database: Database) {
  return {
    listAccounts: () =>
      database.read((db) => listRows(db, 'accounts', { orderBy: ['createdAt', 'accountId'] })),

    getAccount: (accountId) => database.read((db) => findRow(db, 'accounts', { accountId })),

    createAccount: ({ name, eventsPerSecond }) =>
      database.write(async (tx) => {
        const createdAt = database.timestamp();
        const account: Account = { accountId: randomUUID(), name, eventsPerSecond, createdAt };
        await tx.insertInto('accounts').values(account).execute();
        return account;
      }),

    updateAccount: (accountId, { name, eventsPerSecond }) =>
      database.write((tx) =>
        tx
          .updateTable('accounts')
          .set((column) => ({ name: name ?? column.ref('name'), eventsPerSecond }))
          .where('accountId', '=', accountId)
          .returningAll()
          .executeTakeFirst(),
      ),

    deleteAccount: (accountId) => database.write((tx) => deleteAccount(tx, accountId)),

    listStreams: (accountId) =>
      database.read((db) =>
        listRows(db, 'streams', { where: { accountId }, orderBy: ['createdAt', 'streamId'] }),
      ),

    listAllStreams: () => database.read((db) => listRows(db, 'streams', {})),

    getStream: (streamId) => database.read((db) => findRow(db, 'streams', { streamId })),

    createStream: ({ downsampling = null, ...given }) =>
      database.write(async (tx) => {
        await requireAccount(tx, given.accountId);
        const times = { dataDeletedUntil: null, createdAt: database.timestamp() };
        const stream: Stream = { streamId: randomUUID(), ...given, downsampling, ...times };
        await tx.insertInto('streams').values(stream).execute();
        return stream;
      }),

    updateStream: (streamId, { name, retentionDays, downsampling, dataDeletedUntil: until }) =>
      database.write((tx) =>
        tx
          .updateTable('streams')
          .set((column) => ({
            name: name ?? column.ref('name'),
            retentionDays,
            downsampling,
            dataDeletedUntil:
              until &&
              column
                .case()
                .when('dataDeletedUntil', '>', until)
                .then(column.ref('dataDeletedUntil'))
                .else(until)
                .end(),
          }))
          .where('streamId', '=', streamId)
          .returningAll()
          .executeTakeFirst(),
      ),

    deleteStream: (streamId) =>
      database.write((tx) => deleteStream(tx, streamId, database.timestamp())),

    listDeletedStreams: () =>
      database.read((db) =>
        db.selectFrom('deletedStreams').select(['streamId', 'accountId']).execute(),
      ),
  } satisfies Partial<Directory>;
}

/** @throws AppError `not_found` */
export async function requireAccount(tx: Tx, accountId: string): Promise<void> {
  if (await findRow(tx, 'accounts', { accountId })) return;
  throw new AppError('not_found', `cannot find account ${accountId}`);
}

/** @throws AppError `not_found` */
export async function requireStream(tx: Tx, accountId: string, streamId: string): Promise<void> {
  if (await findRow(tx, 'streams', { streamId, accountId })) return;
  throw new AppError('not_found', `cannot find stream ${streamId} in this account`);
}

async function deleteAccount(tx: Tx, accountId: string): Promise<boolean> {
  for (const table of ['receivers', 'streams'] as const) {
    if (!(await findRow(tx, table, { accountId }))) continue;
    throw new AppError(
      'conflict',
      `cannot delete account ${accountId}: it still has ${table}; delete them first`,
    );
  }
  await deleteTokensOfOnly(tx, accountId);
  await deleteRows(tx, 'tokenAccounts', { accountId });
  return deleteRows(tx, 'accounts', { accountId });
}

/** In one statement, however many there are: all other changes wait for it. */
async function deleteTokensOfOnly(tx: Tx, accountId: string): Promise<void> {
  const bound = tx.selectFrom('tokenAccounts').select('tokenId');
  await tx
    .deleteFrom('tokens')
    .where('tokenId', 'in', bound.where('accountId', '=', accountId))
    .where('tokenId', 'not in', bound.where('accountId', '!=', accountId))
    .where('scopes', 'not like', '%"operator"%')
    .execute();
}

/** For longer than a queue holds batches. */
const deletedStreamsKeptMs = 365 * 86_400_000;

async function deleteStream(tx: Tx, streamId: string, deletedAt: string): Promise<boolean> {
  const receiver = await findRow(tx, 'receivers', { streamId });
  if (receiver) {
    throw new AppError(
      'conflict',
      `cannot delete stream ${streamId}: receiver ${receiver.receiverId} feeds it; ` +
        'delete the receiver or give it another stream first',
    );
  }
  const stream = await findRow(tx, 'streams', { streamId });
  if (!stream) return false;
  const keptFrom = new Date(Date.parse(deletedAt) - deletedStreamsKeptMs).toISOString();
  await tx.deleteFrom('deletedStreams').where('deletedAt', '<', keptFrom).execute();
  const { accountId } = stream;
  await tx.insertInto('deletedStreams').values({ streamId, accountId, deletedAt }).execute();
  return deleteRows(tx, 'streams', { streamId });
}
