/** The quota store of a single gateway: levels in memory, refilled on access. */
import type { Bucket, QuotaStore } from './port.ts';

interface Level {
  /** As last seen; has the refill rate. */
  bucket: Bucket;
  events: number;
  atMs: number;
}

/** Beyond it full buckets are evicted: unknown buckets are full anyway. */
const maxLevels = 10_000;

/** @param nowMs a clock that never goes back, in ms */
export function createMemoryQuota(nowMs: () => number): QuotaStore {
  const levels = new Map<string, Level>();

  /** A bucket with new limits keeps its level, up to the new burst. */
  function refill(bucket: Bucket): Level {
    const key = `${bucket.policy}:${bucket.owner}`;
    const now = nowMs();
    let level = levels.get(key);
    if (level === undefined) {
      if (levels.size >= maxLevels) forgetFull(now);
      level = { bucket, events: bucket.burstEvents, atMs: now };
      levels.set(key, level);
      return level;
    }
    level.bucket = bucket;
    level.events = eventsAt(level, now);
    level.atMs = now;
    return level;
  }

  function forgetFull(now: number): void {
    for (const [key, level] of levels) {
      if (eventsAt(level, now) >= level.bucket.burstEvents) levels.delete(key);
    }
  }

  return {
    level: (bucket) => refill(bucket).events,
    take(buckets, events) {
      const found = buckets.map(refill);
      if (found.some((level) => level.events <= 0)) return false;
      for (const level of found) level.events -= events;
      return true;
    },
    giveBack(buckets, events) {
      for (const bucket of buckets) {
        const level = refill(bucket);
        level.events = Math.min(bucket.burstEvents, level.events + events);
      }
    },
  };
}

function eventsAt({ bucket, events, atMs }: Level, now: number): number {
  const gained = ((now - atMs) / 1000) * bucket.eventsPerSecond;
  return Math.min(bucket.burstEvents, events + gained);
}
