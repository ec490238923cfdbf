/** Waiting for a condition, in place of sleeping for a while and hoping. */
import { setTimeout as sleep } from 'node:timers/promises';

export interface UntilOptions {
  /** Said when the wait fails: `waited N ms for <what>`. */
  readonly what: string;
  /** Only a stop for tests that would hang; default 30,000. */
  readonly timeoutMs?: number;
  /** Default 20. */
  readonly everyMs?: number;
}

/**
 * Asks again and again until the answer is neither undefined nor false. @throws Error after the
 * timeout
 */
export async function until<T>(
  ask: () => T | undefined | false | Promise<T | undefined | false>,
  { what, timeoutMs = 30_000, everyMs = 20 }: UntilOptions,
): Promise<T> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined && answer !== false) return answer;
    if (performance.now() > deadline) throw new Error(`waited ${timeoutMs} ms for ${what}`);
    await sleep(everyMs);
  }
}
