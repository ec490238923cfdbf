/**
 * Pages of a tail, ready to be sent. Tails that want the same at the same time share one page, and
 * only so many are read at once, by account, that other reads keep their turn.
 */
import type { Arrivals, ArrivalPosition, ArrivalRange, ArrivalsPlan } from '../model/arrival.ts';
import { arrivalsUntil } from '../model/arrival.ts';
import { createTurns } from '../std/turns.ts';
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

/** Who catches up asks for much, who is up to date for little: neither waits for the other. */
export type Way = 'behind' | 'live';

export interface Asker {
  /** What nobody waits for any more is not read. */
  readonly signal: AbortSignal;
  readonly way: Way;
}

/** Every call may throw AppError, as the store does. */
export interface ArrivalPages {
  read(plan: ArrivalsPlan, asker: Asker): Promise<ArrivalPage>;
  count(range: ArrivalRange, asker: Asker): Promise<number>;
}

interface SharedPage {
  readonly page: Promise<ArrivalPage>;
  readonly readers: AbortSignal[];
}

/** Sent at once, about; a reader that leaves has taken no more than this too much. */
const chunkLength = 64 * 1024;

/** @param maxQueries reads of the store at once, of each way. */
export function createArrivalPages(
  store: Pick<Store, 'arrivals' | 'countArrivals'>,
  maxQueries: number,
): ArrivalPages {
  // What waits is bounded by the tails there may be.
  const options = { what: 'reads of tails', places: maxQueries, maxWaiting: 2 ** 32 };
  const turns = { behind: createTurns(options), live: createTurns(options) };
  const shared = new Map<string, SharedPage>();

  async function readPage(
    plan: ArrivalsPlan,
    key: string,
    { way, readers }: { readonly way: Way; readonly readers: readonly AbortSignal[] },
  ) {
    const leave = await turns[way].take(plan.filter.accountId);
    try {
      if (readers.every((signal) => signal.aborted)) {
        // Before the rejection, so that no later reader joins this page.
        shared.delete(key);
        throw nobodyWaits();
      }
      return toPage(plan, await store.arrivals(plan));
    } finally {
      leave();
    }
  }

  return {
    read(plan, { signal, way }) {
      if (signal.aborted) return Promise.reject(nobodyWaits());
      const key = toKey(plan);
      const known = shared.get(key);
      if (known !== undefined) {
        known.readers.push(signal);
        return known.page;
      }
      const readers = [signal];
      const page = readPage(plan, key, { way, readers }).finally(() => {
        if (shared.get(key)?.page === page) shared.delete(key);
      });
      shared.set(key, { page, readers });
      return page;
    },
    async count(range, { signal, way }) {
      const leave = await turns[way].take(range.filter.accountId, signal);
      try {
        return await store.countArrivals(range);
      } finally {
        leave();
      }
    },
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
