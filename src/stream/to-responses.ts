/** Converts results of the store to responses of the API. Pure. */
import { AppError } from '../model/errors.ts';
import { decodeLogId, encodeLogId, type LogPosition, maxTie } from '../model/log-id.ts';
import type { FacetsResult, HistogramPlan, HistogramResult, LogRecord } from '../model/plan.ts';
import { type Cursor, cursorBefore, toCursor } from './cursor.ts';
import type { NamedField } from './parameters.ts';
import { pickFields } from './record-fields.ts';
import type { ListQuery } from './requests.ts';
import type { FacetResponse, HistogramResponse, ListResponse } from './responses.ts';

/**
 * @param logs newest first, as the store returns them
 * @param watermarkNanos read before the logs.
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
  const isAscending = query.order === 'asc';
  return {
    logs: (isAscending ? logs.toReversed() : [...logs]).map((log) => pickFields(log, query.fields)),
    cursor: query.since === undefined && !isAscending ? cursorOf(last) : newest,
    newest: atMostWatermark(newest, watermarkNanos),
  };
}

function cursorOf({ timestamp, logId }: LogRecord): Cursor {
  return { timestamp, logId };
}

/**
 * Logs above the watermark may still be stored late. Polling that started from one of them would
 * skip those, so it starts at the watermark.
 */
function atMostWatermark(cursor: Cursor, watermarkNanos: bigint): Cursor {
  const position = decodeLogId(cursor.logId);
  if (position === undefined || position.timeNanos <= watermarkNanos) return cursor;
  return toCursor({ timeNanos: watermarkNanos, tie: maxTie });
}

/** @param logs the result of `planOneLog`. @throws AppError `not_found` */
export function toOneLog(position: LogPosition, logs: readonly LogRecord[]): LogRecord {
  const logId = encodeLogId(position);
  const found = logs.find((log) => log.logId === logId);
  if (found !== undefined) return found;
  const message = `cannot find log ${logId}: the account has no such log, or it has expired`;
  throw new AppError('not_found', message, { parameter: 'logId' });
}

export function toHistogramResponse(
  plan: HistogramPlan,
  { counts, groups }: HistogramResult,
): HistogramResponse {
  const edges = bucketEdges(plan);
  const buckets = counts.map((count, i) => ({
    startTime: edges[i]!,
    endTime: edges[i + 1]!,
    count,
    ...(groups && withOthers(count, groupCounts(groups, i))),
  }));
  const total = counts.reduce((sum, count) => sum + count, 0);
  return { startTime: edges[0]!, endTime: edges.at(-1)!, buckets, total };
}

/** Starts of buckets, and the end of the last. */
export function bucketEdges({ startMs, endMs, buckets }: HistogramPlan): string[] {
  return Array.from({ length: buckets + 1 }, (_, i) =>
    // At most 500 * 5.6e12, so exact in a double.
    new Date(startMs + Math.floor((i * (endMs - startMs)) / buckets)).toISOString(),
  );
}

/** From entries, since a severity may be called `__proto__`. */
function groupCounts(
  groups: ReadonlyMap<string, readonly number[]>,
  bucket: number,
): Record<string, number> {
  const counts = [...groups].map(([value, perBucket]) => [value, perBucket[bucket]!] as const);
  return Object.fromEntries(counts.filter(([, count]) => count > 0));
}

function withOthers(count: number, groups: Readonly<Record<string, number>>) {
  const listed = Object.values(groups).reduce((sum, one) => sum + one, 0);
  return { groups, other: count - listed };
}

/** One response for each name, in order; two names of one field get the same counts. */
export function toFacetResponses(
  named: readonly NamedField[],
  results: readonly FacetsResult[],
): FacetResponse[] {
  return named.map(({ name, field: asked }) => {
    const result = results.find(({ field }) => field === asked)!;
    const { values, other, total } = result;
    return { field: name, values: [...values], other, total };
  });
}
