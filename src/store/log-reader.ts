/** Runs the three reads of logs within their limits. What a plan means is settled in sql/. */
import type { FacetsPlan, HistogramPlan, ListPlan, LogFilter, LogRecord } from '../model/plan.ts';
import type { ReadKind, StoreEvents } from '../telemetry/store-events.ts';
import type { Connection } from './connection.ts';
import { overLimit, toReadError } from './failures.ts';
import type { Store } from './port.ts';
import type { ReceiptFloor } from './receipt-floor.ts';
import { compileFacets, type FacetRow, toFacetsResults } from './sql/facets.ts';
import { compileHistogram, type HistogramRow, toHistogramResult } from './sql/histogram.ts';
import { compileList, type LogRow, toLogRecord } from './sql/list-logs.ts';
import { listWindows } from './sql/list-windows.ts';
import type { ReadLimits } from './sql/statement.ts';

export interface LogReaderParts {
  readonly connection: Connection;
  readonly table: string;
  readonly floor: ReceiptFloor;
  readonly events: StoreEvents;
  readonly limits: ReadLimits;
}

/** As the store's port promises. */
export type LogReader = Pick<Store, 'list' | 'histogram' | 'facets'>;

export function createLogReader(parts: LogReaderParts): LogReader {
  const { connection, table, floor, events, limits } = parts;

  /** One time limit for all windows together. */
  async function list(plan: ListPlan): Promise<LogRecord[]> {
    const startedAt = performance.now();
    const rows: LogRow[] = [];
    for (const window of listWindows(plan, BigInt(Date.now()) * 1_000_000n)) {
      const maxSeconds = limits.maxSeconds - secondsSince(startedAt);
      if (maxSeconds < 0.001) throw overLimit(undefined);
      const step = { window, limit: plan.limit - rows.length, limits: { ...limits, maxSeconds } };
      rows.push(...(await connection.query<LogRow>('read', compileList(table, plan, step))));
      if (rows.length >= plan.limit) break;
    }
    if (plan.direction === 'newer') rows.reverse();
    return rows.map(toLogRecord);
  }

  async function histogram(plan: HistogramPlan) {
    const statement = compileHistogram(table, plan, limits);
    return toHistogramResult(plan, await connection.query<HistogramRow>('read', statement));
  }

  async function facets(plan: FacetsPlan) {
    const statement = compileFacets(table, plan, limits);
    return toFacetsResults(plan, await connection.query<FacetRow>('read', statement));
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

  async function timed<Result>(kind: ReadKind, read: Promise<Result>): Promise<Result> {
    const startedAt = performance.now();
    try {
      const result = await read;
      events.read(kind, secondsSince(startedAt));
      return result;
    } catch (cause) {
      const error = toReadError(cause);
      events.readFailed(kind, secondsSince(startedAt), error);
      throw error;
    }
  }

  return {
    list: (plan) => timed('list', list(checked(plan))),
    histogram: (plan) => timed('histogram', histogram(checked(plan))),
    facets: (plan) => timed('facets', facets(checked(plan))),
  };
}

function secondsSince(startedAt: number): number {
  return (performance.now() - startedAt) / 1000;
}
