/**
 * Caches answers of a source: fresh for a while, then looked up again, and served stale for a
 * limited time while the source fails.
 */
import { AppError } from '../model/errors.ts';

interface AnswerCacheOptions {
  /** How long a found answer is served without a look-up. */
  readonly freshMs: number;
  /** How long a found answer is served while the source fails, since its last look-up. */
  readonly staleMs: number;
  /** How long a missing answer is served without a look-up. */
  readonly negativeMs: number;
  /** Maximum of cached found answers, and of cached missing ones; the oldest is evicted first. */
  readonly maxEntries: number;
}

/** Shared by all caches of one source. */
export interface SourceHealth {
  /** False for a moment after a failure. */
  mayAsk(): boolean;
  answered(): void;
  failed(error: unknown): void;
}

interface Entry<Answer> {
  readonly answer: Answer;
  readonly confirmedAtMs: number;
}

/** @param now Unix ms. */
export function createAnswerCache<Answer>(
  ask: (key: string) => Promise<Answer | undefined>,
  options: AnswerCacheOptions,
  health: SourceHealth,
  now: () => number,
) {
  const found = new Map<string, Entry<Answer>>();
  // Separate from `found`, so that a flood of unknown keys evicts no known one.
  const missing = new Map<string, number>();
  let inFlight = new Map<string, Promise<Answer | undefined>>();

  const askOnce = (key: string): Promise<Answer | undefined> => {
    const lookups = inFlight;
    const shared = lookups.get(key);
    if (shared) return shared;
    const askedAtMs = now();
    const lookup = ask(key)
      .then((answer) => {
        health.answered();
        // After clear() this answer may be older than the change that caused it.
        if (lookups === inFlight) remember(key, answer, askedAtMs);
        return answer;
      })
      .finally(() => lookups.delete(key));
    lookups.set(key, lookup);
    return lookup;
  };

  const remember = (key: string, answer: Answer | undefined, askedAtMs: number): void => {
    found.delete(key);
    missing.delete(key);
    if (answer === undefined) setBounded(missing, key, askedAtMs, options.maxEntries);
    else setBounded(found, key, { answer, confirmedAtMs: askedAtMs }, options.maxEntries);
  };

  const orStale = (entry: Entry<Answer> | undefined, cause?: unknown): Answer => {
    if (entry && now() - entry.confirmedAtMs <= options.staleMs) return entry.answer;
    throw new AppError('unavailable', 'cannot check the token: the directory does not answer', {
      cause,
      retryAfterSeconds: 1,
    });
  };

  return {
    /** @throws AppError `unavailable` when the source fails and no answer is recent enough. */
    async get(key: string): Promise<Answer | undefined> {
      const entry = found.get(key);
      if (entry && now() - entry.confirmedAtMs < options.freshMs) return entry.answer;
      const missingSinceMs = missing.get(key);
      if (missingSinceMs !== undefined && now() - missingSinceMs < options.negativeMs) {
        return undefined;
      }
      if (!health.mayAsk()) return orStale(entry);
      try {
        return await askOnce(key);
      } catch (error) {
        if (!(error instanceof AppError) || error.code !== 'unavailable') throw error;
        health.failed(error);
        return orStale(entry, error);
      }
    },
    /** Also discards the answers of look-ups in flight. */
    clear(): void {
      found.clear();
      missing.clear();
      inFlight = new Map();
    },
  };
}

/** A Map iterates in insertion order, so the first key is the oldest. */
function setBounded<Value>(
  map: Map<string, Value>,
  key: string,
  value: Value,
  maxEntries: number,
): void {
  map.set(key, value);
  if (map.size <= maxEntries) return;
  const oldest = map.keys().next();
  if (!oldest.done) map.delete(oldest.value);
}
