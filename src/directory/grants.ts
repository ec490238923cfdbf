/**
 * The cached view of the directory that authenticates requests. A change takes effect within
 * `freshMs`, or at once after `invalidate()`. During an outage of the directory, recent answers
 * stay valid for a limited time.
 */
import type { DirectoryEvents } from '../telemetry/node-events.ts';
import { createAnswerCache, type SourceHealth } from './answer-cache.ts';
import type { Grants, GrantSource } from './port.ts';

export interface GrantsOptions {
  /** How long an answer is served during an outage, in seconds since its last look-up. */
  readonly staleForSeconds: number;
  /** How long an answer is served without a look-up; a revocation takes effect within it. */
  readonly freshMs?: number;
  /** How long an unknown token or receiver stays unknown. */
  readonly negativeMs?: number;
  /** Cached tokens; the same for receivers and for accounts. */
  readonly maxEntries?: number;
}

export interface CachedGrants extends Grants {
  /** Must be called after each change of the directory by any process. */
  invalidate(): void;
  /** @param listener called at each `invalidate`. */
  whenInvalidated(listener: () => void): void;
  /** Writes pending last uses; does not close the source. */
  close(): Promise<void>;
}

/** Pauses look-ups after a failure, so that a directory that times out delays few requests. */
const pauseAfterFailureMs = 500;

/** @param now Unix ms. */
export function createGrants(
  source: GrantSource,
  { staleForSeconds, freshMs = 5_000, negativeMs = 1_000, maxEntries = 100_000 }: GrantsOptions,
  telemetry: DirectoryEvents,
  now: () => number = Date.now,
): CachedGrants {
  const health = createSourceHealth(telemetry, now);
  const options = { freshMs, staleMs: staleForSeconds * 1000, negativeMs, maxEntries };
  const cached = <Answer>(ask: (key: string) => Promise<Answer | undefined>) =>
    createAnswerCache(ask, options, health, now);
  const tokens = cached((digest) => source.findToken(digest));
  const receivers = cached((receiverId) => source.findReceiver(receiverId));
  const streams = cached((accountId) => source.listStreams(accountId));
  const lastUsed = createLastUsed(source, telemetry, now);
  const listeners: (() => void)[] = [];
  return {
    token: (digest) => tokens.get(digest),
    receiver: (receiverId) => receivers.get(receiverId),
    streams: async (accountId) => (await streams.get(accountId)) ?? [],
    touch: (tokenId) => lastUsed.note(tokenId),
    invalidate() {
      // The change shows that the directory answers.
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

/** Minimum time between two writes of one token's last use. */
const lastUsedEveryMs = 60_000;
/** How long uses are collected before they are written together. */
const lastUsedDelayMs = 5_000;

/** Writes last uses in batches, outside of requests. A failed batch is retried with the next. */
function createLastUsed(source: GrantSource, telemetry: DirectoryEvents, now: () => number) {
  // Bounded by the number of tokens in the directory.
  const noted = new Map<string, number>();
  let pending = new Map<string, number>();
  let timer: NodeJS.Timeout | undefined;
  let writing = Promise.resolve();

  const writePending = async (): Promise<void> => {
    if (pending.size === 0) return;
    const batch = pending;
    pending = new Map();
    try {
      await source.noteTokensUsed(batch);
    } catch (error) {
      telemetry.lastUsedWriteFailed(error);
      for (const [tokenId, usedAtMs] of batch) {
        if (!pending.has(tokenId)) pending.set(tokenId, usedAtMs);
      }
    }
    for (const [tokenId, notedAtMs] of noted) {
      if (now() - notedAtMs >= lastUsedEveryMs) noted.delete(tokenId);
    }
  };

  const flush = (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    writing = writing.then(writePending);
    return writing;
  };

  return {
    note(tokenId: string): void {
      const usedAtMs = now();
      const notedAtMs = noted.get(tokenId);
      if (notedAtMs !== undefined && usedAtMs - notedAtMs < lastUsedEveryMs) return;
      noted.set(tokenId, usedAtMs);
      pending.set(tokenId, usedAtMs);
      timer ??= setTimeout(() => void flush(), lastUsedDelayMs).unref();
    },
    flush,
  };
}
