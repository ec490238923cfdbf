/** Sorts loaded logs by a column. Pure. */
import type { Log } from '../../api/models.ts';
import { fieldValue } from '../log/log-fields.ts';
import type { ColumnSort } from '../query.ts';

const collator = new Intl.Collator('en', { numeric: true });

/** Numbers by value, other text in natural order; logs without a value last. Stable. */
export function sortLogs(logs: readonly Log[], sort: ColumnSort | undefined): readonly Log[] {
  if (sort === undefined) return logs;
  const { column, isDescending } = sort;
  const keyed = logs.map((log) => {
    const text = column === 'severity' ? String(log.severityNumber) : fieldValue(log, column);
    return { log, text, number: text.trim() === '' ? Number.NaN : Number(text) };
  });
  const direction = isDescending ? -1 : 1;
  keyed.sort((a, b) => {
    if (a.text === '' || b.text === '') return Number(a.text === '') - Number(b.text === '');
    const isNumbers = !Number.isNaN(a.number) && !Number.isNaN(b.number);
    const order = isNumbers ? a.number - b.number : collator.compare(a.text, b.text);
    return direction * order;
  });
  return keyed.map(({ log }) => log);
}
