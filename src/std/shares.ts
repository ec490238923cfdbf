/**
 * Divides a bounded amount (places or bytes) among accounts. An account may hold at most as much as
 * is free: one account gets half, two get a third each, and some is always left for the next. These
 * are dynamic thresholds for shared buffers (Choudhury and Hahne, 1998) with a factor of one.
 */

export type Shares = ReturnType<typeof createShares>;

export function createShares(total: number) {
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
    /** Whether the account may take this much more. */
    hasRoom: (account: string, amount: number) => heldBy(account) + amount <= total - held,
    /** Counts the amount even if `hasRoom` is false. */
    take,
    /** Releases what was counted. */
    give: (account: string, amount: number) => take(account, -amount),
    heldBy,
    held: () => held,
  };
}
