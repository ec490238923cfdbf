/**
 * A new operator token for whoever may read the data directory, should every other one be lost. It
 * opens the directory alone and works beside a running service.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Directory } from './directory/port.ts';
import { openPostgresDirectory } from './directory/postgres.ts';
import { openSqliteDirectory, sqliteFileName } from './directory/sqlite.ts';
import { accessScopes, type Token } from './model/account.ts';
import { digestSecret, mintSecret } from './model/token-secret.ts';

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
 * With every scope, over the accounts there are; over all that come where there are none yet.
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

function openDirectory({ dataDir, url, password = '' }: RecoveryPlace): Promise<Directory> {
  if (url) return openPostgresDirectory({ url, password, poolSize: 5 });
  const file = join(dataDir, sqliteFileName);
  if (existsSync(file)) return openSqliteDirectory({ file });
  throw new Error(
    `cannot find ${file}: give the data directory (--data), ` +
      'or WEIR_DIRECTORY_URL and no --data for a directory on PostgreSQL',
  );
}
