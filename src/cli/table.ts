/** Records as text: a list as a table, one record as lines of name and value. */
import { escapeControls } from './terminal.ts';

/** @param columns names of fields. */
export function toTable(records: readonly object[], columns: readonly string[]): string {
  if (records.length === 0) return 'none\n';
  const rows = records.map((record) => {
    const fields = new Map(flatten(record));
    return columns.map((column) => fields.get(column) ?? '-');
  });
  return align([columns.map(toHeading), ...rows]);
}

/** Lists in the record, such as accounts, become tables below its lines. */
export function toLines(record: object): string {
  const entries = Object.entries(record);
  const lists = entries.filter((entry): entry is [string, object[]] => isList(entry[1]));
  const fields = Object.fromEntries(entries.filter(([, value]) => !isList(value)));
  const tables = lists.map(([name, rows]) => {
    const columns = new Set(rows.flatMap((row) => flatten(row).map(([column]) => column)));
    return `\n${toHeading(name)}\n${toTable(rows, [...columns])}`;
  });
  return align(flatten(fields)) + tables.join('');
}

function isList(value: unknown): boolean {
  return (
    Array.isArray(value) &&
    value.length > 0 &&
    value.every((item) => typeof item === 'object' && item !== null && !Array.isArray(item))
  );
}

/** `{limits: {burstEvents: null}}` becomes `limits.burstEvents`, `-`. */
function flatten(record: object, prefix = ''): [string, string][] {
  return Object.entries(record).flatMap(([key, value]: [string, unknown]) => {
    const name = prefix + key;
    if (Array.isArray(value)) return [[name, value.map(toText).join(', ') || '-']];
    if (typeof value === 'object' && value !== null) return flatten(value, `${name}.`);
    return [[name, toText(value)]];
  });
}

function toText(value: unknown): string {
  if (value === null || value === undefined) return '-';
  return escapeControls(typeof value === 'string' ? value : JSON.stringify(value));
}

/** `retentionDays` becomes `RETENTION DAYS`. */
function toHeading(name: string): string {
  return escapeControls(name.replaceAll(/([A-Z])/g, ' $1').toUpperCase());
}

function align(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  const lines = rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  return `${lines.join('\n')}\n`;
}
