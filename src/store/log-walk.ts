/**
 * Walks back through all logs that match, step by step. A step is one statement, or several where
 * the first were too much for the engine; how much each looks at is settled in sql/.
 */
import type { ListPlan, WalkPlan, WalkPoint, WalkStep } from '../model/plan.ts';
import type { Connection } from './connection.ts';
import { exceededLimit } from './failures.ts';
import { compileList } from './sql/list-logs.ts';
import { type LogRow, positionOf, sizeOf, toLogRecord } from './sql/log-record.ts';
import type { ReadLimits } from './sql/statement.ts';
import {
  maxStepBytes,
  type TimeWindow,
  walkOn,
  walkSlower,
  walkStart,
  walkWindow,
} from './sql/time-windows.ts';

export interface LogWalkParts {
  readonly connection: Connection;
  readonly table: string;
  readonly limits: ReadLimits;
}

/** @throws what the connection throws; DOMException `AbortError` once the signal is aborted */
export async function walkLogs(
  parts: LogWalkParts,
  plan: WalkPlan,
  signal: AbortSignal,
): Promise<WalkStep> {
  const nowNanos = BigInt(Date.now()) * 1_000_000n;
  let point = plan.from ?? walkStart;
  for (;;) {
    signal.throwIfAborted();
    const window = walkWindow(plan.filter, point, nowNanos);
    if (window === undefined) return { logs: [], next: undefined };
    try {
      const rows = await readRows(parts, { plan, point, window }, signal);
      const bytes = rows.reduce((sum, row) => sum + sizeOf(row), 0);
      const oldest = rows.at(-1);
      const found = { window, rows: rows.length, bytes, last: oldest && positionOf(oldest) };
      return { logs: rows.map(toLogRecord), next: walkOn(plan, point, found, nowNanos) };
    } catch (error) {
      signal.throwIfAborted();
      const exceeded = exceededLimit(error);
      const slower = exceeded && walkSlower(point, exceeded);
      if (slower === undefined) throw error;
      point = slower;
    }
  }
}

function readRows(
  { connection, table, limits }: LogWalkParts,
  { plan, point, window }: { plan: WalkPlan; point: WalkPoint; window: TimeWindow },
  signal: AbortSignal,
): Promise<LogRow[]> {
  const limit = Math.min(plan.limit, point.rows);
  const list: ListPlan = {
    filter: plan.filter,
    limit,
    direction: 'older',
    position: point.position,
    untilWatermarkNanos: undefined,
  };
  // A single log is read whatever its size.
  const bounded = limit === 1 ? limits : { ...limits, maxBytesReturned: maxStepBytes };
  const statement = compileList(table, list, { window, limit, limits: bounded });
  return connection.read<LogRow>(statement, { accountId: plan.filter.accountId, signal });
}
