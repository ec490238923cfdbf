/**
 * Work of an operator with file access on the directory: recover a lost token, accept damage, copy
 * it (SQLite) into PostgreSQL.
 */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { digestSecret, mintSecret } from '../codec/token-secret.ts';
import { copyTables, type DirectoryCounts } from '../directory/copy-tables.ts';
import type { Directory } from '../directory/port.ts';
import type { PostgresAddress } from '../directory/postgres-pool.ts';
import { openPostgresDatabase, openPostgresDirectory } from '../directory/postgres.ts';
import { openSqliteDatabase, openSqliteDirectory, sqliteFileName } from '../directory/sqlite.ts';
import { lockDirectory } from '../files/directory-lock.ts';
import { accessScopes, type Token } from '../model/account.ts';
import { assertRestoreFinished } from './unfinished.ts';

/** Minimum of `directory.poolSize`. */
const poolSize = 5;

/** A token and its secret. */
export interface RecoveredToken extends Token {
  readonly token: string;
}

/** The directory is on PostgreSQL when `url` is set, else in the data directory. */
export interface RecoveryPlace {
  readonly dataDir: string;
  readonly url: string | undefined;
  readonly password: string | undefined;
}

/**
 * Creates an access token with every scope for the existing accounts, or for all future accounts
 * when there are none. Works while the service runs.
 * @throws Error when there is no directory
 */
export async function recoverToken(place: RecoveryPlace): Promise<RecoveredToken> {
  const directory = await openDirectory(place);
  try {
    const accounts = await directory.listAccounts();
    const secret = mintSecret('access');
    const token = await directory.createToken({
      type: 'access',
      name: 'recovered',
      accountIds: accounts.map((account) => account.accountId),
      allAccounts: accounts.length === 0,
      receiverId: null,
      scopes: accessScopes,
      expiresAt: null,
      digest: digestSecret(secret),
    });
    return { ...token, token: secret };
  } finally {
    await directory.close();
  }
}

/**
 * Accepts the embedded directory with the values that it has after damage.
 * @throws Error when it is missing or structurally damaged, or while a service runs on it
 */
export async function acceptDirectory(dataDir: string): Promise<void> {
  const file = existingFile(dataDir);
  using _lock = lockDirectory(resolve(dataDir));
  await (await openSqliteDirectory({ file, acceptsDamage: true })).close();
}

function openDirectory({ dataDir, url, password = '' }: RecoveryPlace): Promise<Directory> {
  if (url) return openPostgresDirectory({ url, password, poolSize });
  return openSqliteDirectory({ file: existingFile(dataDir) });
}

function existingFile(dataDir: string): string {
  const file = join(dataDir, sqliteFileName);
  if (existsSync(file)) return file;
  throw new Error(
    `cannot find ${file}: give the data directory (--data), ` +
      'or WEIR_DIRECTORY_URL and no --data for a directory on PostgreSQL',
  );
}

/**
 * The source is kept.
 * @throws Error for the operator; also while a service runs on the data directory, or when `target`
 * is not empty. Nothing was copied then
 */
export async function copyDirectory(
  from: { readonly dataDir: string },
  target: PostgresAddress,
): Promise<DirectoryCounts> {
  const dataDir = resolve(from.dataDir);
  const file = join(dataDir, sqliteFileName);
  if (!existsSync(file)) throw new Error(`cannot find ${file}: give the data directory (--data)`);
  using _lock = lockDirectory(dataDir);
  await using parts = new AsyncDisposableStack();
  assertRestoreFinished(dataDir);
  const source = parts.adopt(await openSqliteDatabase({ file }), (it) => it.close());
  const opened = await openPostgresDatabase({ ...target, poolSize });
  const shared = parts.adopt(opened, (it) => it.close());
  // Awaited here: leaving the scope closes both databases.
  return await copyTables(source, shared);
}
