/**
 * The way from one machine to several: takes what the embedded directory of a data directory holds
 * over into PostgreSQL, while no service runs on it.
 */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { copyTables, type DirectoryCounts } from '../directory/copy-tables.ts';
import { openPostgresDatabase } from '../directory/postgres.ts';
import type { PostgresAddress } from '../directory/postgres-pool.ts';
import { openSqliteDatabase, sqliteFileName } from '../directory/sqlite.ts';
import { lockDirectory } from '../files/directory-lock.ts';
import { assertWholeDirectory } from './unfinished.ts';

/** The fewest connections that a directory works with. */
const poolSize = 5;

/**
 * What is copied stays where it was, too.
 * @throws Error in words for the operator, also where a service runs on the data directory or
 * `target` is not empty; then nothing was copied
 */
export async function copyDirectory(
  from: { readonly dataDir: string },
  target: PostgresAddress,
): Promise<DirectoryCounts> {
  await using parts = new AsyncDisposableStack();
  const dataDir = resolve(from.dataDir);
  const file = join(dataDir, sqliteFileName);
  if (!existsSync(file)) throw new Error(`cannot find ${file}: give the data directory (--data)`);
  parts.adopt(lockDirectory(dataDir), (lock) => lock.release());
  assertWholeDirectory(dataDir);
  const source = parts.adopt(await openSqliteDatabase({ file }), (it) => it.close());
  const opened = await openPostgresDatabase({ ...target, poolSize });
  const shared = parts.adopt(opened, (it) => it.close());
  // Awaited here, since the parts are closed on the way out.
  return await copyTables(source, shared);
}
