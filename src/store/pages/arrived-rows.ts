/**
 * Logs that have just arrived, read once for tails with different filters. A statement for each
 * tail takes several ms, so that thirty tails keep a core busy. Rows up to the watermark do not
 * change, so a later tail with the same range can use them too.
 */
import type { ArrivalsPlan } from '../../model/arrival.ts';
import { exceededLimit } from '../failures.ts';
import type { ArrivalRow } from '../sql/list-logs.ts';
import { sizeOf } from '../sql/log-record.ts';
import { canFilter, rowFilter } from './row-filter.ts';

interface Range {
  /** All rows in order of arrival; absent = one tail has asked so far; undefined = too many. */
  rows?: Promise<readonly ArrivalRow[] | undefined>;
}

interface ArrivedPage {
  readonly rows: readonly ArrivalRow[];
  readonly isComplete: boolean;
}

/** More rows or bytes cost more to filter here than a few statements. */
const maxRows = 500;
const maxBytes = 2 ** 20;
/** A longer one is likely to have too many rows. */
const maxRangeNanos = 10_000_000_000n;
/** The last ones; tails of several accounts or streams take turns. */
const maxRanges = 8;

/** @param read rows in order of arrival. @throws as `read` does */
export function createArrivedRows(read: (plan: ArrivalsPlan) => Promise<ArrivalRow[]>) {
  const ranges = new Map<string, Range>();

  /** @returns undefined where the caller needs its own statement */
  return async function find(plan: ArrivalsPlan): Promise<ArrivedPage | undefined> {
    if (!canShare(plan)) return undefined;
    const key = keyOf(plan);
    const range = ranges.get(key);
    if (range === undefined) {
      ranges.set(key, {});
      const [oldest] = ranges.keys();
      if (ranges.size > maxRanges) ranges.delete(oldest!);
      return undefined;
    }
    range.rows ??= readAll(read, plan);
    try {
      const rows = await range.rows;
      return rows && pageOf(rows, plan);
    } catch (error) {
      ranges.delete(key);
      throw error;
    }
  };
}

function canShare({ filter, after, untilNanos }: ArrivalsPlan): boolean {
  const isShort = untilNanos - after.receivedAtNanos <= maxRangeNanos;
  const hasTimes = filter.fromNanos !== undefined || filter.untilNanos !== undefined;
  return isShort && !hasTimes && canFilter(filter);
}

async function readAll(
  read: (plan: ArrivalsPlan) => Promise<ArrivalRow[]>,
  plan: ArrivalsPlan,
): Promise<readonly ArrivalRow[] | undefined> {
  const { accountId, streams, fromNanos, untilNanos } = plan.filter;
  const times = { fromNanos, untilNanos };
  const filter = { accountId, streams, ...times, equal: new Map(), labels: [], search: [] };
  try {
    const rows = await read({ ...plan, filter, limit: maxRows, maxBytes });
    return rows.length < maxRows ? rows : undefined;
  } catch (error) {
    // The statement of one filter may stay within the limits.
    if (exceededLimit(error) !== undefined) return undefined;
    throw error;
  }
}

/** A single log may be larger than a page. */
function pageOf(all: readonly ArrivalRow[], plan: ArrivalsPlan): ArrivedPage {
  const matches = rowFilter(plan.filter);
  const rows: ArrivalRow[] = [];
  let bytes = 0;
  for (const row of all) {
    const [, , ...log] = row;
    if (!matches({ at: (index) => log[index] })) continue;
    bytes += sizeOf(log);
    const isFull = rows.length === plan.limit || (rows.length > 0 && bytes > plan.maxBytes);
    if (isFull) return { rows, isComplete: false };
    rows.push(row);
  }
  return { rows, isComplete: true };
}

function keyOf({ filter: { accountId, streams }, after, untilNanos }: ArrivalsPlan): string {
  const { receivedAtNanos, batch, row } = after;
  const read = streams.flatMap(({ streamId, receivedFromNanos }) => [streamId, receivedFromNanos]);
  return [accountId, receivedAtNanos, batch, row, untilNanos, ...read].join(' ');
}
