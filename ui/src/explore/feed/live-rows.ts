/**
 * Rows of a list: new logs of live mode go on top, or are held while the reader has scrolled down.
 * Both are bounded, in number and in text. Pure.
 */
import type { Log } from '../../api/models.ts';

export interface LiveRows {
  /** Newest first: tailed logs, then listed ones. */
  readonly rows: readonly Log[];
  /** Newest first; held back. */
  readonly held: readonly Log[];
  /** Held logs dropped for newer ones. */
  readonly forgotten: number;
  /** The last rows were dropped. */
  readonly isCut: boolean;
}

/** Maximum of rows; older ones are dropped. */
export const maxLiveRows = 10_000;
/** Characters of their messages and labels. */
const maxTextLength = 100_000_000;

export const noLiveRows: LiveRows = { rows: [], held: [], forgotten: 0, isCut: false };

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
  const kept = fitting(held, maxRows);
  return { ...live, held: kept, forgotten: live.forgotten + held.length - kept.length };
}

export function release(live: LiveRows, maxRows = maxLiveRows): LiveRows {
  if (live.held.length === 0) return live;
  return { ...withRows(live, [...live.held, ...live.rows], maxRows), held: [], forgotten: 0 };
}

/** Appends listed logs, skipping those already present. */
export function appendListed(
  live: LiveRows,
  listed: readonly Log[],
  maxRows = maxLiveRows,
): LiveRows {
  return withRows(live, [...live.rows, ...onlyUnknown(listed, live)], maxRows);
}

function withRows(live: LiveRows, rows: readonly Log[], maxRows: number): LiveRows {
  const kept = fitting(rows, maxRows);
  return { ...live, rows: kept, isCut: live.isCut || kept.length < rows.length };
}

/** At least the first. */
function fitting(logs: readonly Log[], maxRows: number): readonly Log[] {
  let length = 0;
  const end = logs.findIndex((log, index) => {
    length += lengthOf(log);
    return index > 0 && (index >= maxRows || length > maxTextLength);
  });
  return end < 0 ? logs : logs.slice(0, end);
}

/** Of the text of a log, which is asked for with each new log. */
const lengths = new WeakMap<Log, number>();

function lengthOf(log: Log): number {
  const known = lengths.get(log);
  if (known !== undefined) return known;
  let { length } = log.message;
  for (const [key, value] of Object.entries(log.labels)) length += key.length + value.length;
  lengths.set(log, length);
  return length;
}

/** The smaller side becomes the set. */
function onlyUnknown(logs: readonly Log[], { rows, held }: LiveRows): Log[] {
  const ids = new Set(logs.map(({ logId }) => logId));
  for (const { logId } of rows) ids.delete(logId);
  for (const { logId } of held) ids.delete(logId);
  return logs.filter(({ logId }) => ids.delete(logId));
}
