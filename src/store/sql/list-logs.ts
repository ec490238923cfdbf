/** One step of the list: the rows of one window of time in listing order. Pure. */
import type { ListPlan } from '../../model/plan.ts';
import type { TimeWindow } from './list-windows.ts';
import { logColumns } from './log-record.ts';
import { limitsSql, Parameters, type ReadLimits, type Statement } from './statement.ts';
import { whereSql } from './where.ts';

/**
 * Rows of `window` in the plan's direction: newest first for `older`, oldest first for `newer`; at
 * most `limit`. The wide columns of rows that do not make the page are never read: the engine
 * fetches them after the limit.
 */
export function compileList(
  table: string,
  plan: ListPlan,
  step: { readonly window: TimeWindow; readonly limit: number; readonly limits: ReadLimits },
): Statement {
  const params = new Parameters();
  const filter = {
    ...plan.filter,
    fromNanos: step.window.fromNanos,
    untilNanos: step.window.untilNanos,
  };
  const conditions = [whereSql(filter, params), ...positionCondition(plan, params)];
  const order = plan.direction === 'older' ? 'DESC' : 'ASC';
  const sql = `SELECT ${logColumns}
FROM ${table}
WHERE ${conditions.join('\n  AND ')}
ORDER BY Timestamp ${order}, Tie ${order}
LIMIT ${step.limit}
${limitsSql(step.limits)}`;
  return { sql, params: params.values };
}

/** Written without tuples, which would not use the sort order. */
function positionCondition(plan: ListPlan, params: Parameters): string[] {
  if (plan.position === undefined) return [];
  const sign = plan.direction === 'older' ? '<' : '>';
  const time = params.time(plan.position.timeNanos);
  const tie = params.add('UInt64', plan.position.tie);
  return [`Timestamp ${sign}= ${time}`, `(Timestamp ${sign} ${time} OR Tie ${sign} ${tie})`];
}
