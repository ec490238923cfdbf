/**
 * Waits for a PostgreSQL that is not there yet: what is started together comes up in any order. It
 * does not wait for what only an operator can change.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { DirectoryEvents } from '../telemetry/node-events.ts';
import { bottomOf, mayPass } from './postgres-faults.ts';

export interface Patience {
  readonly seconds: number;
  readonly telemetry: Pick<DirectoryEvents, 'directoryAwaited' | 'directoryReached'>;
}

const pauseMs = 500;

/**
 * @param work done again until it succeeds.
 * @param patience undefined = none.
 * @throws what `work` threw last
 */
export async function untilReached(
  work: () => Promise<void>,
  patience: Patience | undefined,
): Promise<void> {
  if (patience === undefined) return work();
  const { seconds, telemetry } = patience;
  const deadline = performance.now() + seconds * 1000;
  let said = '';
  for (;;) {
    try {
      await work();
      if (said !== '') telemetry.directoryReached();
      return;
    } catch (error) {
      const leftMs = deadline - performance.now();
      if (leftMs <= 0 || !mayPass(error)) throw error;
      const reason = reasonOf(error);
      if (reason !== said) telemetry.directoryAwaited(reason, Math.ceil(leftMs / 1000));
      said = reason;
      await sleep(Math.min(pauseMs, leftMs));
    }
  }
}

/** What went wrong at the bottom of it, in words without a password. */
export function reasonOf(error: unknown): string {
  const reason = bottomOf(error);
  if (!(reason instanceof Error)) return String(reason);
  // The client's own words are of its inside.
  if (/client password must be a string/.test(reason.message)) {
    return 'it asks for a password; set directory.password';
  }
  if ('code' in reason && reason.code === '28P01') {
    return `${reason.message}; check directory.url and directory.password`;
  }
  // Of several addresses tried, each with an error of its own, there is only a code.
  return reason.message || ('code' in reason ? String(reason.code) : reason.name);
}
