/** Exports that were asked for and wait to be fetched by whoever holds their ticket. */
import type { Kysely } from 'kysely';
import type { Tables } from '../tables.ts';

export async function up(db: Kysely<Tables>): Promise<void> {
  await db.schema
    .createTable('export_tickets')
    .addColumn('digest', 'text', (column) => column.primaryKey())
    // No foreign keys: a row lives for a minute, and its token is asked for when it is used.
    .addColumn('account_id', 'text', (column) => column.notNull())
    .addColumn('token_digest', 'text', (column) => column.notNull())
    .addColumn('query', 'text', (column) => column.notNull())
    .addColumn('expires_at_ms', 'bigint', (column) => column.notNull())
    .execute();
  await db.schema
    .createIndex('export_tickets_by_account')
    .on('export_tickets')
    .column('account_id')
    .execute();
  await db.schema
    .createIndex('export_tickets_by_expiry')
    .on('export_tickets')
    .column('expires_at_ms')
    .execute();
}
