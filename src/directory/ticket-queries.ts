/** Tickets of exports. The directory stores their digests only. */
import { sql, type Transaction } from 'kysely';
import type { Database, Tables } from './database.ts';
import type { TicketStore } from './port.ts';

/** Concurrent writes: no grant depends on a ticket, so no cache has to be invalidated. */
export function createTicketQueries(database: Database): TicketStore {
  const { clockMs } = database;
  return {
    keepTicket: (ticket, { ttlMs, maxTickets }) =>
      database.writeConcurrently(async (tx) => {
        await tx.deleteFrom('exportTickets').where('expiresAtMs', '<=', clockMs).execute();
        if ((await countTickets(tx, ticket.accountId)) >= maxTickets) return undefined;
        const { expiresAtMs } = await tx
          .insertInto('exportTickets')
          .values({ ...ticket, expiresAtMs: sql<number>`${clockMs} + ${ttlMs}` })
          .returning('expiresAtMs')
          .executeTakeFirstOrThrow();
        return expiresAtMs;
      }),

    takeTicket: async (digest) => {
      // Reads first: a forged ticket then never waits for a writer or delays one.
      const known = await database.read((db) =>
        db
          .selectFrom('exportTickets')
          .select('digest')
          .where('digest', '=', digest)
          .executeTakeFirst(),
      );
      if (!known) return undefined;
      return database.writeConcurrently((tx) =>
        tx
          .deleteFrom('exportTickets')
          .where('digest', '=', digest)
          .where('expiresAtMs', '>', clockMs)
          .returningAll()
          .executeTakeFirst(),
      );
    },

    returnTicket: (ticket) =>
      database.writeConcurrently(async (tx) => {
        await tx
          .insertInto('exportTickets')
          .values(ticket)
          .onConflict((conflict) => conflict.doNothing())
          .execute();
      }),
  };
}

async function countTickets(tx: Transaction<Tables>, accountId: string): Promise<number> {
  const { count } = await tx
    .selectFrom('exportTickets')
    .select((select) => select.fn.countAll<number>().as('count'))
    .where('accountId', '=', accountId)
    .executeTakeFirstOrThrow();
  return count;
}
