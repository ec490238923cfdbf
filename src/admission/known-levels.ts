/**
 * What a gateway remembers of buckets that others charge too: the level last seen, raised by the
 * clock, for a while. Pure; it knows no network.
 */
import type { Bucket, KnownLevels } from './port.ts';

export interface KnownLevelsOptions {
  /** Beyond it the one seen longest ago is forgotten. */
  readonly maxLevels: number;
  /** Older ones count as unknown, lest a debt be believed that was long forgiven elsewhere. */
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
      // A map goes in the order of insertion, so the first is the one seen longest ago.
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
