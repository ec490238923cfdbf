/**
 * A lower bound of the times of receipt of all logs. While it is within the retention of a stream,
 * reads need not filter rows by time of receipt. Only for a store with one writer.
 */
import type { StampedBatch } from '../model/batch.ts';
import type { Connection } from './connection.ts';
import { compileDays, type DayRow, dayStartMs } from './sql/housekeeping.ts';
import type { Placement } from './sql/tables.ts';

export interface ReceiptFloor {
  /** Unix ns; no row is older. */
  nanos(): bigint;
  /** To be called before an insert. */
  lower(batches: readonly StampedBatch[]): void;
}

/** For a store with several writers. */
export const unknownFloor: ReceiptFloor = { nanos: () => 0n, lower() {} };

/** Starts with the first moment of the oldest day stored. */
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
