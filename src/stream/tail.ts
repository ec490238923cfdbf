/**
 * The live tail: what arrives, as events, for as long as somebody reads. The reader pulls; whoever
 * takes his time holds one page in memory, and is told what was left out for him.
 */
import type { Store } from '../store/port.ts';
import { AppError } from '../model/errors.ts';
import { createTurns } from '../std/turns.ts';
import type { TailEvents } from '../telemetry/request-events.ts';
import { createArrivalPages } from './arrival-pages.ts';
import { createArrivalWatch } from './arrival-watch.ts';
import { droppedEvent, endEvent, errorEvent, heartbeatEvent, openEvent } from './tail-events.ts';
import {
  TailReader,
  type TailReaderOptions,
  type TailReaderParts,
  type TailRequest,
} from './tail-reader.ts';

export interface TailParts extends Omit<TailReaderParts, 'pages' | 'watch' | 'pageBytes'> {
  readonly store: Pick<Store, 'arrivals' | 'countArrivals'>;
  readonly telemetry: TailEvents;
}

export interface TailOptions extends TailReaderOptions {
  /** Tails under way at once, half of them for one account; further ones are refused. */
  readonly maxTails: number;
  /** Without a log for so long, ms, a sign of life is sent. */
  readonly heartbeatMs: number;
  /** Between two looks for arrivals, ms. */
  readonly lookEveryMs: number;
  /** Reads of the store at once, of all tails on one way. */
  readonly maxQueries: number;
  /** What the page of one tail should have at most, bytes, */
  readonly maxPageBytes: number;
  /** and those of all tails together. */
  readonly maxHeldBytes: number;
}

const defaultTailOptions: TailOptions = {
  maxTails: 1000,
  heartbeatMs: 5000,
  lookEveryMs: 50,
  maxQueries: 3,
  recheckMs: 1000,
  minReadIntervalMs: 150,
  maxPageLogs: 2000,
  maxPageBytes: 1024 * 1024,
  maxHeldBytes: 128 * 1024 * 1024,
};

export interface Tail {
  /**
   * Events as text/event-stream, `open` first. What fails before it is thrown, what fails later is
   * an event.
   * @throws AppError `not_found`, `unavailable`
   */
  follow(request: TailRequest): AsyncGenerator<Uint8Array | string>;
}

export function createTail(parts: TailParts, options: Partial<TailOptions> = {}): Tail {
  const settings = { ...defaultTailOptions, ...options };
  const { telemetry } = parts;
  const pages = createArrivalPages(parts.store, settings.maxQueries);
  const watch = createArrivalWatch(parts, settings.lookEveryMs);
  const turns = createTurns({
    what: 'tails',
    places: settings.maxTails,
    setting: 'stream.maxTails',
  });
  const pageBytes = () => Math.min(settings.maxPageBytes, settings.maxHeldBytes / turns.taken());

  async function* follow(request: TailRequest): AsyncGenerator<Uint8Array | string> {
    const leave = await turns.take(request.accountId);
    telemetry.opened();
    let isOpen = false;
    try {
      const reader = new TailReader({ ...parts, pages, watch, pageBytes }, settings, request);
      for await (const chunk of events(reader, request.signal)) {
        isOpen = true;
        yield chunk;
      }
    } catch (cause) {
      if (!isOpen) throw cause;
      const error = toAppError(cause);
      telemetry.failed(error);
      yield errorEvent(error);
    } finally {
      leave();
      telemetry.closed();
    }
  }

  async function* events(reader: TailReader, signal: AbortSignal) {
    const { position } = reader;
    await reader.checkStreams();
    // Who goes on from earlier learns of a store that is away before the answer has begun.
    let step = reader.isBehind ? await reader.next(0) : undefined;
    let told = position;
    yield openEvent(position, parts.watermarkNanos());
    let sentAtMs = performance.now();
    while (!signal.aborted) {
      if (step?.kind === 'dropped') {
        telemetry.dropped(step.dropped.count);
        yield droppedEvent(reader.position, step.dropped);
        sentAtMs = performance.now();
      } else if (step?.kind === 'page' && step.page.logs > 0) {
        for (const chunk of step.page.chunks) {
          await reader.recheckWhenDue();
          yield chunk;
        }
        telemetry.sent(step.page.logs);
        sentAtMs = performance.now();
      } else if (performance.now() - sentAtMs >= settings.heartbeatMs) {
        yield heartbeatEvent(reader.position);
        sentAtMs = performance.now();
      }
      told = reader.position;
      step = await reader.next(sentAtMs + settings.heartbeatMs - performance.now());
    }
    // What was read last may not have been sent.
    yield endEvent(told);
  }

  return { follow };
}

function toAppError(cause: unknown): AppError {
  if (cause instanceof AppError) return cause;
  return new AppError('internal', 'cannot go on: an internal fault', { cause });
}
