/**
 * The cached view of the directory that every request goes through. A change reaches it within
 * `freshMs`, at once when `invalidate()` is called; while the directory is away, what it has
 * answered lately still opens doors.
 */
import type { Stream } from '../model/account.ts';
import type { DirectoryEvents } from '../telemetry/node-events.ts';
import { type AnswerCacheOptions, createAnswerCache, type SourceHealth } from './answer-cache.ts';
import { createLastUsed } from './last-used.ts';
import type { Grants, GrantSource, ReceiverGrant, TokenGrant } from './port.ts';

export interface GrantsOptions {
  /** How long an answer is served without asking again, ms; a revocation takes effect within it. */
  readonly freshMs: number;
  /**
   * How long an answer is served while the directory is away, seconds since it was last confirmed.
   */
  readonly staleForSeconds: number;
  /** How long an unknown token or receiver stays unknown, ms. */
  readonly negativeMs: number;
  /** Tokens, receivers and accounts kept, of each. */
  readonly maxEntries: number;
}

export const defaultGrantsOptions: GrantsOptions = {
  freshMs: 5_000,
  staleForSeconds: 60,
  negativeMs: 1_000,
  maxEntries: 100_000,
};

export interface CachedGrants extends Grants {
  /** To be called after every change of the directory, by this process or another. */
  invalidate(): void;
  /** @param listener called at each `invalidate`. */
  whenInvalidated(listener: () => void): void;
  /** Writes what is left to write; does not close the source. */
  close(): Promise<void>;
}

/**
 * After a failure nobody asks for this long, ms: a directory that times out must not hold every
 * request.
 */
const pauseAfterFailureMs = 500;

/** @param now Unix ms. */
export function createGrants(
  source: GrantSource,
  options: GrantsOptions,
  telemetry: DirectoryEvents,
  now: () => number = Date.now,
): CachedGrants {
  const health = createSourceHealth(telemetry, now);
  const cacheOptions: AnswerCacheOptions = { ...options, staleMs: options.staleForSeconds * 1000 };
  const tokens = createAnswerCache<TokenGrant>(
    (digest) => source.findToken(digest),
    cacheOptions,
    health,
    now,
  );
  const receivers = createAnswerCache<ReceiverGrant>(
    (receiverId) => source.findReceiver(receiverId),
    cacheOptions,
    health,
    now,
  );
  const streams = createAnswerCache<readonly Stream[]>(
    (accountId) => source.listStreams(accountId),
    cacheOptions,
    health,
    now,
  );
  const lastUsed = createLastUsed(
    (usedAtMs) => source.noteTokensUsed(usedAtMs),
    (error) => telemetry.lastUsedNotWritten(error),
    { perTokenMs: 60_000, gatherMs: 5_000 },
    now,
  );
  const listeners: (() => void)[] = [];
  return {
    token: (digest) => tokens.get(digest),
    receiver: (receiverId) => receivers.get(receiverId),
    streams: async (accountId) => (await streams.get(accountId)) ?? [],
    touch: (tokenId) => lastUsed.note(tokenId),
    invalidate() {
      // Whoever changed something was answered: what is forgotten can be asked for at once.
      health.answered();
      tokens.clear();
      receivers.clear();
      streams.clear();
      for (const listener of listeners) listener();
    },
    whenInvalidated: (listener) => void listeners.push(listener),
    close: () => lastUsed.flush(),
  };
}

function createSourceHealth(telemetry: DirectoryEvents, now: () => number): SourceHealth {
  let failedAtMs: number | undefined;
  return {
    mayAsk: () => failedAtMs === undefined || now() - failedAtMs >= pauseAfterFailureMs,
    answered() {
      if (failedAtMs === undefined) return;
      failedAtMs = undefined;
      telemetry.directoryRecovered();
    },
    failed(error) {
      if (failedAtMs === undefined) telemetry.directoryFailed(error);
      failedAtMs = now();
    },
  };
}
