/**
 * Notes when tokens were last used, and writes it later, seldom and many at once: never on a
 * request's way.
 */

export interface LastUsedOptions {
  /** A token's last use is written at most this often, ms. */
  readonly perTokenMs: number;
  /** How long uses gather before they are written, ms. */
  readonly gatherMs: number;
}

export interface LastUsed {
  note(tokenId: string): void;
  /** Writes what was noted so far; nothing is left to do after the last note and this. */
  flush(): Promise<void>;
}

/**
 * @param write token id to Unix ms of its last use.
 * @param failed told when a write fails; the uses are kept for the next one.
 */
export function createLastUsed(
  write: (usedAtMs: ReadonlyMap<string, number>) => Promise<void>,
  failed: (error: unknown) => void,
  options: LastUsedOptions,
  now: () => number,
): LastUsed {
  // Known tokens only, so their number is bounded by the directory.
  const noted = new Map<string, number>();
  let pending = new Map<string, number>();
  let timer: NodeJS.Timeout | undefined;
  let writing = Promise.resolve();

  const writePending = async (): Promise<void> => {
    if (pending.size === 0) return;
    const batch = pending;
    pending = new Map();
    try {
      await write(batch);
    } catch (error) {
      failed(error);
      for (const [tokenId, usedAtMs] of batch) {
        if (!pending.has(tokenId)) pending.set(tokenId, usedAtMs);
      }
    }
    for (const [tokenId, notedAtMs] of noted) {
      if (now() - notedAtMs >= options.perTokenMs) noted.delete(tokenId);
    }
  };

  const flush = (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    writing = writing.then(writePending);
    return writing;
  };

  return {
    note(tokenId) {
      const usedAtMs = now();
      const notedAtMs = noted.get(tokenId);
      if (notedAtMs !== undefined && usedAtMs - notedAtMs < options.perTokenMs) return;
      noted.set(tokenId, usedAtMs);
      pending.set(tokenId, usedAtMs);
      timer ??= setTimeout(() => void flush(), options.gatherMs).unref();
    },
    flush,
  };
}
