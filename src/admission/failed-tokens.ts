/**
 * Delays answers to rejected tokens by client address. Accepted tokens are not delayed, even from
 * the address of an attacker.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type TokenBucket, createTokenBucket } from '../std/token-bucket.ts';
import type { FailurePace } from './port.ts';

export interface FailedTokensOptions {
  readonly delayMs: number;
  /** Answers delayed at the same time, for all addresses. */
  readonly maxWaiting: number;
  readonly maxWaitingPerAddress: number;
}

export const failedTokensDefaults: FailedTokensOptions = {
  delayMs: 1000,
  maxWaiting: 256,
  maxWaitingPerAddress: 8,
};

/** Allows for a fleet with an expired token, or a browser with many panels. */
export const freeFailures = { burst: 50, perSecond: 5 } as const;
export const maxKnownAddresses = 10_000;
const sweepEveryMs = 1000;

interface Known {
  waiting: number;
  readonly free: TokenBucket;
}

/** @param nowMs a clock that never goes back */
export function createFailedTokens(
  { delayMs, maxWaiting, maxWaitingPerAddress }: FailedTokensOptions,
  nowMs: () => number,
) {
  const known = new Map<string, Known>();
  /** Shared by addresses beyond `maxKnownAddresses`. */
  const others = begin();
  let waiting = 0;
  let sweptAtMs = -Infinity;

  function begin(): Known {
    return { waiting: 0, free: createTokenBucket(freeFailures, nowMs) };
  }

  function find(key: string): Known {
    const found = known.get(key);
    if (found !== undefined) return found;
    if (known.size >= maxKnownAddresses) forgetIdle();
    if (known.size >= maxKnownAddresses) return others;
    const one = begin();
    known.set(key, one);
    return one;
  }

  function forgetIdle(): void {
    if (nowMs() - sweptAtMs < sweepEveryMs) return;
    sweptAtMs = nowMs();
    for (const [key, one] of known) {
      if (one.waiting === 0 && one.free.isFull()) known.delete(key);
    }
  }

  return {
    /**
     * Resolves when the answer may be sent.
     * @param key of `addressKey`
     */
    async pace(key: string): Promise<FailurePace> {
      const one = find(key);
      if (one.free.take(1)) return 'at once';
      if (waiting >= maxWaiting || one.waiting >= maxWaitingPerAddress) return 'cut';
      waiting += 1;
      one.waiting += 1;
      await sleep(delayMs, undefined, { ref: false });
      waiting -= 1;
      one.waiting -= 1;
      return 'delayed';
    },
  };
}
