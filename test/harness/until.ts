/** Polls for a condition instead of sleeping. */
import { setTimeout as sleep } from 'node:timers/promises';

export interface UntilOptions {
  /** Part of the failure message: `waited N ms for <what>`. */
  readonly what: string;
  /** Timeout; default 120,000: it guards against a hang and asserts nothing. */
  readonly timeoutMs?: number;
  /** Interval; default 20. */
  readonly everyMs?: number;
}

/** Polls until the result is neither undefined nor false. @throws Error after the timeout */
export async function until<T>(
  ask: () => T | undefined | false | Promise<T | undefined | false>,
  { what, timeoutMs = 120_000, everyMs = 20 }: UntilOptions,
): Promise<T> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined && answer !== false) return answer;
    if (performance.now() > deadline) throw new Error(`waited ${timeoutMs} ms for ${what}`);
    await sleep(everyMs);
  }
}
