/**
 * A circuit breaker for a store on a server. While a statement waits long for its response, the
 * server is probed, which distinguishes a slow query from a server that hangs. While probes fail,
 * statements are refused at once.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { unreachableError, createCircuitBreaker } from '../std/circuit-breaker.ts';

export interface Reachability {
  /**
   * Runs a read. The signal fires when the server hangs.
   * @throws AppError `unavailable` while the server is unreachable
   */
  read<T>(run: (signal: AbortSignal) => Promise<T>): Promise<T>;
  /**
   * Runs a change. It is never abandoned, since it may have arrived.
   * @throws AppError `unavailable` while the server is unreachable, before anything is sent
   */
  change<T>(run: () => Promise<T>): Promise<T>;
  close(): void;
}

export interface ReachabilityOptions {
  /** Probes the server; rejects after its own timeout. */
  probe(): Promise<void>;
  /** How long a response may take before the server is probed. */
  readonly slowAfterMs: number;
  /** Between two probes of a server that is unreachable. */
  readonly pauseMs: number;
  /** Whether no connection to the server was made. */
  isNotConnected(error: unknown): boolean;
}

export interface ReachabilityEvents {
  storeUnreachable(cause: unknown): void;
  storeReachable(): void;
}

/** For the embedded engine, whose supervisor kills it when it hangs. */
export const alwaysReachable: Reachability = {
  read: (run) => run(new AbortController().signal),
  change: (run) => run(),
  close: () => undefined,
};

interface Waiting {
  readonly since: number;
  giveUp(cause: unknown): void;
}

const what = 'the store';

export function openReachability(
  options: ReachabilityOptions,
  events: ReachabilityEvents,
): Reachability {
  const { probe, slowAfterMs, pauseMs, isNotConnected } = options;
  const waiting = new Set<Waiting>();
  let isWatching = false;
  const circuit = createCircuitBreaker({
    what,
    pauseMs,
    async probe() {
      await probe();
      events.storeReachable();
    },
  });

  const trip = (cause: unknown): void => {
    if (!circuit.isOpen()) events.storeUnreachable(cause);
    circuit.trip(cause);
  };

  const watch = async (): Promise<void> => {
    isWatching = true;
    while (waiting.size > 0) {
      await sleep(slowAfterMs, undefined, { ref: false });
      const latest = performance.now() - slowAfterMs;
      if (circuit.isOpen() || ![...waiting].some(({ since }) => since <= latest)) continue;
      await probe().catch((cause: unknown) => {
        trip(cause);
        for (const each of waiting) each.giveUp(cause);
      });
    }
    isWatching = false;
  };

  const run = async <T>(work: Promise<T>, giveUp: Waiting['giveUp']): Promise<T> => {
    const own = { since: performance.now(), giveUp };
    waiting.add(own);
    if (!isWatching) void watch();
    try {
      return await work;
    } catch (error) {
      if (isNotConnected(error)) trip(error);
      throw error;
    } finally {
      waiting.delete(own);
    }
  };

  return {
    async read(start) {
      circuit.check();
      const aborting = new AbortController();
      const unreachable = Promise.withResolvers<never>();
      const giveUp = (cause: unknown) => {
        unreachable.reject(unreachableError(what, cause));
        aborting.abort();
      };
      return run(Promise.race([start(aborting.signal), unreachable.promise]), giveUp);
    },
    async change(start) {
      circuit.check();
      return run(start(), () => undefined);
    },
    close: () => circuit.close(),
  };
}
