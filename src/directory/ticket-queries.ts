/** Tickets of exports in the directory's database. Only their digests come here. */
import { sql, type Transaction } from 'kysely';
import type { Database } from './database.ts';
import type { TakenTicket, TicketStore } from './port.ts';
import type { ExportTicketRow, Tables } from './tables.ts';

/** Beside the turns of other writers: no grant depends on a ticket, so nobody has to be told. */
export function createTicketQueries(database: Database): TicketStore {
  const { clockMs } = database;
  return {
    keepTicket: ({ digest, accountId, tokenDigest, query }, { ttlMs, maxTickets }) =>
      database.writeBeside(async (tx) => {
        await tx.deleteFrom('export_tickets').where('expires_at_ms', '<=', clockMs).execute();
        if ((await countOf(tx, accountId)) >= maxTickets) return undefined;
        const { expires_at_ms } = await tx
          .insertInto('export_tickets')
          .values({
            digest,
            account_id: accountId,
            token_digest: tokenDigest,
            query,
            expires_at_ms: sql<number>`${clockMs} + ${ttlMs}`,
          })
          .returning('expires_at_ms')
          .executeTakeFirstOrThrow();
        return expires_at_ms;
      }),

    takeTicket: async (digest) => {
      // Whoever makes tickets up holds no writer up.
      const known = await database.read((db) =>
        db
          .selectFrom('export_tickets')
          .select('digest')
          .where('digest', '=', digest)
          .executeTakeFirst(),
      );
      if (!known) return undefined;
      return database.writeBeside(async (tx) => {
        const row = await tx
          .deleteFrom('export_tickets')
          .where('digest', '=', digest)
          .where('expires_at_ms', '>', clockMs)
          .returningAll()
          .executeTakeFirst();
        return row && toTicket(row);
      });
    },

    returnTicket: ({ digest, accountId, tokenDigest, query, expiresAtMs }) =>
      database.writeBeside(async (tx) => {
        const row: ExportTicketRow = {
          digest,
          account_id: accountId,
          token_digest: tokenDigest,
          query,
          expires_at_ms: expiresAtMs,
        };
        await tx
          .insertInto('export_tickets')
          .values(row)
          .onConflict((conflict) => conflict.doNothing())
          .execute();
      }),
  };
}

async function countOf(tx: Transaction<Tables>, accountId: string): Promise<number> {
  const { count } = await tx
    .selectFrom('export_tickets')
    .select((select) => select.fn.countAll().as('count'))
    .where('account_id', '=', accountId)
    .executeTakeFirstOrThrow();
  return Number(count);
}

function toTicket(row: ExportTicketRow): TakenTicket {
  return {
    digest: row.digest,
    accountId: row.account_id,
    tokenDigest: row.token_digest,
    query: row.query,
    expiresAtMs: row.expires_at_ms,
  };
}
