/**
 * Circuit breaker: after a server failed to answer, requests are refused at once until a probe in
 * the background succeeds.
 */
import { AppError } from '../model/errors.ts';

export interface Circuit {
  /** @throws AppError `unavailable` while the circuit is open. */
  check(): void;
  /** Called when the server did not answer. */
  trip(cause: unknown): void;
  /** Called when the server answered another request. */
  reached(): void;
  /** Whether the circuit is open. */
  isTripped(): boolean;
  /** Stops probing. */
  close(): void;
}

export interface CircuitOptions {
  /** The server in error messages: `the directory`. */
  readonly what: string;
  /** Resolves when the server answers; must have its own timeout. */
  ask(): Promise<unknown>;
  /** Pause between probes. */
  readonly pauseMs: number;
}

export function createCircuit({ what, ask, pauseMs }: CircuitOptions): Circuit {
  let failure: { readonly cause: unknown } | undefined;
  let isAsking = false;
  let isClosed = false;

  /** One probe at a time, however often it trips. */
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

/** The error for a request that cannot wait for `what`. */
export function awayError(what: string, cause: unknown): AppError {
  return new AppError('unavailable', `cannot reach ${what}; try again`, {
    cause,
    retryAfterSeconds: 1,
  });
}
