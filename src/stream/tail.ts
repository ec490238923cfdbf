/**
 * The live tail: logs as events in the order in which they arrive. A slow reader buffers at most
 * one page; logs skipped for it are reported as a `dropped` event.
 */
import { AppError } from '../model/errors.ts';
import { createSemaphore } from '../std/semaphore.ts';
import type { Store } from '../store/port.ts';
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
  /** Tails at once, half of them for one account; further ones are refused. */
  readonly maxTails: number;
  /** Silence after which a heartbeat is sent. */
  readonly tailHeartbeatMs: number;
  readonly pollEveryMs: number;
  /** Reads of the store at once in each lane. */
  readonly maxQueries: number;
  /** Size of the page of one tail, and of the pages of all tails together. */
  readonly maxPageBytes: number;
  readonly maxHeldBytes: number;
}

const defaultOptions = {
  pollEveryMs: 50,
  maxQueries: 3,
  recheckMs: 1000,
  minReadIntervalMs: 150,
  maxPageLogs: 2000,
  maxPageBytes: 1024 * 1024,
  maxHeldBytes: 128 * 1024 * 1024,
} satisfies Partial<TailOptions>;

export type Tail = ReturnType<typeof createTail>;

export function createTail(
  parts: TailParts,
  options: Pick<TailOptions, 'maxTails' | 'tailHeartbeatMs'> & Partial<TailOptions>,
) {
  const settings: TailOptions = { ...defaultOptions, ...options };
  const { telemetry } = parts;
  const pages = createArrivalPages(parts.store, settings.maxQueries);
  const watch = createArrivalWatch(parts, settings.pollEveryMs);
  const semaphore = createSemaphore({
    what: 'tails',
    places: settings.maxTails,
    setting: 'stream.maxTails',
  });
  const pageBytes = () => Math.min(settings.maxPageBytes, settings.maxHeldBytes / semaphore.held());

  /**
   * Events as text/event-stream, `open` first. A failure before `open` is thrown; a later one is an
   * event.
   * @throws AppError `not_found`, `unavailable`
   */
  async function* follow(request: TailRequest): AsyncGenerator<Uint8Array | string> {
    const release = await semaphore.acquire(request.accountId);
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
      const error =
        cause instanceof AppError
          ? cause
          : new AppError('internal', 'cannot continue: internal error', { cause });
      telemetry.failed(error);
      yield errorEvent(error);
    } finally {
      release();
      telemetry.closed();
    }
  }

  async function* events(reader: TailReader, signal: AbortSignal) {
    const { position } = reader;
    await reader.checkStreams();
    // Before `open`, so that a resumed tail fails with a status while the store is unavailable.
    let step = reader.isBehind ? await reader.next(0) : undefined;
    let sentPosition = position;
    yield openEvent(position, parts.watermarkNanos());
    let sentAtMs = performance.now();
    while (!signal.aborted) {
      if (step?.dropped !== undefined) {
        telemetry.dropped(step.dropped.count);
        yield droppedEvent(reader.position, step.dropped);
        sentAtMs = performance.now();
      } else if (step?.page !== undefined && step.page.logs > 0) {
        for (const chunk of step.page.chunks) {
          await reader.recheckWhenDue();
          yield chunk;
        }
        telemetry.sent(step.page.logs);
        sentAtMs = performance.now();
      } else if (performance.now() - sentAtMs >= settings.tailHeartbeatMs) {
        yield heartbeatEvent(reader.position);
        sentAtMs = performance.now();
      }
      sentPosition = reader.position;
      step = await reader.next(sentAtMs + settings.tailHeartbeatMs - performance.now());
    }
    // The last step may not have been sent.
    yield endEvent(sentPosition);
  }

  return { follow };
}
