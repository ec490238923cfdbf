/** The list: a page of logs, where to go on, and where polling starts. Pure. */
import { decodeLogId, maxTie } from '../model/log-id.ts';
import type { LogRecord } from '../model/plan.ts';
import { type Cursor, cursorBefore, toCursor } from './cursor.ts';
import type { ListQuery } from './requests.ts';
import type { ListResponse } from './responses.ts';

/**
 * @param logs newest first.
 * @param watermarkNanos as it was before the logs were read.
 */
export function toListResponse(
  query: ListQuery,
  logs: readonly LogRecord[],
  watermarkNanos: bigint,
): ListResponse {
  const first = logs[0];
  const last = logs.at(-1);
  if (first === undefined || last === undefined) {
    const given = query.since ?? query.cursor ?? cursorBefore(query.sinceTime ?? 0n);
    return { logs: [], cursor: given, newest: given };
  }
  const newest = cursorOf(first);
  return {
    logs: [...logs],
    cursor: query.since === undefined ? cursorOf(last) : newest,
    newest: notBeyond(newest, watermarkNanos),
  };
}

function cursorOf(log: LogRecord): Cursor {
  return { timestamp: log.timestamp, logId: log.logId };
}

/**
 * Below the watermark nothing that Weir stamps is still to come, above it there may be. A poller
 * that started from a log beyond it would pass over what is stamped in between, so it starts at the
 * watermark instead.
 */
function notBeyond(cursor: Cursor, watermarkNanos: bigint): Cursor {
  const position = decodeLogId(cursor.logId);
  if (position === undefined || position.timeNanos <= watermarkNanos) return cursor;
  return toCursor({ timeNanos: watermarkNanos, tie: maxTie });
}
