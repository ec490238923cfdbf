/** A token bucket: refills at a steady rate up to a burst. Pure. */

export interface AllowanceOptions {
  /** Maximum and initial amount. */
  readonly burst: number;
  readonly perSecond: number;
}

export interface Allowance {
  /** @returns false and takes nothing if less is available */
  take(amount: number): boolean;
  /** Takes it in any case; debt is limited to one burst. */
  charge(amount: number): void;
  /** Whether the bucket is full. */
  isFull(): boolean;
}

/** @param nowMs monotonic clock */
export function createAllowance(
  { burst, perSecond }: AllowanceOptions,
  nowMs: () => number,
): Allowance {
  let level = burst;
  let atMs = nowMs();
  const grow = () => {
    const now = nowMs();
    level = Math.min(burst, level + ((now - atMs) / 1000) * perSecond);
    atMs = now;
  };
  return {
    take(amount) {
      grow();
      if (level < amount) return false;
      level -= amount;
      return true;
    },
    charge(amount) {
      grow();
      level = Math.max(-burst, level - amount);
    },
    isFull() {
      grow();
      return level >= burst;
    },
  };
}
