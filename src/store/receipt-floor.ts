/**
 * A time of receipt before which no log is stored. While a store is younger than the retention of
 * its streams, reads need not look at the time of receipt of every row. Only for a store with one
 * writer: others would go unnoticed.
 */
import type { StampedBatch } from '../model/batch.ts';
import type { Connection } from './connection.ts';
import { compileDays, type DayRow, dayStartMs } from './sql/housekeeping.ts';
import type { Placement } from './sql/tables.ts';

export interface ReceiptFloor {
  /** Unix ns; no row was received before. */
  nanos(): bigint;
  /** To be called before these are inserted. */
  lower(batches: readonly StampedBatch[]): void;
}

/** Where others write too: rows of any time may be there. */
export const unknownFloor: ReceiptFloor = { nanos: () => 0n, lower() {} };

/**
 * Begins at the start of the oldest day that is stored; an empty store has rows of no time at all.
 */
export async function openReceiptFloor(
  connection: Connection,
  placement: Placement,
): Promise<ReceiptFloor> {
  const days = await connection.query<DayRow>('housekeeping', compileDays(placement));
  const oldest = days.find(([table]) => table === 'logs');
  let floor = oldest === undefined ? latest : BigInt(dayStartMs(oldest[1])) * 1_000_000n;
  return {
    nanos: () => floor,
    lower(batches) {
      for (const { receivedAtNanos } of batches) {
        if (receivedAtNanos < floor) floor = receivedAtNanos;
      }
    },
  };
}

const latest = (1n << 63n) - 1n;
