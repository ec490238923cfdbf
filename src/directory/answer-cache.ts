/**
 * Remembers answers of a source that may go away: fresh for a while, then asked again, and served
 * stale for a limited time when asking fails. It does not know what the answers mean.
 */
import { AppError } from '../model/errors.ts';

export interface AnswerCacheOptions {
  /** How long a found answer is served without asking again, ms. */
  readonly freshMs: number;
  /** How long a found answer is served while the source fails, ms since it was last confirmed. */
  readonly staleMs: number;
  /** How long "there is no such thing" is served without asking again, ms. */
  readonly negativeMs: number;
  /**
   * Found answers kept; the least recently confirmed goes first. As many negative ones are kept
   * apart.
   */
  readonly maxEntries: number;
}

export interface AnswerCache<Answer> {
  /** @throws AppError `unavailable` when the source fails and no answer is young enough. */
  get(key: string): Promise<Answer | undefined>;
  /** Forgets everything, answers under way included. */
  clear(): void;
}

/** How the source fares; one for all caches over the same source. */
export interface SourceHealth {
  /** False for a moment after a failure: then nobody needs to wait for another one. */
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
): AnswerCache<Answer> {
  const found = new Map<string, Entry<Answer>>();
  // Apart from `found`, so that a flood of unknown keys pushes out nothing that is known.
  const missing = new Map<string, number>();
  let asking = new Map<string, Promise<Answer | undefined>>();

  const askOnce = (key: string): Promise<Answer | undefined> => {
    const mates = asking;
    const underWay = mates.get(key);
    if (underWay) return underWay;
    const askedAtMs = now();
    const question = ask(key)
      .then((answer) => {
        health.answered();
        // After clear() this answer may be from before the change that led to it.
        if (mates === asking) remember(key, answer, askedAtMs);
        return answer;
      })
      .finally(() => mates.delete(key));
    mates.set(key, question);
    return question;
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
    async get(key) {
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
    clear() {
      found.clear();
      missing.clear();
      asking = new Map();
    },
  };
}

/** A Map lists its keys in the order in which they were set, so the first is the oldest. */
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
