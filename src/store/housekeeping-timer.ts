/** Runs rounds of housekeeping one after the other until closed. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Housekeeping } from './housekeeping.ts';

/** What a round does is safe to cut off, and is done again by the next one. */
const patienceMs = 2000;

export interface HousekeepingTimer {
  /** Starts no further round; waits for the one under way, though not for an hour of indexing. */
  close(): Promise<void>;
}

/** Reports damage at once; the first round comes after the first interval. */
export function openHousekeepingTimer(
  housekeeping: Pick<Housekeeping, 'runRound' | 'lookForDamage'>,
  everyMs: number,
): HousekeepingTimer {
  const closing = new AbortController();
  const running = run();

  async function run() {
    const { signal } = closing;
    await housekeeping.lookForDamage(signal);
    while (await passed(everyMs, signal)) await housekeeping.runRound(signal);
  }

  return {
    async close() {
      closing.abort();
      await Promise.race([running, delay(patienceMs, undefined, { ref: false })]);
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
