/**
 * Follows the live tail: connects, resumes after the last event when the connection breaks, and
 * yields what happens.
 */
import type { EventSourceMessage } from 'eventsource-parser';
import { readEvents } from '../../api/event-stream.ts';
import type { Log } from '../../api/models.ts';
import { ApiProblem } from '../../api/problem.ts';

export type TailNews =
  | { readonly kind: 'connecting' }
  /** @property isResumed false when older logs have to be listed again */
  | { readonly kind: 'open'; readonly isResumed: boolean }
  | { readonly kind: 'logs'; readonly logs: readonly Log[] }
  | { readonly kind: 'dropped'; readonly dropped: Dropped }
  | { readonly kind: 'interrupted'; readonly error: unknown }
  /** Final: a retry would fail again. */
  | { readonly kind: 'refused'; readonly error: unknown };

/** Logs that the service dropped for this reader, by time of receipt. */
export interface Dropped {
  readonly count: number;
  readonly fromTime: string;
  readonly untilTime: string;
}

/** Opens the tail after this event; empty = now. */
export type OpenTail = (lastEventId: string, signal: AbortSignal) => Promise<Response>;

export interface TailTimes {
  /** The service sends a heartbeat every 5 s; a connection silent for this long is dead. */
  readonly silenceMs: number;
  readonly firstRetryMs: number;
  readonly maxRetryMs: number;
}

const defaultTimes: TailTimes = { silenceMs: 20_000, firstRetryMs: 250, maxRetryMs: 5_000 };

/** Ends when the signal is aborted, or with `refused`. */
export async function* followTail(
  openTail: OpenTail,
  signal: AbortSignal,
  times = defaultTimes,
): AsyncGenerator<TailNews> {
  let lastEventId = '';
  for (let failures = 0; !signal.aborted; failures += 1) {
    let error: unknown;
    let hasBegun = false;
    const silence = new SilenceTimer(times.silenceMs);
    try {
      if (failures === 0) yield { kind: 'connecting' };
      const response = await openTail(lastEventId, AbortSignal.any([signal, silence.signal]));
      const isResumed = lastEventId !== '';
      for await (const events of readEvents(response.body!)) {
        silence.restart();
        if (!hasBegun) yield { kind: 'open', isResumed };
        hasBegun = true;
        failures = 0;
        yield* toNews(events);
        lastEventId = events.findLast(({ id }) => id !== undefined)?.id ?? lastEventId;
        throwProblemIn(events);
      }
    } catch (thrown) {
      error = thrown;
    } finally {
      silence.stop();
    }
    if (signal.aborted) return;
    // A tail that ends with an error is requested once more, to get a definite status.
    if (!hasBegun && error instanceof ApiProblem && !mayPass(error)) {
      yield { kind: 'refused', error };
      return;
    }
    yield { kind: 'interrupted', error };
    await waitFor(retryDelayMs(failures, times), signal);
  }
}

function* toNews(events: readonly EventSourceMessage[]): Generator<TailNews> {
  const logs = events
    .filter(({ event }) => event === 'log')
    .map(({ data }) => JSON.parse(data) as Log);
  if (logs.length > 0) yield { kind: 'logs', logs };
  for (const { event, data } of events) {
    if (event === 'dropped') yield { kind: 'dropped', dropped: JSON.parse(data) as Dropped };
  }
}

function throwProblemIn(events: readonly EventSourceMessage[]): void {
  const failure = events.find(({ event }) => event === 'error');
  if (failure === undefined) return;
  const body = JSON.parse(failure.data) as { status?: number };
  throw new ApiProblem(body.status ?? 500, body);
}

function mayPass({ status }: ApiProblem): boolean {
  return status === 0 || status === 429 || status >= 500;
}

/** Exponential backoff with jitter. */
function retryDelayMs(failures: number, { firstRetryMs, maxRetryMs }: TailTimes): number {
  return Math.min(maxRetryMs, firstRetryMs * 2 ** failures) * (0.5 + Math.random() / 2);
}

class SilenceTimer {
  readonly #controller = new AbortController();
  readonly #afterMs: number;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(afterMs: number) {
    this.#afterMs = afterMs;
    this.restart();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  restart(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#controller.abort(), this.#afterMs);
  }

  stop(): void {
    clearTimeout(this.#timer);
    // Releases the unread body.
    this.#controller.abort();
  }
}

function waitFor(ms: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  signal.addEventListener('abort', () => resolve(), { once: true });
  return promise.finally(() => clearTimeout(timer));
}
