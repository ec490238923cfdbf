/** Calls on the simulated disk, where most errors are expected. */
import assert from 'node:assert/strict';

/** Of an empty queue. */
export const emptyStatus = {
  writable: true,
  reason: '',
  bytes: 0,
  batches: 0,
  rows: 0,
  oldestAgeMs: 0,
  quarantinedBatches: 0,
};

/** Rethrows failed assertions; any other error comes from the simulation. */
export async function attempt<T>(action: () => Promise<T>): Promise<T | undefined> {
  try {
    return await action();
  } catch (error) {
    if (error instanceof assert.AssertionError) throw error;
    return undefined;
  }
}

/** Lets pending callbacks run. */
export async function turn(): Promise<undefined> {
  for (let round = 0; round < 3; round++) await new Promise((resolve) => setImmediate(resolve));
}
