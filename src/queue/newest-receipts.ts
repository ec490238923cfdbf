/** The newest receive time of stored logs, by stream. */
import type { StampedBatch } from '../model/batch.ts';

export interface NewestReceipts {
  /** To be called once these are stored, before the watermark advances. */
  note(batches: readonly StampedBatch[]): void;
  /**
   * Unix ns; 0 where nothing was stored since the start.
   * @param streamId undefined = of all streams.
   */
  newestNanos(streamId: string | undefined): bigint;
}

export function createNewestReceipts(): NewestReceipts {
  const byStream = new Map<string, bigint>();
  let newest = 0n;
  return {
    note(batches) {
      for (const { layout, owner, receivedAtNanos } of batches) {
        if (layout !== 'logs/1') continue;
        const known = byStream.get(owner.streamId) ?? 0n;
        if (receivedAtNanos > known) byStream.set(owner.streamId, receivedAtNanos);
        if (receivedAtNanos > newest) newest = receivedAtNanos;
      }
    },
    newestNanos: (streamId) => (streamId === undefined ? newest : (byStream.get(streamId) ?? 0n)),
  };
}
