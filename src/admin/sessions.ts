/** Sessions of the explorer: a signed-in browser acts with a token that it does not keep. */
import { digestSecret } from '../codec/token-secret.ts';
import type {
  Directory,
  GrantSource,
  Session,
  SessionLimits,
  SessionStore,
} from '../directory/port.ts';
import { AppError } from '../model/errors.ts';
import { randomBase32 } from '../std/random-id.ts';

const maxSessions = 100;
const linkMs = 10 * 60_000;
const linkPrefix = 'wrl_';

export type Sessions = ReturnType<typeof createSessions>;

/** All functions throw AppError `unavailable`. */
export function createSessions(
  store: SessionStore & Pick<GrantSource, 'findToken'> & Pick<Directory, 'deleteToken'>,
  { maxMs, idleMs }: Pick<SessionLimits, 'maxMs' | 'idleMs'>,
) {
  const use = (id: string) => store.useSession(digestSecret(id), { idleMs });
  /** Deletes the tokens that were created for these sessions. */
  const cleanUp = async (ended: readonly Session[]): Promise<void> => {
    for (const { tokenDigest, owner } of ended) {
      if (owner === tokenDigest) continue;
      const token = await store.findToken(tokenDigest);
      if (token !== undefined) await store.deleteToken(token.tokenId);
    }
  };
  return {
    maxMs,
    /**
     * @param owner absent = the token; another one deletes the token with the session
     * @returns the new session's id, 260 random bits.
     */
    async begin(tokenDigest: string, owner = tokenDigest): Promise<string> {
      const id = randomBase32(52);
      const session = { digest: digestSecret(id), tokenDigest, owner };
      await cleanUp(await store.createSession(session, { maxMs, idleMs, maxSessions }));
      return id;
    },
    /**
     * Replaces the earlier link of the token.
     * @returns the code of the link, which `redeem` takes once within `seconds`.
     */
    async createLink(tokenDigest: string): Promise<{ code: string; seconds: number }> {
      const code = linkPrefix + randomBase32(52);
      await store.keepSignInLink({ digest: digestSecret(code), tokenDigest }, linkMs);
      return { code, seconds: linkMs / 1000 };
    },
    /**
     * @param secret of a token, or the code of a link, which is used up
     * @returns the digest of the token
     * @throws AppError `unauthenticated`
     */
    async redeem(secret: string): Promise<string> {
      const digest = digestSecret(secret);
      if (!secret.startsWith(linkPrefix)) return digest;
      const link = await store.takeSignInLink(digest);
      if (link !== undefined) return link.tokenDigest;
      const message =
        'cannot sign in with this link: it was used or replaced, or it has expired; ' +
        'create another with: weir open';
      throw new AppError('unauthenticated', message);
    },
    /** Undefined when it is unknown, ended or expired. Does not check its token. */
    find: use,
    /** @throws AppError `unauthenticated` when it is unknown, ended or expired */
    async require(id: string): Promise<Session> {
      const session = await use(id);
      if (session !== undefined) return session;
      throw new AppError('unauthenticated', 'this session was ended or has expired: sign in again');
    },
    end: async (id: string): Promise<void> => cleanUp(await store.endSession(digestSecret(id))),
    /** Ends this session and all others of its owner. */
    endAll: async ({ owner }: Session): Promise<void> => cleanUp(await store.endSessionsOf(owner)),
  };
}
