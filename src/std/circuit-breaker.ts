/**
 * Circuit breaker: after a server failed to answer, requests are refused at once until a probe in
 * the background succeeds.
 */
import { AppError } from '../model/errors.ts';

export interface CircuitBreakerOptions {
  /** The server in error messages: `the directory`. */
  readonly what: string;
  /** Resolves when the server answers; must have its own timeout. */
  probe(): Promise<unknown>;
  /** Pause between probes. */
  readonly pauseMs: number;
}

export type CircuitBreaker = ReturnType<typeof createCircuitBreaker>;

export function createCircuitBreaker({ what, probe, pauseMs }: CircuitBreakerOptions) {
  let failure: { readonly cause: unknown } | undefined;
  let isProbing = false;
  let isClosed = false;

  /** Runs once, however often the breaker trips. */
  const probeUntilAnswered = async (): Promise<void> => {
    if (isProbing) return;
    isProbing = true;
    while (failure) {
      await new Promise((resolve) => setTimeout(resolve, pauseMs).unref());
      if (isClosed || !failure) break;
      try {
        await probe();
        failure = undefined;
      } catch (cause) {
        if (failure) failure = { cause };
      }
    }
    isProbing = false;
  };

  return {
    /** @throws AppError `unavailable` while the circuit is open. */
    check(): void {
      if (failure) throw unreachableError(what, failure.cause);
    },
    /** Called when the server did not answer. */
    trip(cause: unknown): void {
      if (failure) return;
      failure = { cause };
      void probeUntilAnswered();
    },
    /** Called when the server answered another request. */
    reached(): void {
      failure = undefined;
    },
    isOpen: () => failure !== undefined,
    /** Stops probing; the state no longer changes by itself. */
    close(): void {
      isClosed = true;
    },
  };
}

/** The error for a request that cannot wait for `what`. */
export function unreachableError(what: string, cause: unknown): AppError {
  return new AppError('unavailable', `cannot reach ${what}; try again`, {
    cause,
    retryAfterSeconds: 1,
  });
}
