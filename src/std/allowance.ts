/** How much of something may still be spent: it grows at a steady rate up to a burst. Pure. */

export interface AllowanceOptions {
  /** What may be spent at once, and what is there at first. */
  readonly burst: number;
  readonly perSecond: number;
}

export interface Allowance {
  /** @returns false, and takes nothing, where less is there */
  take(amount: number): boolean;
  /** Takes it whether it is there or not; debt is at most another burst. */
  charge(amount: number): void;
  /** Whether everything that was spent has grown again. */
  isFull(): boolean;
}

/** @param nowMs a clock that never goes back */
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
