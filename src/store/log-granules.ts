/**
 * Gives the logs table of an earlier version the indexes for small granules, and where its
 * definition is a file of this machine, small granules for new parts. ClickHouse cannot alter this
 * setting, so the table is detached, its definition on disk is replaced, and it is attached again:
 * after a crash at any point the next start loads one definition or the other. Existing parts keep
 * their granules and indexes. On a server an operator does it (docs/scaled-out/clickhouse.md).
 */
import { join } from 'node:path';
import { readFile } from 'node:fs/promises';
import { replaceTextFile } from '../files/atomic-file.ts';
import type { Connection } from './connection.ts';
import { compileAddSearchIndexes, granuleSettings } from './sql/search-indexes.ts';
import { statement } from './sql/statement.ts';
import { type Placement, tableName } from './sql/tables.ts';

const earlierSettings = 'index_granularity = 8192';

/**
 * @param storeFolder chDB's, which no other process uses; undefined = a server
 * @throws Error when the definition cannot be replaced; the table is attached all the same
 */
export async function makeGranulesSmall(
  connection: Connection,
  placement: Placement,
  storeFolder: string | undefined,
): Promise<void> {
  const find = statement(
    (params) => `SELECT metadata_path, engine_full FROM system.tables
WHERE database = ${params.add('String', placement.database)} AND name = 'logs'`,
  );
  const [row] = await connection.query<[string, string]>('housekeeping', find);
  if (row === undefined || !row[1].includes(earlierSettings)) return;
  const run = (sql: string) => connection.execute('housekeeping', { sql, params: {} });
  await connection.execute('housekeeping', compileAddSearchIndexes(placement));
  if (storeFolder === undefined) return;
  const table = tableName(placement.database, 'logs');
  const file = join(storeFolder, row[0]);
  const definition = await readFile(file, 'utf8');
  await run(`DETACH TABLE ${table} SYNC`);
  try {
    replaceTextFile(file, definition.replace(earlierSettings, granuleSettings));
  } finally {
    await run(`ATTACH TABLE ${table}`);
  }
}
