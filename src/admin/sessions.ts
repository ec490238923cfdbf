/** Sessions of the explorer: a signed-in browser acts with a token that it does not keep. */
import { digestSecret } from '../codec/token-secret.ts';
import type { Session, SessionLimits, SessionStore } from '../directory/port.ts';
import { AppError } from '../model/errors.ts';
import { randomBase32 } from '../std/random-id.ts';

const maxSessions = 100;

export type Sessions = ReturnType<typeof createSessions>;

/** All functions throw AppError `unavailable`. */
export function createSessions(
  store: SessionStore,
  { maxMs, idleMs }: Pick<SessionLimits, 'maxMs' | 'idleMs'>,
) {
  const use = (id: string) => store.useSession(digestSecret(id), { idleMs });
  return {
    maxMs,
    /** @returns the new session's id, 260 random bits. */
    async begin(tokenDigest: string): Promise<string> {
      const id = randomBase32(52);
      const session = { digest: digestSecret(id), tokenDigest, owner: tokenDigest };
      await store.createSession(session, { maxMs, idleMs, maxSessions });
      return id;
    },
    /** Undefined when it is unknown, ended or expired. Does not check its token. */
    find: use,
    /** @throws AppError `unauthenticated` when it is unknown, ended or expired */
    async require(id: string): Promise<Session> {
      const session = await use(id);
      if (session !== undefined) return session;
      throw new AppError('unauthenticated', 'this session was ended or has expired: sign in again');
    },
    end: (id: string): Promise<void> => store.endSession(digestSecret(id)),
    /** Ends this session and all others of its owner. */
    endAll: ({ owner }: Session): Promise<void> => store.endSessionsOf(owner),
  };
}
