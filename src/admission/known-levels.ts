/** Cache of bucket levels that other processes charge too: the last level, refilled by time. */
import type { Bucket, KnownLevels } from './port.ts';

export interface KnownLevelsOptions {
  /** Beyond it the oldest level is evicted. */
  readonly maxLevels: number;
  /** Older levels are unknown: a debt may be paid off by now. */
  readonly maxAgeMs: number;
}

/** @param nowMs a clock that never goes back, in ms */
export function createKnownLevels(
  { maxLevels, maxAgeMs }: KnownLevelsOptions,
  nowMs: () => number,
): KnownLevels {
  const seen = new Map<string, { readonly level: number; readonly atMs: number }>();

  return {
    level(bucket) {
      const last = seen.get(keyOf(bucket));
      const ageMs = last === undefined ? Infinity : nowMs() - last.atMs;
      if (last === undefined || ageMs > maxAgeMs) return bucket.burstEvents;
      const gained = (ageMs / 1000) * bucket.eventsPerSecond;
      return Math.min(bucket.burstEvents, last.level + gained);
    },
    note(bucket, level) {
      const key = keyOf(bucket);
      // A map keeps the order of insertion, so that the first is the oldest.
      seen.delete(key);
      seen.set(key, { level, atMs: nowMs() });
      if (seen.size <= maxLevels) return;
      for (const oldest of seen.keys()) {
        seen.delete(oldest);
        return;
      }
    },
  };
}

function keyOf({ policy, owner }: Bucket): string {
  return `${policy}:${owner}`;
}
