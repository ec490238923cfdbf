/** How long to wait before a request is repeated, and which answers are worth repeating it for. */

const firstDelayMs = 200;
const longestDelayMs = 10_000;

export interface Attempt {
  /** How many requests have failed so far, from 1. */
  readonly failures: number;
  readonly retryAfterSeconds: number | undefined;
  /** In [0, 1); spreads out senders that failed together. */
  readonly random: number;
}

/** Doubles from attempt to attempt; never sooner than the service asked for. */
export function retryDelayMs({ failures, retryAfterSeconds, random }: Attempt): number {
  const backoff = Math.min(longestDelayMs, firstDelayMs * 2 ** Math.min(failures - 1, 30));
  const askedMs = (retryAfterSeconds ?? 0) * 1000;
  return Math.round(Math.max(askedMs, backoff / 2) + (backoff / 2) * random);
}

/** 408 and 425 come from slow networks, 500, 502 and 504 from proxies and restarts. */
const transient: ReadonlySet<number> = new Set([408, 425, 429, 500, 502, 503, 504]);

export function isTransient(status: number): boolean {
  return transient.has(status);
}

/**
 * @param header of an answer: seconds, or a date (RFC 9110 §10.2.3).
 * @param nowMs Unix ms.
 * @returns whole seconds, at most an hour; undefined where it says nothing of use.
 */
export function parseRetryAfter(header: string | undefined, nowMs: number): number | undefined {
  if (header === undefined) return undefined;
  const seconds = /^\d{1,9}$/.test(header)
    ? Number(header)
    : Math.ceil((Date.parse(header) - nowMs) / 1000);
  return Number.isNaN(seconds) ? undefined : Math.min(3600, Math.max(0, seconds));
}
