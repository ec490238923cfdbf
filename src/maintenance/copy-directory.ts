/** Copies the embedded directory (SQLite) into PostgreSQL while no service runs on it. */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { copyTables, type DirectoryCounts } from '../directory/copy-tables.ts';
import { openPostgresDatabase } from '../directory/postgres.ts';
import type { PostgresAddress } from '../directory/postgres-pool.ts';
import { openSqliteDatabase, sqliteFileName } from '../directory/sqlite.ts';
import { lockDirectory } from '../files/directory-lock.ts';
import { assertRestoreFinished } from './unfinished.ts';

/** Minimum of `directory.poolSize`. */
const poolSize = 5;

/**
 * The source is kept.
 * @throws Error for the operator; also while a service runs on the data directory, or when `target`
 * is not empty. Nothing was copied then
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
  assertRestoreFinished(dataDir);
  const source = parts.adopt(await openSqliteDatabase({ file }), (it) => it.close());
  const opened = await openPostgresDatabase({ ...target, poolSize });
  const shared = parts.adopt(opened, (it) => it.close());
  // Awaited here: leaving the scope closes both databases.
  return await copyTables(source, shared);
}
