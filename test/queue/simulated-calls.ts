/** Calls into a simulated world, in which most errors are part of the game. */
import assert from 'node:assert/strict';

/** Of a queue that has nothing to do. */
export const emptyStatus = {
  writable: true,
  reason: '',
  bytes: 0,
  batches: 0,
  rows: 0,
  oldestAgeMs: 0,
  quarantinedBatches: 0,
};

/** A failed assertion is a finding; every other error is the simulated world's. */
export async function attempt<T>(action: () => Promise<T>): Promise<T | undefined> {
  try {
    return await action();
  } catch (error) {
    if (error instanceof assert.AssertionError) throw error;
    return undefined;
  }
}

/** Long enough for all that needs no further call. */
export async function turn(): Promise<undefined> {
  for (let round = 0; round < 3; round++) await new Promise((resolve) => setImmediate(resolve));
}
