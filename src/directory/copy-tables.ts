/** Copies all that the embedded directory holds into a shared one that holds nothing. */
import { type Kysely, sql, type Transaction } from 'kysely';
import type { Database } from './database.ts';
import type { Tables } from './tables.ts';

/** How many there are of each. */
export interface DirectoryCounts {
  accounts: number;
  streams: number;
  receivers: number;
  tokens: number;
  views: number;
  /** Minutes, reasons and samples of receivers. */
  statistics: number;
}

type CopiedTable = Exclude<keyof Tables, 'directory_migrations' | 'export_tickets'>;

/** In an order in which no row comes before what it refers to; what its rows count as. */
const tables = {
  accounts: 'accounts',
  streams: 'streams',
  receivers: 'receivers',
  tokens: 'tokens',
  token_accounts: undefined,
  views: 'views',
  receiver_minutes: 'statistics',
  receiver_reasons: 'statistics',
  receiver_samples: 'statistics',
  receiver_activity: undefined,
} as const satisfies Record<CopiedTable, keyof DirectoryCounts | undefined>;

const copiedTables = Object.keys(tables) as CopiedTable[];

/** Of one statement: few enough for the parameters that a database takes. */
const rowsPerStatement = 500;

/**
 * All of it or nothing; nobody changes either of them meanwhile.
 * @param from an embedded one, whose rows are numbered.
 * @throws Error where `to` holds anything, AppError `unavailable`
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

async function checkEmpty(target: Transaction<Tables>): Promise<void> {
  for (const table of copiedTables) {
    const [row] = await target
      .selectFrom(table)
      .select(sql<number>`1`.as('one'))
      .limit(1)
      .execute();
    if (row === undefined) continue;
    throw new Error(
      `cannot copy into a directory that holds ${table.replace('_', ' of ')} already: ` +
        'give the URL of an empty database, or of an empty schema in one',
    );
  }
}

/** @returns the number of rows. */
async function copyTable(
  table: CopiedTable,
  source: Transaction<Tables>,
  target: Transaction<Tables>,
): Promise<number> {
  let copied = 0;
  let last = 0;
  for (;;) {
    const numbered = await rowsAfter(table, last, source);
    const end = numbered.at(-1);
    if (end === undefined) return copied;
    const rows = numbered.map(({ rowid: _, ...row }) => row);
    await target.insertInto(asOne(table)).values(rows).execute();
    copied += rows.length;
    last = end.rowid;
  }
}

function rowsAfter(table: CopiedTable, last: number, source: Kysely<Tables>) {
  const rowid = sql<number>`rowid`;
  return source
    .selectFrom(asOne(table))
    .selectAll()
    .select(rowid.as('rowid'))
    .where(rowid, '>', last)
    .orderBy(rowid)
    .limit(rowsPerStatement)
    .execute();
}

/** Which one it is does not matter, and statements of a table that may be any have no type. */
function asOne(table: CopiedTable): 'accounts' {
  return table as 'accounts';
}
