/** One log by its id, which says where it stands in the order of logs. Pure. */
import { AppError } from '../model/errors.ts';
import { encodeLogId, type LogPosition } from '../model/log-id.ts';
import type { ListPlan, LogRecord } from '../model/plan.ts';
import type { ReadContext } from '../model/readable-streams.ts';
import type { LogQuery } from './log-requests.ts';
import { toFilter } from './plan.ts';

/**
 * The newest log of that very nanosecond that is not newer than the wanted one: that one, if it is
 * there.
 * @throws AppError `not_found`
 */
export function planOneLog(context: ReadContext, { timeNanos, tie }: LogPosition, query: LogQuery) {
  const range = { sinceTime: timeNanos, untilTime: timeNanos + 1n };
  return {
    filter: toFilter(context, { ...range, streamId: query.streamId }),
    limit: 1,
    direction: 'older',
    position: { timeNanos, tie: tie + 1n },
    untilWatermarkNanos: undefined,
  } satisfies ListPlan;
}

/** @param logs the answer to its plan @throws AppError `not_found` */
export function toOneLog(position: LogPosition, logs: readonly LogRecord[]): LogRecord {
  const logId = encodeLogId(position);
  const found = logs.find((log) => log.logId === logId);
  if (found !== undefined) return found;
  const message = `cannot find log ${logId}: this account has no such log, or keeps it no longer`;
  throw new AppError('not_found', message, { parameter: 'logId' });
}
