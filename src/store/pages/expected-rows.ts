/** Estimates from the newest logs in memory how many rows of the store hold a page. Pure. */
import type { ListPlan } from '../../model/plan.ts';
import { seeksIdentifier } from '../sql/time-windows.ts';
import { canFilter, rowFilter } from './row-filter.ts';
import type { StreamRows } from './stream-rows.ts';

/** A window that holds too few logs costs another statement. */
const margin = 4;
/** Of each stream. */
const maxSample = 1_000;

/**
 * @param streams of the plan; undefined = not in memory
 * @returns Infinity where the newest logs do not tell
 */
export function expectedRows(
  { filter, limit }: Pick<ListPlan, 'filter' | 'limit'>,
  streams: readonly (Pick<StreamRows, 'isLoaded' | 'rows'> | undefined)[],
): number {
  // A search for an identifier reads the same first window in any case.
  if (seeksIdentifier(filter) || !canFilter(filter)) return Infinity;
  if (!streams.every((stream) => stream?.isLoaded)) return Infinity;
  const matches = rowFilter(filter);
  const rows = streams.flatMap((stream) => stream!.rows.slice(0, maxSample));
  const found = rows.filter(matches).length;
  return found === 0 ? Infinity : Math.ceil((margin * limit * rows.length) / found);
}
