/**
 * Brings the directory's tables up to date: numbered steps, all in the caller's one transaction, so
 * that two processes that start together cannot both apply one and a crash leaves either the old
 * tables or the new.
 */
import type { Kysely, Transaction } from 'kysely';
import { up as initial } from './migrations/001-initial.ts';
import { up as statisticsAndViews } from './migrations/002-statistics-and-views.ts';
import { up as exportTickets } from './migrations/003-export-tickets.ts';
import { up as tokensOfAllAccounts } from './migrations/004-tokens-of-all-accounts.ts';
import type { Tables } from './tables.ts';

/** Position + 1 is the version. A released step never changes. */
const steps: readonly ((db: Kysely<Tables>) => Promise<void>)[] = [
  initial,
  statisticsAndViews,
  exportTickets,
  tokensOfAllAccounts,
];

/** @throws Error where a newer Weir has already changed the tables. */
export async function migrate(tx: Transaction<Tables>, appliedAt: string): Promise<void> {
  await tx.schema
    .createTable('directory_migrations')
    .ifNotExists()
    .addColumn('version', 'integer', (column) => column.primaryKey())
    .addColumn('applied_at', 'text', (column) => column.notNull())
    .execute();
  const { version } = await tx
    .selectFrom('directory_migrations')
    .select((select) => select.fn.max<number | null>('version').as('version'))
    .executeTakeFirstOrThrow();
  const current = version ?? 0;
  if (current > steps.length) {
    throw new Error(
      `cannot open the directory: it has version ${current}, this program knows up to ` +
        `${steps.length}; start the newer program that wrote it`,
    );
  }
  for (const [index, step] of steps.entries()) {
    if (index < current) continue;
    await step(tx);
    await tx
      .insertInto('directory_migrations')
      .values({ version: index + 1, applied_at: appliedAt })
      .execute();
  }
}
