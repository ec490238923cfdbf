/** A position in the total order of logs as text: `<timestamp>,<logId>`, or a JSON object. Pure. */
import { decodeLogId, encodeLogId, type LogPosition, maxTie, nilLogId } from '../model/log-id.ts';
import { parseTimestamp, toIsoMillis } from './timestamps.ts';

/** The logId is the position; the timestamp is informative, except with the nil UUID. */
export interface Cursor {
  /** ISO 8601 UTC, ms. */
  readonly timestamp: string;
  readonly logId: string;
}

export function toCursor(position: LogPosition): Cursor {
  return { timestamp: toIsoMillis(position.timeNanos), logId: encodeLogId(position) };
}

/** Before every log of this time. */
export function cursorBefore(timeNanos: bigint): Cursor {
  return { timestamp: toIsoMillis(timeNanos), logId: nilLogId };
}

/**
 * @returns undefined for text in neither form, and for an id that is no logId or of another time.
 */
export function parseCursor(text: string): Cursor | undefined {
  const parts = text.trimStart().startsWith('{') ? fromJson(text) : fromPair(text);
  if (parts === undefined) return undefined;
  const timeNanos = parseTimestamp(parts.timestamp);
  if (timeNanos === undefined) return undefined;
  const logId = parts.logId.toLowerCase();
  if (logId === nilLogId) return cursorBefore(timeNanos);
  const position = decodeLogId(logId);
  if (position === undefined || toIsoMillis(position.timeNanos) !== toIsoMillis(timeNanos)) {
    return undefined;
  }
  return toCursor(position);
}

/** Logs strictly before this position are older than the cursor, those strictly after are newer. */
export function toPosition(cursor: Cursor): LogPosition {
  const position = decodeLogId(cursor.logId);
  if (position !== undefined) return position;
  return { timeNanos: parseTimestamp(cursor.timestamp)! - 1n, tie: maxTie };
}

function fromPair(text: string): Cursor | undefined {
  const comma = text.lastIndexOf(',');
  if (comma < 0) return undefined;
  return { timestamp: text.slice(0, comma).trim(), logId: text.slice(comma + 1).trim() };
}

function fromJson(text: string): Cursor | undefined {
  try {
    const { timestamp, logId } = JSON.parse(text) as Partial<Record<string, unknown>>;
    if (typeof timestamp !== 'string' || typeof logId !== 'string') return undefined;
    return { timestamp, logId };
  } catch {
    return undefined;
  }
}
