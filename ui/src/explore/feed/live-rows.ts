/**
 * The rows of a live list: what arrives comes on top, or is held while somebody reads. Bounded in
 * both. Pure; knows neither the connection nor the page.
 */
import type { Log } from '../../api/models.ts';

export interface LiveRows {
  /** Newest first: what arrived, then what was listed. */
  readonly rows: readonly Log[];
  /** Newest first; arrived, and not shown yet. */
  readonly held: readonly Log[];
  /** Held logs that gave way to newer ones. */
  readonly forgotten: number;
}

/** Older rows give way to newer ones; who wants to read far back leaves live mode. */
export const maxLiveRows = 10_000;

export const noLiveRows: LiveRows = { rows: [], held: [], forgotten: 0 };

/** @param arrived in the order of arrival; those known already are left out */
export function arrive(
  live: LiveRows,
  arrived: readonly Log[],
  { isHolding, maxRows = maxLiveRows }: { isHolding: boolean; maxRows?: number },
): LiveRows {
  const fresh = onlyUnknown(arrived, live);
  if (fresh.length === 0) return live;
  // Of what came together the newest stands first, whatever its way here.
  const newestFirst = fresh.sort((a, b) => (a.logId < b.logId ? 1 : -1));
  const held = [...newestFirst, ...live.held];
  if (!isHolding) return release({ ...live, held }, maxRows);
  return {
    rows: live.rows,
    held: held.slice(0, maxRows),
    forgotten: live.forgotten + Math.max(0, held.length - maxRows),
  };
}

/** Shows what was held. */
export function release(live: LiveRows, maxRows = maxLiveRows): LiveRows {
  if (live.held.length === 0) return live;
  return { rows: [...live.held, ...live.rows].slice(0, maxRows), held: [], forgotten: 0 };
}

/** Adds what was listed, older than what arrived, without what is there already. */
export function appendListed(
  live: LiveRows,
  listed: readonly Log[],
  maxRows = maxLiveRows,
): LiveRows {
  return { ...live, rows: [...live.rows, ...onlyUnknown(listed, live)].slice(0, maxRows) };
}

/** The set is made of the few, not of the many. */
function onlyUnknown(logs: readonly Log[], { rows, held }: LiveRows): Log[] {
  const ids = new Set(logs.map(({ logId }) => logId));
  for (const { logId } of rows) ids.delete(logId);
  for (const { logId } of held) ids.delete(logId);
  return logs.filter(({ logId }) => ids.delete(logId));
}
