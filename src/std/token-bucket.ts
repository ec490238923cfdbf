/** A token bucket: refills at a steady rate up to a burst. Pure. */

export interface TokenBucketOptions {
  /** Maximum and initial amount. */
  readonly burst: number;
  readonly perSecond: number;
}

export type TokenBucket = ReturnType<typeof createTokenBucket>;

/** @param nowMs monotonic clock */
export function createTokenBucket({ burst, perSecond }: TokenBucketOptions, nowMs: () => number) {
  let level = burst;
  let atMs = nowMs();
  const refill = () => {
    const now = nowMs();
    level = Math.min(burst, level + ((now - atMs) / 1000) * perSecond);
    atMs = now;
  };
  return {
    /** @returns false and takes nothing if less is available */
    take(amount: number): boolean {
      refill();
      if (level < amount) return false;
      level -= amount;
      return true;
    },
    /** Takes the amount even if less is available; debt is limited to one burst. */
    charge(amount: number): void {
      refill();
      level = Math.max(-burst, level - amount);
    },
    isFull(): boolean {
      refill();
      return level >= burst;
    },
  };
}
