/** Writes what a first run creates into an empty directory, in one transaction. */
import type { Transaction } from 'kysely';
import type { Database } from './database.ts';
import type { Directory, DirectorySeed } from './port.ts';
import { toRow } from './receiver-queries.ts';
import type { Tables } from './tables.ts';
import { insertToken } from './token-queries.ts';

export function createSeedQueries(database: Database): Pick<Directory, 'seed'> {
  return {
    seed: (seed) =>
      database.write(async (tx) => {
        if (!(await isEmpty(tx))) return false;
        await insertSeed(tx, seed, database.timestamp());
        return true;
      }),
  };
}

/** Tokens count too: an operator who deleted every account does not want the first one back. */
async function isEmpty(tx: Transaction<Tables>): Promise<boolean> {
  const account = await tx.selectFrom('accounts').select('account_id').executeTakeFirst();
  const token = await tx.selectFrom('tokens').select('token_id').executeTakeFirst();
  return !account && !token;
}

async function insertSeed(
  tx: Transaction<Tables>,
  seed: DirectorySeed,
  createdAt: string,
): Promise<void> {
  const { accountId } = seed.account;
  const { streamId } = seed.stream;
  await tx
    .insertInto('accounts')
    .values({
      account_id: accountId,
      name: seed.account.name,
      events_per_second: null,
      created_at: createdAt,
    })
    .execute();
  await tx
    .insertInto('streams')
    .values({
      stream_id: streamId,
      account_id: accountId,
      name: seed.stream.name,
      retention_days: seed.stream.retentionDays,
      data_deleted_until: null,
      created_at: createdAt,
    })
    .execute();
  const limits = { eventsPerSecond: null, burstEvents: null, maxBodyBytes: null };
  for (const { receiverId, name, kind } of seed.receivers) {
    const receiver = { accountId, streamId, name, kind, active: true, allowedCidrs: [], limits };
    await tx
      .insertInto('receivers')
      .values(toRow(receiver, receiverId, createdAt))
      .execute();
  }
  for (const token of seed.tokens) {
    const bound = { accountIds: [accountId], allAccounts: false, expiresAt: null };
    await insertToken(tx, { ...token, ...bound }, createdAt);
  }
}
