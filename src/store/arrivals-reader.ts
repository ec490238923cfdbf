/**
 * Runs the reads of the tail within their limits, and sees to it that no page is larger than it may
 * be. What a plan means is settled in sql/.
 */
import type { ArrivalRange, Arrivals, ArrivalsPlan } from '../model/arrival.ts';
import { exceededLimit } from './failures.ts';
import type { LogReaderParts } from './log-reader.ts';
import type { Store } from './port.ts';
import { startReadTime, timed } from './read-time.ts';
import {
  type ArrivalRow,
  compileArrivals,
  compileCountArrivals,
  toArrivedLog,
} from './sql/list-logs.ts';

/** As the store's port promises. */
export type ArrivalsReader = Pick<Store, 'arrivals' | 'countArrivals'>;

/** After a page that was too large, the next attempt asks for this part of it. */
const shrinkBy = 8;

export function createArrivalsReader(
  parts: Pick<LogReaderParts, 'connection' | 'table' | 'events' | 'limits'>,
): ArrivalsReader {
  const { connection, table, events, limits } = parts;

  async function arrivals(plan: ArrivalsPlan): Promise<Arrivals> {
    const time = startReadTime(limits);
    const { accountId } = plan.filter;
    for (let { limit } = plan; ; limit = Math.ceil(limit / shrinkBy)) {
      const statement = compileArrivals(table, { ...plan, limit }, time.left());
      try {
        const rows = await connection.read<ArrivalRow>(statement, { accountId });
        return { logs: rows.map(toArrivedLog), isComplete: rows.length < limit };
      } catch (error) {
        if (limit === 1 || exceededLimit(error) !== 'size') throw error;
      }
    }
  }

  async function countArrivals(range: ArrivalRange): Promise<number> {
    const statement = compileCountArrivals(table, range, limits);
    const { accountId } = range.filter;
    const [row] = await connection.read<[string]>(statement, { accountId });
    return Number(row?.[0] ?? 0);
  }

  return {
    arrivals: (plan) => timed(events, 'arrivals', arrivals(plan)),
    countArrivals: (range) => timed(events, 'count_arrivals', countArrivals(range)),
  };
}
