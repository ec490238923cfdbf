/** Which failures of a disk pass by themselves, and which are final. */
import { messageOf } from '../std/error-text.ts';

/**
 * A sync failed. The kernel may have dropped the data and still report success to the next sync, so
 * nothing is retried: what the file holds is unknown until it is read again by another process.
 * https://wiki.postgresql.org/wiki/Fsync_Errors
 */
export class SyncFailure extends Error {
  override readonly name = 'SyncFailure';
}

/** @throws SyncFailure where the action fails, whatever the reason: also for want of room */
export function syncing(action: () => void): void {
  try {
    action();
  } catch (error) {
    const message = messageOf(error);
    throw new SyncFailure(message, { cause: error });
  }
}

/** Whether a write failed since the disk, or the quota of the user, is full. */
export function isNoRoom(error: unknown): boolean {
  const { code } = (error ?? {}) as { code?: unknown };
  return code === 'ENOSPC' || code === 'EDQUOT';
}
