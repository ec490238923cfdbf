/**
 * Pages of tails, encoded as events. Tails with the same plan share one page; the number of reads
 * at once is limited by account, so that other reads get their turn.
 */
import type { ArrivalPosition, ArrivalRange, Arrivals, ArrivalsPlan } from '../model/arrival.ts';
import { arrivalsUntil } from '../model/arrival.ts';
import { createSemaphore } from '../std/semaphore.ts';
import type { Store } from '../store/port.ts';
import { logEvent } from './tail-events.ts';

export interface ArrivalPage {
  /** Encoded events; shared, not to be written to. */
  readonly chunks: readonly Uint8Array[];
  readonly bytes: number;
  readonly logs: number;
  /** Where the next page begins. */
  readonly end: ArrivalPosition;
  /** True where it reaches the end of the range. */
  readonly isComplete: boolean;
}

/** Tails that catch up read large pages, live ones small pages; each lane has its own semaphore. */
type Lane = 'catchUp' | 'live';

export interface PageRequest {
  /** A read is not started once all its signals are aborted. */
  readonly signal: AbortSignal;
  readonly lane: Lane;
}

interface SharedPage {
  readonly page: Promise<ArrivalPage>;
  readonly signals: AbortSignal[];
}

/** Bounds what is sent to a reader that has disconnected. */
const chunkLength = 64 * 1024;

export type ArrivalPages = ReturnType<typeof createArrivalPages>;

/**
 * Every call may throw AppError, as the store does.
 * @param maxQueries reads of the store at once in each lane.
 */
export function createArrivalPages(
  store: Pick<Store, 'arrivals' | 'countArrivals'>,
  maxQueries: number,
) {
  // The number of tails bounds the number of waiting reads.
  const options = { what: 'reads of tails', places: maxQueries, maxWaiting: 2 ** 32 };
  const semaphores = { catchUp: createSemaphore(options), live: createSemaphore(options) };
  const sharedPages = new Map<string, SharedPage>();

  async function readPage(plan: ArrivalsPlan, key: string, lane: Lane, signals: AbortSignal[]) {
    const release = await semaphores[lane].acquire(plan.filter.accountId);
    try {
      if (signals.every(({ aborted }) => aborted)) {
        // Before the rejection, so that no later tail joins this page.
        sharedPages.delete(key);
        throw abandoned();
      }
      return toPage(plan, await store.arrivals(plan));
    } finally {
      release();
    }
  }

  return {
    read(plan: ArrivalsPlan, { signal, lane }: PageRequest): Promise<ArrivalPage> {
      if (signal.aborted) return Promise.reject(abandoned());
      const key = toKey(plan);
      const shared = sharedPages.get(key);
      if (shared !== undefined) {
        shared.signals.push(signal);
        return shared.page;
      }
      const signals = [signal];
      const page = readPage(plan, key, lane, signals).finally(() => {
        if (sharedPages.get(key)?.page === page) sharedPages.delete(key);
      });
      sharedPages.set(key, { page, signals });
      return page;
    },
    async count(range: ArrivalRange, { signal, lane }: PageRequest): Promise<number> {
      const release = await semaphores[lane].acquire(range.filter.accountId, signal);
      try {
        return await store.countArrivals(range);
      } finally {
        release();
      }
    },
  };
}

function abandoned(): Error {
  return new Error('every tail that requested this page was closed');
}

function toPage({ untilNanos }: ArrivalsPlan, { logs, isComplete }: Arrivals): ArrivalPage {
  const chunks: Uint8Array[] = [];
  let text = '';
  for (const log of logs) {
    text += logEvent(log);
    if (text.length < chunkLength) continue;
    chunks.push(Buffer.from(text));
    text = '';
  }
  if (text !== '') chunks.push(Buffer.from(text));
  const last = logs.at(-1);
  return {
    chunks,
    bytes: chunks.reduce((sum, chunk) => sum + chunk.length, 0),
    logs: logs.length,
    end: isComplete || last === undefined ? arrivalsUntil(untilNanos) : last.position,
    isComplete,
  };
}

/** Equal for equal plans. */
function toKey(plan: ArrivalsPlan): string {
  return JSON.stringify(plan, (_, value: unknown) => {
    if (typeof value === 'bigint') return `${value}n`;
    return value instanceof Map ? [...(value as Map<unknown, unknown>)] : value;
  });
}
