/**
 * Sessions of the explorer, links that sign in to it, and tickets of exports, which all expire. The
 * directory stores digests of their ids only.
 */
import { sql } from 'kysely';
import { AppError } from '../model/errors.ts';
import { countRows, type Database, findRow } from './database.ts';
import type { SessionStore, TicketStore } from './port.ts';

const columns = ['digest', 'tokenDigest', 'owner'] as const;
/** Minimum time between two writes of one session's last use. */
const usedEveryMs = 60_000;

/** Concurrent writes: sessions are not cached, so that a sign-out holds on all nodes at once. */
export function createSessionQueries(database: Database): SessionStore & TicketStore {
  return { ...sessionQueries(database), ...linkQueries(database), ...ticketQueries(database) };
}

function sessionQueries(
  database: Database,
): Omit<SessionStore, 'keepSignInLink' | 'takeSignInLink'> {
  const { clockMs } = database;
  return {
    createSession: (session, { maxMs, idleMs, maxSessions }) =>
      database.writeConcurrently(async (tx) => {
        const expired = await tx
          .deleteFrom('sessions')
          .where((row) =>
            row.or([
              row('expiresAtMs', '<=', clockMs),
              row('usedAtMs', '<=', sql<number>`${clockMs} - ${idleMs}`),
            ]),
          )
          .returning(columns)
          .execute();
        const newest = tx
          .selectFrom('sessions')
          .select('digest')
          .where('owner', '=', session.owner)
          .orderBy('createdAtMs', 'desc')
          .limit(maxSessions - 1);
        const replaced = await tx
          .deleteFrom('sessions')
          .where('owner', '=', session.owner)
          .where('digest', 'not in', newest)
          .returning(columns)
          .execute();
        const expiresAtMs = sql<number>`${clockMs} + ${maxMs}`;
        await tx
          .insertInto('sessions')
          .values({ ...session, createdAtMs: clockMs, usedAtMs: clockMs, expiresAtMs })
          .execute();
        return [...expired, ...replaced];
      }),

    useSession: async (id, { idleMs }) => {
      const found = await database.read((db) =>
        db
          .selectFrom('sessions')
          .select([...columns, 'usedAtMs', clockMs.as('nowMs')])
          .where('digest', '=', id)
          .where('expiresAtMs', '>', clockMs)
          .where('usedAtMs', '>', sql<number>`${clockMs} - ${idleMs}`)
          .executeTakeFirst(),
      );
      if (found === undefined) return undefined;
      const { digest, tokenDigest, owner, usedAtMs, nowMs } = found;
      if (nowMs - usedAtMs >= usedEveryMs) {
        const used = database.writeConcurrently((tx) =>
          tx
            .updateTable('sessions')
            .set({ usedAtMs: clockMs })
            .where('digest', '=', digest)
            .execute(),
        );
        // With a full disk logs can still be read.
        await used.catch(ignoreUnavailable);
      }
      return { digest, tokenDigest, owner };
    },

    endSession: (digest) =>
      database.writeConcurrently((tx) =>
        tx.deleteFrom('sessions').where('digest', '=', digest).returning(columns).execute(),
      ),

    endSessionsOf: (owner) =>
      database.writeConcurrently((tx) =>
        tx.deleteFrom('sessions').where('owner', '=', owner).returning(columns).execute(),
      ),
  };
}

function linkQueries(database: Database): Pick<SessionStore, 'keepSignInLink' | 'takeSignInLink'> {
  const { clockMs } = database;
  return {
    keepSignInLink: (link, ttlMs) =>
      database.writeConcurrently(async (tx) => {
        await tx.deleteFrom('signInLinks').where('expiresAtMs', '<=', clockMs).execute();
        const values = { ...link, expiresAtMs: sql<number>`${clockMs} + ${ttlMs}` };
        const { digest, expiresAtMs } = values;
        await tx
          .insertInto('signInLinks')
          .values(values)
          .onConflict((conflict) =>
            conflict.column('tokenDigest').doUpdateSet({ digest, expiresAtMs }),
          )
          .execute();
      }),

    takeSignInLink: async (digest) => {
      if (!(await isKnown(database, 'signInLinks', digest))) return undefined;
      return database.writeConcurrently((tx) =>
        tx
          .deleteFrom('signInLinks')
          .where('digest', '=', digest)
          .where('expiresAtMs', '>', clockMs)
          .returning(['digest', 'tokenDigest'])
          .executeTakeFirst(),
      );
    },
  };
}

function ticketQueries(database: Database): TicketStore {
  const { clockMs } = database;
  return {
    keepTicket: (ticket, { ttlMs, maxTickets }) =>
      database.writeConcurrently(async (tx) => {
        await tx.deleteFrom('exportTickets').where('expiresAtMs', '<=', clockMs).execute();
        const count = await countRows(tx, 'exportTickets', ticket.accountId);
        if (count >= maxTickets) return undefined;
        const { expiresAtMs } = await tx
          .insertInto('exportTickets')
          .values({ ...ticket, expiresAtMs: sql<number>`${clockMs} + ${ttlMs}` })
          .returning('expiresAtMs')
          .executeTakeFirstOrThrow();
        return expiresAtMs;
      }),

    takeTicket: async (digest) => {
      if (!(await isKnown(database, 'exportTickets', digest))) return undefined;
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

/** Read before a write: a forged code then never waits for a writer or delays one. */
async function isKnown(
  database: Database,
  table: 'exportTickets' | 'signInLinks',
  digest: string,
): Promise<boolean> {
  return (await database.read((db) => findRow(db, table, { digest }))) !== undefined;
}

function ignoreUnavailable(error: unknown): void {
  if (!(error instanceof AppError) || error.code !== 'unavailable') throw error;
}
