/** Copies the embedded directory into an empty shared one. */
import { sql } from 'kysely';
import { asAnyTable, type Database, type Db, findRow, type Tables, type Tx } from './database.ts';

/** Number of copied rows. */
export interface DirectoryCounts {
  accounts: number;
  streams: number;
  receivers: number;
  tokens: number;
  views: number;
  /** Minutes, reasons and samples of receivers. */
  statistics: number;
}

/** The others are short-lived, or written by each migration. */
type CopiedTable = Exclude<
  keyof Tables,
  'directoryMigrations' | 'exportTickets' | 'sessions' | 'signInLinks' | 'leases'
>;

/** In the order of foreign keys, each with the counter of its rows. */
const tables = {
  accounts: 'accounts',
  streams: 'streams',
  deletedStreams: undefined,
  receivers: 'receivers',
  tokens: 'tokens',
  tokenAccounts: undefined,
  views: 'views',
  ruleGroups: undefined,
  notifiers: undefined,
  receiverMinutes: 'statistics',
  receiverReasons: 'statistics',
  receiverSamples: 'statistics',
  receiverActivity: undefined,
} as const satisfies Record<CopiedTable, keyof DirectoryCounts | undefined>;

const copiedTables = Object.keys(tables) as CopiedTable[];

/** Keeps a statement below the maximum number of parameters of a database. */
const rowsPerStatement = 500;

/**
 * Copies everything or nothing, with both databases locked for writes.
 * @param from SQLite, for its row ids.
 * @throws Error when `to` is not empty, AppError `unavailable`
 */
export function copyTables(from: Database, to: Database): Promise<DirectoryCounts> {
  return from.write((source) =>
    to.write(async (target) => {
      await checkEmpty(target);
      const counts = { accounts: 0, streams: 0, receivers: 0, tokens: 0, views: 0, statistics: 0 };
      for (const table of copiedTables) {
        const rows = await copyTable(table, source, target);
        const counted = tables[table];
        if (counted !== undefined) counts[counted] += rows;
      }
      return counts;
    }),
  );
}

async function checkEmpty(target: Tx): Promise<void> {
  for (const table of copiedTables) {
    if ((await findRow(target, table, {})) === undefined) continue;
    throw new Error(
      `cannot copy into a directory that holds ${table} already: ` +
        'give the URL of an empty database, or of an empty schema in one',
    );
  }
}

/** @returns the number of rows. */
async function copyTable(table: CopiedTable, source: Tx, target: Tx): Promise<number> {
  let copied = 0;
  let last = 0;
  for (;;) {
    const numbered = await rowsAfter(table, last, source);
    const end = numbered.at(-1);
    if (end === undefined) return copied;
    const rows = numbered.map(({ rowid: _, ...row }) => row);
    await target.insertInto(asAnyTable(table)).values(rows).execute();
    copied += rows.length;
    last = end.rowid;
  }
}

function rowsAfter(table: CopiedTable, last: number, source: Db) {
  const rowid = sql<number>`rowid`;
  return source
    .selectFrom(asAnyTable(table))
    .selectAll()
    .select(rowid.as('rowid'))
    .where(rowid, '>', last)
    .orderBy(rowid)
    .limit(rowsPerStatement)
    .execute();
}
