/** The filter of logs by fields, for rows in memory: the conditions of `whereSql`. Pure. */
import { type EqualityField, logFields, toStoredValue } from '../../model/log-fields.ts';
import type { LogFilter } from '../../model/plan.ts';
import { levelNumbers } from '../../model/severity.ts';
import { columnIndex, type LogRow, severityNumberIndex } from '../sql/log-record.ts';

type RowTest = (row: LogRow) => boolean;

/** Whether a filter is by fields alone. */
export function isByFields({ labels, search, conditions = [], excluded }: LogFilter): boolean {
  return labels.length + search.length + conditions.length + (excluded?.labels.length ?? 0) === 0;
}

/** Tests the fields of a row, but neither its stream nor its times. */
export function fieldFilter({ equal, minSeverity = 0, excluded }: LogFilter): RowTest {
  const wanted = [...equal].map(([field, values]) => anyOf(field, values));
  const unwanted = [...(excluded?.equal ?? [])].map(([field, values]) => anyOf(field, values));
  return (row) =>
    Number(row[severityNumberIndex]) >= minSeverity &&
    wanted.every((test) => test(row)) &&
    !unwanted.some((test) => test(row));
}

function anyOf(field: EqualityField, values: readonly string[]): RowTest {
  const { column, filter } = logFields[field];
  const index = columnIndex(column);
  const stored = values.map((value) => toStoredValue(field, value));
  if (filter.match !== 'level') {
    const texts = new Set(stored);
    return (row) => texts.has(row[index] as string);
  }
  const numbers = new Set(stored.flatMap(levelNumbers));
  const words = new Set(stored.filter((word) => levelNumbers(word).length === 0));
  return (row) => numbers.has(Number(row[severityNumberIndex])) || words.has(row[index] as string);
}
