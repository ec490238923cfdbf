/**
 * Pages of a tail, ready to be sent. Tails that want the same at the same time share one page, and
 * only so many are read at once that other reads keep their turn.
 */
import type { Arrivals, ArrivalPosition, ArrivalRange, ArrivalsPlan } from '../model/arrival.ts';
import { arrivalsUntil } from '../model/arrival.ts';
import type { Store } from '../store/port.ts';
import { logEvent } from './tail-events.ts';

export interface ArrivalPage {
  /** The events of its logs; shared, not to be written to. */
  readonly chunks: readonly Uint8Array[];
  readonly bytes: number;
  readonly logs: number;
  /** Where the next page begins. */
  readonly end: ArrivalPosition;
  /** Whether it reaches to the end of the range. */
  readonly isComplete: boolean;
}

/** Every call may throw AppError, as the store does. */
export interface ArrivalPages {
  /** @param signal of whoever asks: what nobody waits for any more is not read. */
  read(plan: ArrivalsPlan, signal: AbortSignal): Promise<ArrivalPage>;
  count(range: ArrivalRange, signal: AbortSignal): Promise<number>;
}

interface SharedPage {
  readonly page: Promise<ArrivalPage>;
  readonly readers: AbortSignal[];
}

/** Sent at once, about; a reader that leaves has taken no more than this too much. */
const chunkLength = 64 * 1024;

export function createArrivalPages(
  store: Pick<Store, 'arrivals' | 'countArrivals'>,
  maxQueries: number,
): ArrivalPages {
  const turns = createTurns(maxQueries);
  const shared = new Map<string, SharedPage>();

  async function readPage(plan: ArrivalsPlan, key: string, readers: readonly AbortSignal[]) {
    const arrivals = await turns.take(() => {
      if (readers.some((signal) => !signal.aborted)) return store.arrivals(plan);
      // Now, so that nobody joins what will not come.
      shared.delete(key);
      throw nobodyWaits();
    });
    return toPage(plan, arrivals);
  }

  return {
    read(plan, signal) {
      if (signal.aborted) return Promise.reject(nobodyWaits());
      const key = toKey(plan);
      const known = shared.get(key);
      if (known !== undefined) {
        known.readers.push(signal);
        return known.page;
      }
      const readers = [signal];
      const page = readPage(plan, key, readers).finally(() => {
        if (shared.get(key)?.page === page) shared.delete(key);
      });
      shared.set(key, { page, readers });
      return page;
    },
    count: (range, signal) =>
      turns.take(() => {
        if (signal.aborted) throw nobodyWaits();
        return store.countArrivals(range);
      }),
  };
}

function nobodyWaits(): Error {
  return new Error('everybody who waited for this has left');
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

/** The same text for the same plan. */
function toKey(plan: ArrivalsPlan): string {
  return JSON.stringify(plan, (_, value: unknown) => {
    if (typeof value === 'bigint') return `${value}n`;
    return value instanceof Map ? [...(value as Map<unknown, unknown>)] : value;
  });
}

interface Turns {
  take<Result>(work: () => Promise<Result>): Promise<Result>;
}

/** First come, first served, `most` at once. */
function createTurns(most: number): Turns {
  const waiting: (() => void)[] = [];
  let free = most;
  return {
    async take(work) {
      if (free > 0) free--;
      else await new Promise<void>((resolve) => waiting.push(resolve));
      try {
        return await work();
      } finally {
        const next = waiting.shift();
        if (next === undefined) free++;
        else next();
      }
    },
  };
}
