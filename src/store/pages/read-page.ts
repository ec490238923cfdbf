/** Reads a page of logs by statements over windows of event time. */
import type { ListPlan } from '../../model/plan.ts';
import type { QueryContext } from '../connection.ts';
import { type ReaderParts, startReadTime } from '../read-time.ts';
import { compileList, compilePackedList } from '../sql/list-logs.ts';
import type { LogRow } from '../sql/log-record.ts';
import type { Statement } from '../sql/statement.ts';
import { tableName } from '../sql/tables.ts';
import { firstRows, listWindows } from '../sql/time-windows.ts';
import { packResult } from './packed-rows.ts';
import type { RowSpreads } from './row-spread.ts';
import type { PlacedRow } from './stream-rows.ts';
import { readWithout, type UnusedColumns } from './unused-columns.ts';

export interface ListParts extends ReaderParts {
  readonly spreads: RowSpreads;
  readonly columns: Pick<UnusedColumns, 'names'>;
  /** Rows of the store that hold the page; absent = unknown. */
  readonly expectedRows?: number;
}

/** Newest first. */
export function readPage(
  parts: ListParts,
  plan: ListPlan,
  context: QueryContext,
): Promise<LogRow[]> {
  const read = (statement: Statement) => parts.connection.read<LogRow>(statement, context);
  return readWindows(parts, plan, compileList, read);
}

/** Of one stream, newest first, as bytes. */
export function readPackedPage(
  parts: ListParts,
  plan: ListPlan,
  context: QueryContext,
): Promise<PlacedRow[]> {
  const { streamId } = plan.filter.streams[0]!;
  const read = async (statement: Statement) =>
    packResult(await parts.connection.readBytes(statement, context), streamId);
  return readWindows(parts, plan, compilePackedList, read);
}

async function readWindows<Row>(
  { database, limits, spreads, columns, expectedRows }: ListParts,
  plan: ListPlan,
  compile: typeof compileList,
  read: (statement: Statement) => Promise<Row[]>,
): Promise<Row[]> {
  const time = startReadTime(limits);
  const rows: Row[] = [];
  const streamIds = plan.filter.streams.map(({ streamId }) => streamId);
  const spread = await spreads.of(plan.filter.accountId, streamIds);
  const nowNanos = BigInt(Date.now()) * 1_000_000n;
  const firstWindow = firstRows(plan.filter, expectedRows);
  for (const window of listWindows(plan, spread, nowNanos, firstWindow)) {
    const step = { window, limit: plan.limit - rows.length };
    const found = await readWithout(columns, (unused) =>
      read(compile(tableName(database, 'logs'), plan, { ...step, limits: time.left(), unused })),
    );
    rows.push(...found);
    if (rows.length >= plan.limit) break;
  }
  if (plan.direction === 'newer') rows.reverse();
  return rows;
}
