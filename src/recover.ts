/**
 * A new operator token for whoever may read the data directory, should every other one be lost. It
 * opens the directory alone and works beside a running service.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { openSqliteDirectory, sqliteFileName } from './directory/sqlite.ts';
import { accessScopes, type Token } from './model/account.ts';
import { digestSecret, mintSecret } from './model/token-secret.ts';

/** A token as it is listed, and its secret. */
export interface RecoveredToken extends Token {
  readonly token: string;
}

/**
 * With every scope, over the accounts there are; over all that come where there are none yet.
 * @throws Error where `dataDir` holds no directory
 */
export async function recoverToken(dataDir: string): Promise<RecoveredToken> {
  const file = join(dataDir, sqliteFileName);
  if (!existsSync(file)) throw new Error(`cannot find ${file}: give the data directory (--data)`);
  const directory = await openSqliteDirectory({ file });
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
