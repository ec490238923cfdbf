/**
 * A live tail that outlives its connections: it takes up where the last event left off, and tells
 * what it cannot make good. Wire format: `GET /api/v1/logs/tail` of the API.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { LogRecord } from '../../model/plan.ts';
import { ApiFailure, ConnectionFailure } from '../api-client.ts';
import type { ReadApi } from '../read-api.ts';
import { readEvents, type ServerEvent } from './event-stream.ts';

export type TailItem =
  /** The service listens: what arrives from now on comes, on a first connection at least. */
  | { readonly kind: 'open' }
  | { readonly kind: 'log'; readonly log: LogRecord }
  /** The service left logs out, for this reader was too slow. */
  | { readonly kind: 'dropped'; readonly dropped: Dropped }
  /** The connection is gone and will be tried again. */
  | { readonly kind: 'lost'; readonly reason: string };

export interface Dropped {
  readonly count: number;
  /** Times of receipt, ISO 8601. */
  readonly fromTime: string;
  readonly untilTime: string;
}

interface Problem {
  readonly detail?: string;
  readonly title?: string;
  readonly status?: number;
  readonly retryAfterSeconds?: number;
}

const path = ['logs', 'tail'];
/** The service sends a heartbeat every 5 s. */
const idleTimeoutMs = 20_000;
const firstWaitMs = 250;
const mostWaitMs = 10_000;

/**
 * Goes on until the reader stops or the signal aborts.
 * @param filter as `toFilterQuery` makes it, without times.
 * @throws CommandError where the service refuses, or where the very first connection fails
 */
export async function* follow(
  reads: ReadApi,
  filter: URLSearchParams,
  signal: AbortSignal,
): AsyncGenerator<TailItem, void, undefined> {
  let lastEventId = '';
  let hasBeenOpen = false;
  for (let failures = 0; ; failures += 1) {
    try {
      for await (const event of connect(reads, filter, lastEventId)) {
        failures = 0;
        hasBeenOpen = true;
        lastEventId = event.lastEventId;
        if (event.type === 'end') break;
        const item = toItem(event);
        if (item !== undefined) yield item;
      }
    } catch (error) {
      if (signal.aborted || !hasBeenOpen || !isPassing(error)) throw error;
      yield { kind: 'lost', reason: error.message };
    }
    await sleep(waitMs(failures), undefined, { signal });
  }
}

async function* connect(
  reads: ReadApi,
  filter: URLSearchParams,
  lastEventId: string,
): AsyncGenerator<ServerEvent, void, undefined> {
  const chunks = await reads.open(path, filter, {
    accept: 'text/event-stream',
    headers: lastEventId === '' ? {} : { 'last-event-id': lastEventId },
    idleTimeoutMs,
  });
  yield* readEvents(chunks);
}

/** @throws ApiFailure for the event that says why the tail ends */
function toItem({ type, data }: ServerEvent): TailItem | undefined {
  switch (type) {
    case 'open':
      return { kind: 'open' };
    case 'log':
      return { kind: 'log', log: JSON.parse(data) as LogRecord };
    case 'dropped':
      return { kind: 'dropped', dropped: JSON.parse(data) as Dropped };
    case 'error': {
      const { detail, title, status = 500, retryAfterSeconds } = JSON.parse(data) as Problem;
      throw new ApiFailure(detail ?? title ?? 'cannot go on', status, retryAfterSeconds);
    }
    default:
      // A heartbeat has done its work by coming, and so has whatever later versions send.
      return undefined;
  }
}

function isPassing(error: unknown): error is ConnectionFailure | ApiFailure {
  if (error instanceof ConnectionFailure) return true;
  return error instanceof ApiFailure && (error.status >= 500 || error.status === 429);
}

/** Spread at random, lest all readers of a service that went away come back at once. */
function waitMs(failures: number): number {
  return Math.min(mostWaitMs, firstWaitMs * 2 ** failures) * (0.5 + Math.random() / 2);
}
