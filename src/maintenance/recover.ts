/**
 * What an operator who may read the data directory can mend: all operator tokens are lost, or the
 * directory changed on disk.
 */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Directory } from '../directory/port.ts';
import { openPostgresDirectory } from '../directory/postgres.ts';
import { openSqliteDirectory, sqliteFileName } from '../directory/sqlite.ts';
import { lockDirectory } from '../files/directory-lock.ts';
import { accessScopes, type Token } from '../model/account.ts';
import { digestSecret, mintSecret } from '../codec/token-secret.ts';

/** A token as it is listed, and its secret. */
export interface RecoveredToken extends Token {
  readonly token: string;
}

/** Where the directory is: in PostgreSQL where there is a URL, else in the data directory. */
export interface RecoveryPlace {
  readonly dataDir: string;
  readonly url: string | undefined;
  readonly password: string | undefined;
}

/**
 * With every scope, over the accounts there are; over all that come where there are none yet. Works
 * beside a running service.
 * @throws Error where there is no directory
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
 * Keeps the embedded directory with the values that it has now.
 * @throws Error where it is not there, its structure is damaged, or a service runs on it
 */
export async function acceptDirectory(dataDir: string): Promise<void> {
  const file = existingFile(dataDir);
  const lock = lockDirectory(resolve(dataDir));
  try {
    await (await openSqliteDirectory({ file, acceptsDamage: true })).close();
  } finally {
    lock.release();
  }
}

function openDirectory({ dataDir, url, password = '' }: RecoveryPlace): Promise<Directory> {
  if (url) return openPostgresDirectory({ url, password, poolSize: 5 });
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
