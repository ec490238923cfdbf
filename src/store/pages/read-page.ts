/** Reads a page of logs by statements over windows of event time. */
import type { ListPlan } from '../../model/plan.ts';
import type { QueryContext } from '../connection.ts';
import { type ReaderParts, startReadTime } from '../read-time.ts';
import type { RowSpreads } from './row-spread.ts';
import { compileList } from '../sql/list-logs.ts';
import type { LogRow } from '../sql/log-record.ts';
import { tableName } from '../sql/tables.ts';
import { firstRows, listWindows } from '../sql/time-windows.ts';

export interface ListParts extends ReaderParts {
  readonly spreads: RowSpreads;
  /** Rows of the store that hold the page; absent = unknown. */
  readonly expectedRows?: number;
}

/** Newest first. */
export async function readPage(
  { connection, database, limits, spreads, expectedRows }: ListParts,
  plan: ListPlan,
  context: QueryContext,
): Promise<LogRow[]> {
  const time = startReadTime(limits);
  const rows: LogRow[] = [];
  const streamIds = plan.filter.streams.map(({ streamId }) => streamId);
  const spread = await spreads.of(plan.filter.accountId, streamIds);
  const nowNanos = BigInt(Date.now()) * 1_000_000n;
  const firstWindow = firstRows(plan.filter, expectedRows);
  for (const window of listWindows(plan, spread, nowNanos, firstWindow)) {
    const step = { window, limit: plan.limit - rows.length, limits: time.left() };
    const statement = compileList(tableName(database, 'logs'), plan, step);
    rows.push(...(await connection.read<LogRow>(statement, context)));
    if (rows.length >= plan.limit) break;
  }
  if (plan.direction === 'newer') rows.reverse();
  return rows;
}
