/** The newest receive time of stored logs, by stream. */
import type { StampedBatch } from '../model/batch.ts';

export function createNewestReceipts() {
  const byStream = new Map<string, bigint>();
  let newest = 0n;
  return {
    /** To be called once these are stored, before the watermark advances. */
    note(batches: readonly StampedBatch[]): void {
      for (const { layout, owner, receivedAtNanos } of batches) {
        if (layout !== 'logs/1') continue;
        const known = byStream.get(owner.streamId) ?? 0n;
        if (receivedAtNanos > known) byStream.set(owner.streamId, receivedAtNanos);
        if (receivedAtNanos > newest) newest = receivedAtNanos;
      }
    },
    /** Unix ns; 0 where nothing was stored since the start. @param streamId undefined = of all */
    newestNanos: (streamId: string | undefined): bigint =>
      streamId === undefined ? newest : (byStream.get(streamId) ?? 0n),
  };
}
