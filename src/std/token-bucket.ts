/** A token bucket: refills at a steady rate up to a burst. Pure. */

export interface TokenBucketOptions {
  /** Maximum and initial amount. */
  readonly burst: number;
  readonly perSecond: number;
}

export interface TokenBucket {
  /** @returns false and takes nothing if less is available */
  take(amount: number): boolean;
  /** Takes the amount even if less is available; debt is limited to one burst. */
  charge(amount: number): void;
  isFull(): boolean;
}

/** @param nowMs monotonic clock */
export function createTokenBucket(
  { burst, perSecond }: TokenBucketOptions,
  nowMs: () => number,
): TokenBucket {
  let level = burst;
  let atMs = nowMs();
  const refill = () => {
    const now = nowMs();
    level = Math.min(burst, level + ((now - atMs) / 1000) * perSecond);
    atMs = now;
  };
  return {
    take(amount) {
      refill();
      if (level < amount) return false;
      level -= amount;
      return true;
    },
    charge(amount) {
      refill();
      level = Math.max(-burst, level - amount);
    },
    isFull() {
      refill();
      return level >= burst;
    },
  };
}
