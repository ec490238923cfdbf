/**
 * Runs rounds of housekeeping one after the other until closed; it knows nothing of what a round
 * does.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Housekeeping } from './housekeeping.ts';

export interface HousekeepingTimer {
  /** Starts no further round and waits for the one under way. */
  close(): Promise<void>;
}

export function openHousekeepingTimer(
  housekeeping: Pick<Housekeeping, 'runRound'>,
  everyMs: number,
): HousekeepingTimer {
  const closing = new AbortController();
  const running = run();

  async function run() {
    while (await passed(everyMs, closing.signal)) await housekeeping.runRound();
  }

  return {
    async close() {
      closing.abort();
      await running;
    },
  };
}

/** @returns false when the signal came first. */
async function passed(ms: number, signal: AbortSignal): Promise<boolean> {
  try {
    await delay(ms, undefined, { signal, ref: false });
    return true;
  } catch {
    return false;
  }
}
