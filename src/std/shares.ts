/**
 * Divides a bounded amount, places or bytes, among accounts. An account may hold no more than is
 * free: alone it gets half, beside one that does the same each gets a third, and there is always
 * something left for the next. The rule is that of dynamic thresholds for shared buffers (Choudhury
 * and Hahne, 1998), with a factor of one.
 */

export interface Shares {
  /** Whether the account may take so much more now. */
  hasRoom(account: string, amount: number): boolean;
  /** Counts it as taken, whether there is room or not. */
  take(account: string, amount: number): void;
  /** Takes back what was counted before. */
  give(account: string, amount: number): void;
  heldBy(account: string): number;
  held(): number;
}

export function createShares(total: number): Shares {
  const amounts = new Map<string, number>();
  let held = 0;
  const heldBy = (account: string) => amounts.get(account) ?? 0;
  const take = (account: string, amount: number): void => {
    held += amount;
    const now = heldBy(account) + amount;
    if (now === 0) amounts.delete(account);
    else amounts.set(account, now);
  };
  return {
    hasRoom: (account, amount) => heldBy(account) + amount <= total - held,
    take,
    give: (account, amount) => take(account, -amount),
    heldBy,
    held: () => held,
  };
}
