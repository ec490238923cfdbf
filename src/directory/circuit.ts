/**
 * Remembers that a server is away, so that only the first request waits to find out: until the
 * server answers a question asked in the background, the others are refused at once. It does not
 * know what the server is.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { AppError } from '../model/errors.ts';

export interface Circuit {
  /** @throws AppError `unavailable` while the server is known to be away. */
  check(): void;
  /** To be called when the server did not answer. */
  trip(cause: unknown): void;
  /** Whether the server is known to be away. */
  isTripped(): boolean;
  /** Asks no more. */
  close(): void;
}

/**
 * @param ask resolves when the server answers; it must give up by itself.
 * @param pauseMs between an answer that did not come and the next question.
 */
export function createCircuit(ask: () => Promise<unknown>, pauseMs: number): Circuit {
  const closing = new AbortController();
  let failure: { readonly cause: unknown } | undefined;

  const askUntilAnswered = async (): Promise<void> => {
    while (failure && !closing.signal.aborted) {
      try {
        await sleep(pauseMs, undefined, { ref: false, signal: closing.signal });
        await ask();
        failure = undefined;
      } catch (cause) {
        failure = { cause };
      }
    }
  };

  return {
    check() {
      if (failure) throw unavailable(failure.cause);
    },
    trip(cause) {
      if (failure) return;
      failure = { cause };
      void askUntilAnswered();
    },
    isTripped: () => failure !== undefined,
    close: () => closing.abort(),
  };
}

export function unavailable(cause: unknown): AppError {
  return new AppError('unavailable', 'cannot reach the directory; try again', {
    cause,
    retryAfterSeconds: 1,
  });
}
