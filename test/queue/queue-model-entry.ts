/** A batch of the queue's model, and what the queue said of it. */
import type { IdempotencyRecord } from '../../src/queue/port.ts';

/**
 * `asked`: no answer came, it may be there or not. `refused`: the disk was full, it must not be
 * there. `gone`: released, or may be.
 */
export type EntryState = 'asked' | 'refused' | 'acknowledged' | 'gone';

export interface Entry {
  readonly payload: Uint8Array;
  readonly record: IdempotencyRecord | undefined;
  state: EntryState;
  sequence: bigint | undefined;
}

/** Refused since a write found the disk full, with nothing of the batch kept. */
export function isOutOfRoom(error: unknown): boolean {
  const { cause } = error as Error;
  return cause instanceof Error && cause.message.includes('ENOSPC');
}
