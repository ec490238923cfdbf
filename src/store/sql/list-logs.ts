/** Reads of logs, in listing order for the list and in the order of arrival for the tail. Pure. */
import { logRowFields } from '../../codec/log-rows.ts';
import type { ArrivalRange, ArrivalsPlan, ArrivedLog } from '../../model/arrival.ts';
import type { ListPlan, LogFilter } from '../../model/plan.ts';
import { eitherSql } from './field-sql.ts';
import {
  columnOf,
  type ColumnNames,
  type LogRow,
  noValue,
  receivedNanosIndex,
  selectColumns,
  toLogRecord,
} from './log-record.ts';
import {
  limitsSql,
  type Parameters,
  type ReadLimits,
  type Statement,
  statement,
} from './statement.ts';
import type { TimeWindow } from './time-windows.ts';
import { whereSql } from './where.ts';

/**
 * At most `limit` rows of `window`: newest first for `older`, oldest first for `newer`. The engine
 * fetches wide columns after the limit, only for the rows of the page.
 */
export function compileList(table: string, plan: ListPlan, step: ListStep): Statement {
  const selected = selectColumns(plan.paths, step.unused);
  return statement((params) => listSql(selected, table, { plan, step, params }));
}

/** Tie, time of receipt and receiver, and the fields of `logs/1`, as RowBinary. */
export function compilePackedList(table: string, plan: ListPlan, step: ListStep): Statement {
  return statement((params) => {
    const selected = packedColumns(step.unused);
    return `${listSql(selected, table, { plan, step, params })}\nFORMAT RowBinary`;
  });
}

function packedColumns(unused: ColumnNames): string {
  const fields = logRowFields.map((field) => {
    const column = columnOf(field);
    const [, type] = field;
    return type !== 'Int64' && unused.has(column) ? noValue[type] : column;
  });
  return ['Tie, ReceivedAt, ReceiverId', ...fields].join(', ');
}

interface ListStep {
  readonly window: TimeWindow;
  readonly limit: number;
  readonly limits: ReadLimits;
  /** Columns without a value in any row; constants take their place. */
  readonly unused: ColumnNames;
}

function listSql(
  selected: string,
  table: string,
  { plan, step, params }: { plan: ListPlan; step: ListStep; params: Parameters },
): string {
  const order = plan.direction === 'older' ? 'DESC' : 'ASC';
  const conditions = [whereSql(plan.filter, params, step), ...positionCondition(plan, params)];
  return `SELECT ${selected}
FROM ${table}
WHERE ${conditions.join(and)}
ORDER BY Timestamp ${order}, Tie ${order}
LIMIT ${step.limit}
${limitsSql(listLimits(plan.filter, step.limits))}${narrowSql(plan.filter)}`;
}

/**
 * The engine's filter on the newest rows found so far takes the place of PREWHERE: all rows of a
 * granule with a match are then read of every column that is filtered or sorted by.
 */
function narrowSql({ equal, labels, search, minSeverity, conditions = [], excluded }: LogFilter) {
  const excludes = (excluded?.equal.size ?? 0) + (excluded?.labels.length ?? 0);
  const wanted = equal.size + labels.length + search.length + conditions.length;
  const isNarrow = wanted + excludes > 0 || minSeverity !== undefined;
  return isNarrow ? ',\n  use_top_k_dynamic_filtering = 0' : '';
}

/**
 * Logs with a phrase are few in each of many granules. With a limit of rows, one thread reads those
 * that the indexes leave; without it each thread consults the indexes itself, which takes a
 * millisecond more where one granule is left (docs/decisions/033-lists-filter-before-they-sort.md).
 */
function listLimits(filter: LogFilter, limits: ReadLimits): ReadLimits {
  return hasPhrase(filter) ? { ...limits, maxRowsRead: 0 } : limits;
}

function hasPhrase({ search, conditions = [] }: LogFilter): boolean {
  const pieces = conditions.flatMap((each) => (each.kind === 'search' ? each.pieces : []));
  const texts = search.filter(({ exclude }) => !exclude).map(({ text }) => text);
  return [...texts, ...pieces].some((text) => /\s/.test(text));
}

const and = '\n  AND ';

/** Without tuples, which would not use the sort order. */
function positionCondition({ position, direction }: ListPlan, params: Parameters): string[] {
  if (position === undefined) return [];
  const sign = direction === 'older' ? '<' : '>';
  const time = params.time(position.timeNanos);
  const tie = params.add('UInt64', position.tie);
  const isBeyond = eitherSql(`Timestamp ${sign} ${time}`, `Tie ${sign} ${tie}`);
  return [`Timestamp ${sign}= ${time}`, isBeyond];
}

/** A row of the result (JSONCompact). */
export type ArrivalRow = readonly [batch: string, row: number, ...log: LogRow];

/**
 * The first `plan.limit` logs to arrive. A result larger than `plan.maxBytes` fails, unless it is a
 * single row.
 */
export function compileArrivals(
  table: string,
  plan: ArrivalsPlan,
  { limits, unused }: Pick<ListStep, 'limits' | 'unused'>,
): Statement {
  const bounded = plan.limit === 1 ? limits : { ...limits, maxBytesReturned: plan.maxBytes };
  return statement(
    (params) => `SELECT toString(Batch), Row, ${selectColumns(undefined, unused)}
FROM ${table}
WHERE ${arrivalConditions(plan, params)}
ORDER BY ReceivedAt, Batch, Row
LIMIT ${plan.limit}
${limitsSql(bounded)}`,
  );
}

/** One row with the count of logs in the range. */
export function compileCountArrivals(
  table: string,
  range: ArrivalRange,
  limits: ReadLimits,
): Statement {
  return statement(
    (params) => `SELECT toString(count())
FROM ${table}
WHERE ${arrivalConditions(range, params)}
${limitsSql(limits)}`,
  );
}

export function toArrivedLog([batch, row, ...log]: ArrivalRow): ArrivedLog {
  const receivedAtNanos = BigInt(log[receivedNanosIndex]);
  return { position: { receivedAtNanos, batch: BigInt(batch), row }, log: toLogRecord(log) };
}

/** Without tuples, so that days and index granules outside the range are skipped. */
function arrivalConditions({ filter, after, untilNanos }: ArrivalRange, params: Parameters) {
  const time = params.time(after.receivedAtNanos);
  const batch = params.add('UInt128', after.batch);
  const row = params.add('UInt64', after.row);
  return [
    whereSql(filter, params),
    `ReceivedAt >= ${time}`,
    `ReceivedAt <= ${params.time(untilNanos)}`,
    `(ReceivedAt > ${time} OR Batch > ${batch} OR Batch = ${batch} AND Row > ${row})`,
  ].join(and);
}
