/**
 * Rows of a live list: new logs go on top, or are held while the reader has scrolled down. Both are
 * bounded. Pure.
 */
import type { Log } from '../../api/models.ts';

export interface LiveRows {
  /** Newest first: tailed logs, then listed ones. */
  readonly rows: readonly Log[];
  /** Newest first; held back. */
  readonly held: readonly Log[];
  /** Held logs dropped for newer ones. */
  readonly forgotten: number;
}

/** Maximum of rows; older ones are dropped. */
export const maxLiveRows = 10_000;

export const noLiveRows: LiveRows = { rows: [], held: [], forgotten: 0 };

/** @param arrived in arrival order; known logs are skipped */
export function arrive(
  live: LiveRows,
  arrived: readonly Log[],
  { isHolding, maxRows = maxLiveRows }: { isHolding: boolean; maxRows?: number },
): LiveRows {
  const fresh = onlyUnknown(arrived, live);
  if (fresh.length === 0) return live;
  // Logs of one chunk are sorted by time.
  const newestFirst = fresh.sort((a, b) => (a.logId < b.logId ? 1 : -1));
  const held = [...newestFirst, ...live.held];
  if (!isHolding) return release({ ...live, held }, maxRows);
  return {
    rows: live.rows,
    held: held.slice(0, maxRows),
    forgotten: live.forgotten + Math.max(0, held.length - maxRows),
  };
}

export function release(live: LiveRows, maxRows = maxLiveRows): LiveRows {
  if (live.held.length === 0) return live;
  return { rows: [...live.held, ...live.rows].slice(0, maxRows), held: [], forgotten: 0 };
}

/** Appends listed logs, skipping those already present. */
export function appendListed(
  live: LiveRows,
  listed: readonly Log[],
  maxRows = maxLiveRows,
): LiveRows {
  return { ...live, rows: [...live.rows, ...onlyUnknown(listed, live)].slice(0, maxRows) };
}

/** The smaller side becomes the set. */
function onlyUnknown(logs: readonly Log[], { rows, held }: LiveRows): Log[] {
  const ids = new Set(logs.map(({ logId }) => logId));
  for (const { logId } of rows) ids.delete(logId);
  for (const { logId } of held) ids.delete(logId);
  return logs.filter(({ logId }) => ids.delete(logId));
}
