/** Receivers in the directory's database. */
import type { Transaction } from 'kysely';
import type { Receiver } from '../model/account.ts';
import { createId } from '../std/random-id.ts';
import type { Database } from './database.ts';
import type { Directory, GrantSource, ReceiverChange } from './port.ts';
import { requireStream } from './stream-queries.ts';
import type { ReceiverRow, Tables } from './tables.ts';

type ReceiverQueries = Pick<
  Directory & GrantSource,
  | 'listReceivers'
  | 'getReceiver'
  | 'createReceiver'
  | 'updateReceiver'
  | 'deleteReceiver'
  | 'findReceiver'
>;

export function createReceiverQueries(database: Database): ReceiverQueries {
  return {
    listReceivers: (accountId) =>
      database.read(async (db) => {
        const rows = await db
          .selectFrom('receivers')
          .selectAll()
          .where('account_id', '=', accountId)
          .orderBy('created_at')
          .orderBy('receiver_id')
          .execute();
        return rows.map(toReceiver);
      }),

    getReceiver: (receiverId) =>
      database.read(async (db) => {
        const row = await db
          .selectFrom('receivers')
          .selectAll()
          .where('receiver_id', '=', receiverId)
          .executeTakeFirst();
        return row && toReceiver(row);
      }),

    findReceiver: (receiverId) =>
      database.read(async (db) => {
        const row = await db
          .selectFrom('receivers')
          .innerJoin('accounts', 'accounts.account_id', 'receivers.account_id')
          .selectAll('receivers')
          .select('accounts.events_per_second as account_events_per_second')
          .where('receiver_id', '=', receiverId)
          .executeTakeFirst();
        if (!row) return undefined;
        return {
          receiver: toReceiver(row),
          accountEventsPerSecond: row.account_events_per_second,
        };
      }),

    createReceiver: (receiver) =>
      database.write(async (tx) => {
        await requireStream(tx, receiver.accountId, receiver.streamId);
        const row = toRow(receiver, createId('rcv'), database.timestamp());
        await tx.insertInto('receivers').values(row).execute();
        return toReceiver(row);
      }),

    updateReceiver: (receiverId, change) =>
      database.write((tx) => updateReceiver(tx, receiverId, change)),

    deleteReceiver: (receiverId) =>
      database.write((tx) => deleteReceiver(tx, receiverId, database.timestamp())),
  };
}

async function updateReceiver(
  tx: Transaction<Tables>,
  receiverId: string,
  change: ReceiverChange,
): Promise<Receiver | undefined> {
  const row = await tx
    .selectFrom('receivers')
    .selectAll()
    .where('receiver_id', '=', receiverId)
    .executeTakeFirst();
  if (!row) return undefined;
  if (change.streamId) await requireStream(tx, row.account_id, change.streamId);
  const changed = toRow(applied(toReceiver(row), change), receiverId, row.created_at);
  await tx.updateTable('receivers').set(changed).where('receiver_id', '=', receiverId).execute();
  return toReceiver(changed);
}

async function deleteReceiver(
  tx: Transaction<Tables>,
  receiverId: string,
  revokedAt: string,
): Promise<boolean> {
  await tx
    .updateTable('tokens')
    .set({ revoked_at: revokedAt })
    .where('receiver_id', '=', receiverId)
    .where('revoked_at', 'is', null)
    .execute();
  const deleted = await tx
    .deleteFrom('receivers')
    .where('receiver_id', '=', receiverId)
    .executeTakeFirst();
  return deleted.numDeletedRows > 0n;
}

function applied(receiver: Receiver, change: ReceiverChange): Receiver {
  return { ...receiver, ...change, limits: { ...receiver.limits, ...change.limits } };
}

export function toRow(
  receiver: Omit<Receiver, 'receiverId' | 'createdAt'>,
  receiverId: string,
  createdAt: string,
): ReceiverRow {
  return {
    receiver_id: receiverId,
    account_id: receiver.accountId,
    stream_id: receiver.streamId,
    name: receiver.name,
    kind: receiver.kind,
    active: receiver.active ? 1 : 0,
    allowed_cidrs: JSON.stringify(receiver.allowedCidrs),
    events_per_second: receiver.limits.eventsPerSecond,
    burst_events: receiver.limits.burstEvents,
    max_body_bytes: receiver.limits.maxBodyBytes,
    created_at: createdAt,
  };
}

function toReceiver(row: ReceiverRow): Receiver {
  return {
    receiverId: row.receiver_id,
    accountId: row.account_id,
    streamId: row.stream_id,
    name: row.name,
    kind: row.kind,
    active: row.active === 1,
    allowedCidrs: JSON.parse(row.allowed_cidrs) as string[],
    limits: {
      eventsPerSecond: row.events_per_second,
      burstEvents: row.burst_events,
      maxBodyBytes: row.max_body_bytes,
    },
    createdAt: row.created_at,
  };
}
