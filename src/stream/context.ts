/** What stands around a log in its own stream. Pure. */
import type { LogPosition } from '../model/log-id.ts';
import type { ListPlan, LogRecord } from '../model/plan.ts';
import type { ReadContext } from '../model/readable-streams.ts';
import type { ContextQuery } from './log-requests.ts';
import { toFilter } from './plan.ts';
import type { FilterQuery } from './requests.ts';

export interface ContextPlans {
  readonly newer: ListPlan;
  readonly older: ListPlan;
}

/**
 * Both sides of one position in the total order: nothing is missed between them, and nothing is on
 * both, many logs of one time included. @throws AppError `not_found`
 */
export function planContext(
  context: ReadContext,
  { log, position }: { readonly log: LogRecord; readonly position: LogPosition },
  { before, after, same = [] }: ContextQuery,
): ContextPlans {
  const { streamId, host, serviceName, serviceNamespace } = log;
  const query: FilterQuery = {
    streamId: [streamId],
    ...(same.includes('host') && { host: [host] }),
    ...(same.includes('service') && {
      serviceName: [serviceName],
      serviceNamespace: [serviceNamespace],
    }),
  };
  const around = { filter: toFilter(context, query), position, untilWatermarkNanos: undefined };
  return {
    newer: { ...around, direction: 'newer', limit: after },
    older: { ...around, direction: 'older', limit: before },
  };
}
