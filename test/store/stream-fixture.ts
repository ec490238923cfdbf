/** A stream of an account, as housekeeping sees it. */
import { randomUUID } from 'node:crypto';
import type { Stream } from '../../src/model/account.ts';

export function newStream(
  accountId: string,
  retentionDays: number,
  downsampling: string | null = null,
): Stream {
  const names = { accountId, streamId: randomUUID(), name: 'test' };
  const createdAt = '2026-05-20T12:00:00.000Z';
  return { ...names, createdAt, retentionDays, downsampling, dataDeletedUntil: null };
}

/** What housekeeping asks the directory and the clock. @param deleted streams */
export function housekeepingParts(
  streams: readonly Stream[],
  now: number,
  deleted: readonly Stream[] = [],
) {
  return {
    streams: async () => streams,
    deletedStreams: async () => deleted,
    now: () => now,
  };
}
