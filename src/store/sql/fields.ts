/** Which fields logs have, labels included, and their values. Pure. */
import { fieldEntries, type FieldName, type GroupField } from '../../model/log-fields.ts';
import type { FieldCount, FieldValuesPlan, LogFilter } from '../../model/plan.ts';
import { groupsSql, rowValueSql, withSql } from './field-sql.ts';
import type { OptionalType } from './log-record.ts';
import { limitsSql, type ReadLimits, type Statement, statement } from './statement.ts';
import { tableName } from './tables.ts';
import type { TimeWindow } from './time-windows.ts';
import { whereSql } from './where.ts';

interface FieldsStep {
  readonly window: TimeWindow;
  readonly limits: ReadLimits;
}

const names: readonly FieldName[] = fieldEntries.map(([name]) => name);

/** Logs, and those that have a value of each field of the table. */
export type FieldCountsRow = readonly string[];

export function compileFieldCounts(
  table: string,
  filter: LogFilter,
  { window, limits }: FieldsStep,
): Statement {
  return statement((params) => {
    const counts = names.map((name) => `toString(countIf(${rowValueSql(name, params)} != ''))`);
    return `SELECT toString(count()), ${counts.join(',\n  ')}
FROM ${table}
WHERE ${whereSql(filter, params, { window })}
${limitsSql(limits)}`;
  });
}

export function toFieldCounts([, ...counts]: FieldCountsRow): FieldCount[] {
  return names.map((field, i) => ({ field, count: Number(counts[i]) }));
}

/** Key of a label, logs that have it. */
export type LabelCountRow = readonly [key: string, count: string];

/** More keys than these are not listed. */
export const maxLabelKeys = 1_000;

export function compileLabelCounts(
  table: string,
  filter: LogFilter,
  { window, limits }: FieldsStep,
): Statement {
  const keys = 'arrayConcat(mapKeys(LogAttributes), mapKeys(ResourceAttributes))';
  return statement(
    (params) => `SELECT arrayJoin(arrayDistinct(${keys})) AS key, toString(count())
FROM ${table}
WHERE ${whereSql(filter, params, { window })}
GROUP BY key
ORDER BY count() DESC, key
LIMIT ${maxLabelKeys}
${limitsSql(limits)}`,
  );
}

/** Value, its logs, logs of all values, 1 where it is wanted. */
export type FieldValueRow = readonly [value: string, n: string, total: string, isWanted: number];

/** Values of a window that are listed; the counts of windows add up. */
export const maxFieldValues = 1_000;

/** Wanted values first, then at least one other if there is any, for the number of logs. */
export function compileFieldValues(
  table: string,
  { filter, field, prefix }: FieldValuesPlan,
  { window, limits }: FieldsStep,
): Statement {
  return statement((params) => {
    const { definitions, keys, values } = groupsSql([field], params);
    const start = params.add('String', prefix);
    return `SELECT value, toString(n), toString(total),
  value != '' AND startsWith(lowerUTF8(value), lowerUTF8(${start})) AS isWanted
FROM
(
  ${withSql(definitions)}SELECT ${values[0]!} AS value, count() AS n, sum(n) OVER () AS total
  FROM ${table}
  WHERE ${whereSql(filter, params, { window }).replaceAll('\n', '\n  ')}
  GROUP BY ${keys[0]!}
)
ORDER BY isWanted DESC, n DESC, value
LIMIT ${maxFieldValues}
${limitsSql(limits)}`;
  });
}

/** Rows of a first window: what a statement reads in some 50 ms. */
export function sampleRows(field: GroupField | undefined): number {
  return field !== undefined && isShort(field) ? 2_000_000 : 100_000;
}

/** Columns with few different values, which are a byte or two a row. */
function isShort(field: GroupField): boolean {
  return names.some((name) => name === field) && field !== 'traceId' && field !== 'spanId';
}

/** A column takes 1 ns a row; in a larger store all of them count as used. */
const maxRows = 1_000_000_000;

/** One row if a log has a value in the column, else none. */
export function compileHasValue(database: string, column: string, type: OptionalType): Statement {
  const sql = `SELECT 1 FROM ${tableName(database, 'logs')}
WHERE ${hasValue(column, type)}
LIMIT 1
SETTINGS max_rows_to_read = ${maxRows}, max_threads = 1`;
  return { sql, params: {} };
}

function hasValue(column: string, type: OptionalType): string {
  switch (type) {
    case 'String':
      return `${column} != ''`;
    case 'Map(String, String)':
      return `notEmpty(${column})`;
    case 'UInt8':
      return `${column} != 0`;
  }
}
