/** Runs the reads of logs within their limits. What a plan means is settled in sql/. */
import type { FacetsPlan, HistogramPlan, ListPlan, LogFilter, LogRecord } from '../model/plan.ts';
import type { StoreEvents } from '../telemetry/store-events.ts';
import type { Asker, Connection } from './connection.ts';
import { walkLogs } from './log-walk.ts';
import type { Store } from './port.ts';
import { startReadTime, timed } from './read-time.ts';
import type { ReceiptFloor } from './receipt-floor.ts';
import { compileFacets, type FacetRow, toFacetsResults } from './sql/facets.ts';
import { compileHistogram, type HistogramRow, toHistogramResult } from './sql/histogram.ts';
import { compileList } from './sql/list-logs.ts';
import { type LogRow, toLogRecord } from './sql/log-record.ts';
import type { ReadLimits } from './sql/statement.ts';
import { listWindows } from './sql/time-windows.ts';

export interface LogReaderParts {
  readonly connection: Connection;
  readonly table: string;
  readonly floor: ReceiptFloor;
  readonly events: StoreEvents;
  readonly limits: ReadLimits;
}

/** As the store's port promises. */
export type LogReader = Pick<Store, 'list' | 'walk' | 'histogram' | 'facets'>;

export function createLogReader(parts: LogReaderParts): LogReader {
  const { connection, table, floor, events, limits } = parts;

  async function list(plan: ListPlan, asker: Asker): Promise<LogRecord[]> {
    const time = startReadTime(limits);
    const rows: LogRow[] = [];
    for (const window of listWindows(plan, BigInt(Date.now()) * 1_000_000n)) {
      const step = { window, limit: plan.limit - rows.length, limits: time.left() };
      rows.push(...(await connection.read<LogRow>(compileList(table, plan, step), asker)));
      if (rows.length >= plan.limit) break;
    }
    if (plan.direction === 'newer') rows.reverse();
    return rows.map(toLogRecord);
  }

  async function histogram(plan: HistogramPlan, asker: Asker) {
    const statement = compileHistogram(table, plan, limits);
    return toHistogramResult(plan, await connection.read<HistogramRow>(statement, asker));
  }

  async function facets(plan: FacetsPlan, asker: Asker) {
    const statement = compileFacets(table, plan, limits);
    return toFacetsResults(plan, await connection.read<FacetRow>(statement, asker));
  }

  /**
   * A limit of receipt that no row is older than hides nothing, and need not be checked row by row.
   */
  function checked<Plan extends { readonly filter: LogFilter }>(plan: Plan): Plan {
    const streams = plan.filter.streams.map((stream) =>
      stream.receivedFromNanos <= floor.nanos() ? { ...stream, receivedFromNanos: 0n } : stream,
    );
    return { ...plan, filter: { ...plan.filter, streams } };
  }

  return {
    list: (plan, signal) => timed(events, 'list', list(checked(plan), askerOf(plan, signal))),
    walk: (plan, signal) => timed(events, 'walk', walkLogs(parts, checked(plan), signal)),
    histogram: (plan, signal) =>
      timed(events, 'histogram', histogram(checked(plan), askerOf(plan, signal))),
    facets: (plan, signal) => timed(events, 'facets', facets(checked(plan), askerOf(plan, signal))),
  };
}

function askerOf({ filter }: { readonly filter: LogFilter }, signal?: AbortSignal): Asker {
  return { accountId: filter.accountId, signal };
}
