/**
 * Columns of logs that have no value in any row, so that reads leave them out: a column costs a
 * statement 0.1 ms, and most senders fill half of them. Only for a store with one writer.
 */
import { logRowFields } from '../../codec/log-rows.ts';
import { markUsedFields } from './used-fields.ts';
import type { StampedBatch } from '../../model/batch.ts';
import type { Connection } from '../connection.ts';
import { compileHasValue } from '../sql/fields.ts';
import { columnOf, type ColumnNames, type LogRowField } from '../sql/log-record.ts';

export interface UnusedColumns {
  /** Another set whenever it changes. */
  names(): ColumnNames;
  /** To be called before an insert. */
  inserting(batches: readonly StampedBatch[]): void;
  close(): void;
}

const none: ColumnNames = new Set();

/** For a store with several writers. */
export const noUnusedColumns: UnusedColumns = { names: () => none, inserting() {}, close() {} };

/** Looks at the rows that are stored, in the background; until then all columns count as used. */
export function findUnusedColumns(
  connection: Pick<Connection, 'query'>,
  database: string,
): UnusedColumns & { readonly found: Promise<void> } {
  /** Those that stored or inserted rows fill, and those that cannot be empty. */
  const used = new Uint8Array(logRowFields.length);
  const stop = new AbortController();
  /** Places in `logRowFields`; undefined until all were looked at. */
  let empty: readonly number[] | undefined;
  let names = none;

  async function look(): Promise<void> {
    for (const [place, field] of logRowFields.entries()) {
      if (used[place] === 0 && (await hasValue(field))) used[place] = 1;
    }
    setEmpty([...used.keys()].filter((place) => used[place] === 0));
  }

  async function hasValue(field: LogRowField): Promise<boolean> {
    const [, type] = field;
    if (type === 'Int64') return true;
    const statement = compileHasValue(database, columnOf(field), type);
    // A column that cannot be read counts as used.
    const rows = connection.query('housekeeping', statement, stop.signal).catch(() => undefined);
    return (await rows)?.length !== 0;
  }

  function setEmpty(places: readonly number[]): void {
    empty = places;
    names = new Set(places.map((place) => columnOf(logRowFields[place]!)));
  }

  return {
    names: () => names,
    inserting(batches) {
      if (empty?.length === 0) return;
      for (const { payload } of batches) markUsedFields(payload, used);
      if (empty?.some((place) => used[place] === 1) !== true) return;
      setEmpty(empty.filter((place) => used[place] === 0));
    },
    close: () => stop.abort(),
    found: look(),
  };
}

function isWithin(names: ColumnNames, others: ColumnNames): boolean {
  return [...names].every((name) => others.has(name));
}

/** Reads again where a row with a value may have been inserted in the meantime. */
export async function readWithout<Rows>(
  columns: Pick<UnusedColumns, 'names'>,
  read: (unused: ColumnNames) => Promise<Rows>,
): Promise<Rows> {
  for (;;) {
    const unused = columns.names();
    const rows = await read(unused);
    if (isWithin(unused, columns.names())) return rows;
  }
}
