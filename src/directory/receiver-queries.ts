/** Receivers in the directory's database. */
import type { Receiver } from '../model/account.ts';
import type { TransformStep } from '../model/transform.ts';
import { createId } from '../std/random-id.ts';
import { requireStream } from './account-queries.ts';
import {
  type Database,
  deleteRows,
  findRow,
  listRows,
  type ReceiverRow,
  type Tx,
} from './database.ts';
import type { Directory, GrantSource, ReceiverChange } from './port.ts';

export function createReceiverQueries(database: Database) {
  return {
    listReceivers: (accountId) =>
      database.read(async (db) => {
        const orderBy = ['createdAt', 'receiverId'] as const;
        const rows = await listRows(db, 'receivers', { where: { accountId }, orderBy });
        return rows.map(toReceiver);
      }),

    getReceiver: (receiverId) =>
      database.read(async (db) => {
        const row = await findRow(db, 'receivers', { receiverId });
        return row && toReceiver(row);
      }),

    findReceiver: (receiverId) =>
      database.read(async (db) => {
        const found = await db
          .selectFrom('receivers')
          .innerJoin('accounts', 'accounts.accountId', 'receivers.accountId')
          .selectAll('receivers')
          .select('accounts.eventsPerSecond as accountEventsPerSecond')
          .where('receiverId', '=', receiverId)
          .executeTakeFirst();
        if (!found) return undefined;
        const { accountEventsPerSecond, ...row } = found;
        return { receiver: toReceiver(row), accountEventsPerSecond };
      }),

    createReceiver: (given) =>
      database.write(async (tx) => {
        await requireStream(tx, given.accountId, given.streamId);
        const createdAt = database.timestamp();
        const receiver: Receiver = { ...given, receiverId: createId('rcv'), createdAt };
        await insertReceiver(tx, receiver);
        return receiver;
      }),

    updateReceiver: (receiverId, change) =>
      database.write((tx) => updateReceiver(tx, receiverId, change)),

    deleteReceiver: (receiverId) =>
      database.write(async (tx) => {
        await tx
          .updateTable('tokens')
          .set({ revokedAt: database.timestamp() })
          .where('receiverId', '=', receiverId)
          .where('revokedAt', 'is', null)
          .execute();
        return deleteRows(tx, 'receivers', { receiverId });
      }),
  } satisfies Partial<Directory & GrantSource>;
}

export async function insertReceiver(tx: Tx, receiver: Receiver): Promise<void> {
  await tx.insertInto('receivers').values(toRow(receiver)).execute();
}

async function updateReceiver(
  tx: Tx,
  receiverId: string,
  change: ReceiverChange,
): Promise<Receiver | undefined> {
  const row = await findRow(tx, 'receivers', { receiverId });
  if (!row) return undefined;
  if (change.streamId) await requireStream(tx, row.accountId, change.streamId);
  const before = toReceiver(row);
  const after = { ...before, ...change, limits: { ...before.limits, ...change.limits } };
  await tx
    .updateTable('receivers')
    .set(toRow(after))
    .where('receiverId', '=', receiverId)
    .execute();
  return after;
}

function toRow({ limits, active, allowedCidrs, transform, ...same }: Receiver): ReceiverRow {
  return {
    ...same,
    ...limits,
    active: active ? 1 : 0,
    allowedCidrs: JSON.stringify(allowedCidrs),
    transform: transform.length === 0 ? null : JSON.stringify(transform),
  };
}

function toReceiver(row: ReceiverRow): Receiver {
  const { active, allowedCidrs, transform, ...rest } = row;
  const { eventsPerSecond, burstEvents, maxBodyBytes, ...same } = rest;
  return {
    ...same,
    active: active === 1,
    allowedCidrs: JSON.parse(allowedCidrs) as string[],
    limits: { eventsPerSecond, burstEvents, maxBodyBytes },
    transform: transform === null ? [] : (JSON.parse(transform) as TransformStep[]),
  };
}
