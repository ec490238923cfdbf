/** A batch in the model of the queue, and its state. */
import type { IdempotencyRecord } from '../../src/queue/port.ts';
import type { Random } from './random.ts';

/**
 * `asked`: unanswered, may or may not be in the queue. `refused`: the disk was full, must not be in
 * it. `gone`: released, or possibly released.
 */
export type EntryState = 'asked' | 'refused' | 'acknowledged' | 'gone';

export interface Entry {
  readonly payload: Uint8Array;
  readonly record: IdempotencyRecord | undefined;
  state: EntryState;
  sequence: bigint | undefined;
}

/** The disk was full; the batch must not be stored. */
export function isOutOfRoom(error: unknown): boolean {
  const { cause } = error as Error;
  return cause instanceof Error && cause.message.includes('ENOSPC');
}

export function makeRecord(random: Random): IdempotencyRecord {
  const answer = random.bytes(random.below(40));
  return { key: random.bytes(16), bodyDigest: random.bytes(16), answer };
}
