/**
 * Remembers that a server is away, so that only the first request waits to find out: until the
 * server answers a question asked in the background, the others are refused at once. It does not
 * know what the server is.
 */
import { AppError } from '../model/errors.ts';

export interface Circuit {
  /** @throws AppError `unavailable` while the server is known to be away. */
  check(): void;
  /** To be called when the server did not answer. */
  trip(cause: unknown): void;
  /** To be called when the server answered somebody else. */
  reached(): void;
  /** Whether the server is known to be away. */
  isTripped(): boolean;
  /** Asks no more. */
  close(): void;
}

export interface CircuitOptions {
  /** What is away, as a sender may read it: `the directory`. */
  readonly what: string;
  /** Resolves when the server answers; it must give up by itself. */
  ask(): Promise<unknown>;
  /** Between an answer that did not come and the next question. */
  readonly pauseMs: number;
}

export function createCircuit({ what, ask, pauseMs }: CircuitOptions): Circuit {
  let failure: { readonly cause: unknown } | undefined;
  let isAsking = false;
  let isClosed = false;

  /** One question at a time, however often it trips. */
  const askUntilAnswered = async (): Promise<void> => {
    if (isAsking) return;
    isAsking = true;
    while (failure) {
      await new Promise((resolve) => setTimeout(resolve, pauseMs).unref());
      if (isClosed || !failure) break;
      try {
        await ask();
        failure = undefined;
      } catch (cause) {
        if (failure) failure = { cause };
      }
    }
    isAsking = false;
  };

  return {
    check() {
      if (failure) throw awayError(what, failure.cause);
    },
    trip(cause) {
      if (failure) return;
      failure = { cause };
      void askUntilAnswered();
    },
    reached() {
      failure = undefined;
    },
    isTripped: () => failure !== undefined,
    close() {
      isClosed = true;
    },
  };
}

/** What a request is answered with that cannot wait for `what`. */
export function awayError(what: string, cause: unknown): AppError {
  return new AppError('unavailable', `cannot reach ${what}; try again`, {
    cause,
    retryAfterSeconds: 1,
  });
}
