/** Disk errors: a full disk is transient, a failed sync is final. */
import { messageOf } from '../std/error-text.ts';

/**
 * A failed fsync. The kernel may have dropped the data and report success to the next fsync, so it
 * is not retried: the file's content is unknown until another process reads it.
 * https://wiki.postgresql.org/wiki/Fsync_Errors
 */
export class SyncFailure extends Error {
  override readonly name = 'SyncFailure';
}

/** @throws SyncFailure for any error, a full disk included */
export function syncing(action: () => void): void {
  try {
    action();
  } catch (error) {
    const message = messageOf(error);
    throw new SyncFailure(message, { cause: error });
  }
}

/** Whether a write failed because the disk or the user's quota is full. */
export function isNoRoom(error: unknown): boolean {
  const { code } = (error ?? {}) as { code?: unknown };
  return code === 'ENOSPC' || code === 'EDQUOT';
}
