/** The directory in an SQL database, SQLite or PostgreSQL. */
import { createAccountQueries } from './account-queries.ts';
import { type Database, findRow, type Tx } from './database.ts';
import type { Directory, DirectorySeed, GrantSource } from './port.ts';
import { createNotifierQueries } from './notifier-queries.ts';
import { createReceiverQueries, insertReceiver } from './receiver-queries.ts';
import { createRuleQueries } from './rule-queries.ts';
import { createSessionQueries } from './session-queries.ts';
import { createStatisticsQueries } from './statistics-queries.ts';
import { createTokenQueries, insertToken } from './token-queries.ts';
import { createViewQueries } from './view-queries.ts';

/** @param database closed with the directory. */
export function createSqlDirectory(database: Database): Directory & GrantSource {
  return {
    ...createAccountQueries(database),
    ...createReceiverQueries(database),
    ...createTokenQueries(database),
    ...createStatisticsQueries(database),
    ...createViewQueries(database),
    ...createSessionQueries(database),
    ...createRuleQueries(database),
    ...createNotifierQueries(database),
    seed: (seed) =>
      database.write(async (tx) => {
        if (!(await isEmpty(tx))) return false;
        await insertSeed(tx, seed, database.timestamp());
        return true;
      }),
    close: () => database.close(),
  };
}

/** Tokens count too: after an operator deleted every account, the first one is not recreated. */
async function isEmpty(tx: Tx): Promise<boolean> {
  return !(await findRow(tx, 'accounts', {})) && !(await findRow(tx, 'tokens', {}));
}

async function insertSeed(tx: Tx, seed: DirectorySeed, createdAt: string): Promise<void> {
  const { accountId } = seed.account;
  const { streamId } = seed.stream;
  const account = { ...seed.account, eventsPerSecond: null, createdAt };
  await tx.insertInto('accounts').values(account).execute();
  const kept = { downsampling: null, dataDeletedUntil: null };
  const stream = { ...seed.stream, accountId, ...kept, createdAt };
  await tx.insertInto('streams').values(stream).execute();
  const limits = { eventsPerSecond: null, burstEvents: null, maxBodyBytes: null };
  for (const { receiverId, name, kind } of seed.receivers) {
    const owner = { accountId, streamId, createdAt };
    const settings = { active: true, allowedCidrs: [], limits, transform: [] };
    await insertReceiver(tx, { receiverId, name, kind, ...owner, ...settings });
  }
  for (const token of seed.tokens) {
    const bound = { accountIds: [accountId], allAccounts: false, expiresAt: null };
    await insertToken(tx, { ...token, ...bound }, createdAt);
  }
}
