/** Sessions of the explorer. The directory stores digests of their ids only. */
import { sql } from 'kysely';
import { AppError } from '../model/errors.ts';
import type { Database } from './database.ts';
import type { SessionStore } from './port.ts';

const columns = ['digest', 'tokenDigest', 'owner'] as const;
/** Minimum time between two writes of one session's last use. */
const usedEveryMs = 60_000;

/** Concurrent writes: sessions are not cached, so that a sign-out holds on all nodes at once. */
export function createSessionQueries(database: Database): SessionStore {
  return { ...sessionQueries(database), ...linkQueries(database) };
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
      // Reads first: a forged code then never waits for a writer or delays one.
      const known = await database.read((db) =>
        db
          .selectFrom('signInLinks')
          .select('digest')
          .where('digest', '=', digest)
          .executeTakeFirst(),
      );
      if (!known) return undefined;
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

function ignoreUnavailable(error: unknown): void {
  if (!(error instanceof AppError) || error.code !== 'unavailable') throw error;
}
