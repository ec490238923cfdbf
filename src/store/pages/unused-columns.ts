/**
 * Columns of logs that have no value in any row, so that reads leave them out: a column costs a
 * statement 0.1 ms, and most senders fill half of them. Only for a store with one writer.
 */
import { logRowFields } from '../../codec/log-rows.ts';
import { markUsedFields } from './used-fields.ts';
import type { StampedBatch } from '../../model/batch.ts';
import type { Connection } from '../connection.ts';
import { columnOf, type ColumnNames, compileHasValue } from '../sql/log-record.ts';

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
  const used = new Uint8Array(logRowFields.length);
  const stop = new AbortController();
  let names = none;

  async function look(): Promise<void> {
    const empty: number[] = [];
    for (const [place, field] of logRowFields.entries()) {
      const [, type] = field;
      if (type === 'Int64' || used[place] === 1) continue;
      const statement = compileHasValue(database, columnOf(field), type);
      // A column that cannot be read counts as used.
      const rows = connection.query('housekeeping', statement, stop.signal).catch(() => undefined);
      if ((await rows)?.length === 0) empty.push(place);
    }
    names = namesOf(empty.filter((place) => used[place] === 0));
  }

  return {
    names: () => names,
    inserting(batches) {
      if (!used.includes(0)) return;
      for (const { payload } of batches) markUsedFields(payload, used);
      const left = namesOf([...used.keys()].filter((place) => used[place] === 0));
      if (!isWithin(names, left)) names = new Set([...names].filter((name) => left.has(name)));
    },
    close: () => stop.abort(),
    found: look(),
  };
}

function namesOf(places: readonly number[]): Set<string> {
  return new Set(places.map((place) => columnOf(logRowFields[place]!)));
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
