/** Runs the reads of logs within the limits of one read. Plans are compiled in sql/. */
import type { ArrivalRange, Arrivals, ArrivalsPlan } from '../model/arrival.ts';
import type {
  FacetsPlan,
  FieldsPlan,
  FieldValuesPlan,
  HistogramPlan,
  ListPlan,
  LogFilter,
  LogRecord,
  Scan,
  StatsPlan,
  WalkPlan,
  WalkPoint,
  WalkStep,
} from '../model/plan.ts';
import type { ComparisonPlan } from '../model/sample-plan.ts';
import type { QueryContext } from './connection.ts';
import type { CountedReads } from './counts/counted-reads.ts';
import { readLateRows } from './counts/late-rows.ts';
import { canCount } from './counts/count-matches.ts';
import { exceededLimit } from './failures.ts';
import { readFields, readFieldValues } from './fields-reader.ts';
import { readComparison } from './messages/compared-values.ts';
import { readMessages } from './messages/sampled-messages.ts';
import { type ListParts, readPage } from './pages/read-page.ts';
import type { ReadKind } from '../telemetry/store-events.ts';
import type { Store } from './port.ts';
import { type ReaderParts, startReadTime, timed } from './read-time.ts';
import type { ReceiptFloor } from './receipt-floor.ts';
import type { RecentLogs } from './pages/recent-logs.ts';
import { groupedHistogram, readStats } from './stats-reader.ts';
import { compileFacets, type FacetRow, toFacetsResults } from './sql/facets.ts';
import { compileHistogram, type HistogramRow, toHistogramResult } from './sql/histogram.ts';
import {
  type ArrivalRow,
  compileArrivals,
  compileCountArrivals,
  compileList,
  toArrivedLog,
} from './sql/list-logs.ts';
import { type LogRow, positionOf, sizeOf, toLogRecord } from './sql/log-record.ts';
import { createArrivedRows } from './pages/arrived-rows.ts';
import { readWithout } from './pages/unused-columns.ts';
import { tableName } from './sql/tables.ts';
import {
  maxStepBytes,
  type TimeWindow,
  walkOn,
  walkSlower,
  walkStart,
  walkWindow,
} from './sql/time-windows.ts';

type LogReader = Pick<
  Store,
  | 'list'
  | 'walk'
  | 'histogram'
  | 'facets'
  | 'stats'
  | 'fields'
  | 'fieldValues'
  | 'messages'
  | 'compare'
  | 'arrivals'
  | 'countArrivals'
  | 'lateRows'
>;

/** A page of arrivals that was too large is retried with this fraction of its logs. */
const shrinkBy = 8;

interface LogReaderParts extends ListParts {
  readonly floor: ReceiptFloor;
  /** Absent on a cluster. */
  readonly counted: CountedReads | undefined;
  /** Absent with other writers. */
  readonly recent: RecentLogs | undefined;
}

export function createLogReader(parts: LogReaderParts): LogReader {
  const { floor, counted, recent } = parts;
  const { connection, database, events, limits } = parts;
  const table = tableName(database, 'logs');

  async function list(plan: ListPlan, context: QueryContext): Promise<LogRecord[]> {
    context.signal?.throwIfAborted();
    const inMemory = recent?.list(plan);
    if (inMemory !== undefined) return inMemory.map(toLogRecord);
    const turn = { ...context, isBrief: canCount(plan.filter) };
    const rows = await (recent?.read(plan, turn) ?? readPage(parts, plan, turn));
    recent?.follow(plan);
    return rows.map(toLogRecord);
  }

  async function histogram(plan: HistogramPlan, context: QueryContext) {
    const result = await counted?.histogram(plan, context);
    if (result !== undefined) return result;
    const { groupBy } = plan;
    if (groupBy !== undefined && groupBy !== 'severity') {
      return groupedHistogram(parts, plan, context);
    }
    const statement = compileHistogram(table, plan, { limits });
    return toHistogramResult(plan, await connection.read<HistogramRow>(statement, context));
  }

  async function facets(plan: FacetsPlan, context: QueryContext) {
    const results = await counted?.facets(plan, context);
    if (results !== undefined) return results;
    const statement = compileFacets(table, plan, limits);
    return toFacetsResults(plan, await connection.read<FacetRow>(statement, context));
  }

  async function stats(plan: StatsPlan, context: QueryContext) {
    return (await counted?.stats(plan, context)) ?? readStats(parts, plan, context);
  }

  const arrivals = createArrivalsReader(parts);
  const countLogs = histogram;
  const checked = <Plan extends FilteredPlan>(plan: Plan) => withoutIdleLimits(plan, floor);
  const reader =
    <Plan extends FilteredPlan, Result>(
      kind: ReadKind,
      read: (plan: Plan, context: QueryContext) => Promise<Result>,
    ) =>
    (plan: Plan, ...caller: [signal?: AbortSignal, scanned?: Scan]) =>
      timed(events, kind, read(checked(plan), contextOf(plan, ...caller)));

  return {
    list: reader('list', list),
    walk: (plan, signal) => timed(events, 'walk', walk(parts, checked(plan), signal)),
    histogram: reader('histogram', histogram),
    facets: reader('facets', facets),
    fields: reader('fields', (plan: FieldsPlan, context) => readFields(parts, plan, context)),
    fieldValues: reader('field_values', (plan: FieldValuesPlan, context) =>
      readFieldValues(parts, plan, context),
    ),
    stats: reader('stats', stats),
    messages: reader('messages', (plan: HistogramPlan, context) =>
      readMessages(parts, plan, { context, countLogs }),
    ),
    compare: ({ selection, baseline }: ComparisonPlan, ...caller) => {
      const plan = { selection: checked(selection), baseline: checked(baseline) };
      const context = contextOf(selection, ...caller);
      const read = readComparison(parts, plan, { context, countLogs });
      return timed(events, 'compare', read);
    },
    arrivals: (plan) => timed(events, 'arrivals', arrivals(plan)),
    countArrivals: (range) => timed(events, 'count_arrivals', countArrivals(parts, range)),
    lateRows: (range) => timed(events, 'late_rows', readLateRows(parts, range)),
  };
}

/** Reads pages of arrivals, some of them from the rows of another. */
function createArrivalsReader({ connection, database, limits, columns }: ListParts) {
  const table = tableName(database, 'logs');

  function read(plan: ArrivalsPlan, readLimits = limits): Promise<ArrivalRow[]> {
    return readWithout(columns, (unused) => {
      const statement = compileArrivals(table, plan, { limits: readLimits, unused });
      return connection.read<ArrivalRow>(statement, contextOf(plan));
    });
  }

  const shared = createArrivedRows(read);
  return async (plan: ArrivalsPlan): Promise<Arrivals> => {
    const found = await shared(plan);
    if (found !== undefined) {
      return { logs: found.rows.map(toArrivedLog), isComplete: found.isComplete };
    }
    const time = startReadTime(limits);
    for (let { limit } = plan; ; limit = Math.ceil(limit / shrinkBy)) {
      try {
        const rows = await read({ ...plan, limit }, time.left());
        return { logs: rows.map(toArrivedLog), isComplete: rows.length < limit };
      } catch (error) {
        if (limit === 1 || exceededLimit(error) !== 'size') throw error;
      }
    }
  };
}

async function countArrivals(
  { connection, database, limits }: ReaderParts,
  range: ArrivalRange,
): Promise<number> {
  const statement = compileCountArrivals(tableName(database, 'logs'), range, limits);
  const [row] = await connection.read<[string]>(statement, contextOf(range));
  return Number(row?.[0] ?? 0);
}

interface FilteredPlan {
  readonly filter: LogFilter;
}

/** Without limits of receipt that exclude no row, so that rows are not checked against them. */
function withoutIdleLimits<Plan extends FilteredPlan>(plan: Plan, floor: ReceiptFloor): Plan {
  const streams = plan.filter.streams.map((stream) =>
    stream.receivedFromNanos <= floor.nanos() ? { ...stream, receivedFromNanos: 0n } : stream,
  );
  return { ...plan, filter: { ...plan.filter, streams } };
}

/** One statement, or several smaller ones where the first exceeds its limits. */
async function walk(parts: ListParts, plan: WalkPlan, signal: AbortSignal): Promise<WalkStep> {
  const now = nowNanos();
  let point = plan.from ?? walkStart;
  for (;;) {
    signal.throwIfAborted();
    const window = walkWindow(plan.filter, point, now);
    if (window === undefined) return { logs: [], next: undefined };
    try {
      const rows = await walkRows(parts, { plan, point, window }, signal);
      const bytes = rows.reduce((sum, row) => sum + sizeOf(row), 0);
      const oldest = rows.at(-1);
      const found = { window, rows: rows.length, bytes, last: oldest && positionOf(oldest) };
      return { logs: rows.map(toLogRecord), next: walkOn(plan, point, found, now) };
    } catch (error) {
      signal.throwIfAborted();
      const exceeded = exceededLimit(error);
      const slower = exceeded && walkSlower(point, exceeded);
      if (slower === undefined) throw error;
      point = slower;
    }
  }
}

function walkRows(
  { connection, database, limits, columns }: ListParts,
  { plan, point, window }: { plan: WalkPlan; point: WalkPoint; window: TimeWindow },
  signal: AbortSignal,
): Promise<LogRow[]> {
  const { filter } = plan;
  const limit = Math.min(plan.limit, point.rows);
  const { position } = point;
  const untilWatermarkNanos = undefined;
  const older: ListPlan = { filter, limit, direction: 'older', position, untilWatermarkNanos };
  // A single log has no size limit.
  const bounded = limit === 1 ? limits : { ...limits, maxBytesReturned: maxStepBytes };
  return readWithout(columns, (unused) => {
    const step = { window, limit, limits: bounded, unused };
    const statement = compileList(tableName(database, 'logs'), older, step);
    return connection.read<LogRow>(statement, contextOf(plan, signal));
  });
}

function nowNanos(): bigint {
  return BigInt(Date.now()) * 1_000_000n;
}

function contextOf(
  { filter }: { readonly filter: { readonly accountId: string } },
  signal?: AbortSignal,
  scanned?: Scan,
): QueryContext {
  return { accountId: filter.accountId, signal, scanned };
}
