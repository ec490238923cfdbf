/** Accounts, their streams and receivers, and the tokens that open them. */
import type { Kysely } from 'kysely';
import type { Tables } from '../tables.ts';

export async function up(db: Kysely<Tables>): Promise<void> {
  await createAccounts(db);
  await createStreams(db);
  await createReceivers(db);
  await createTokens(db);
}

async function createAccounts(db: Kysely<Tables>): Promise<void> {
  await db.schema
    .createTable('accounts')
    .addColumn('account_id', 'text', (column) => column.primaryKey())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('events_per_second', 'integer')
    .addColumn('created_at', 'text', (column) => column.notNull())
    .execute();
}

async function createStreams(db: Kysely<Tables>): Promise<void> {
  await db.schema
    .createTable('streams')
    .addColumn('stream_id', 'text', (column) => column.primaryKey())
    .addColumn('account_id', 'text', (column) => column.notNull().references('accounts.account_id'))
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('retention_days', 'integer', (column) => column.notNull())
    .addColumn('data_deleted_until', 'text')
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addUniqueConstraint('streams_of_account', ['account_id', 'stream_id'])
    .execute();
}

async function createReceivers(db: Kysely<Tables>): Promise<void> {
  await db.schema
    .createTable('receivers')
    .addColumn('receiver_id', 'text', (column) => column.primaryKey())
    .addColumn('account_id', 'text', (column) => column.notNull())
    .addColumn('stream_id', 'text', (column) => column.notNull())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('active', 'integer', (column) => column.notNull())
    .addColumn('allowed_cidrs', 'text', (column) => column.notNull())
    .addColumn('events_per_second', 'integer')
    .addColumn('burst_events', 'integer')
    .addColumn('max_body_bytes', 'integer')
    .addColumn('created_at', 'text', (column) => column.notNull())
    // Both columns together: a receiver can never feed another account's stream.
    .addForeignKeyConstraint(
      'receiver_feeds_stream_of_its_account',
      ['account_id', 'stream_id'],
      'streams',
      ['account_id', 'stream_id'],
    )
    .execute();
  await db.schema
    .createIndex('receivers_by_stream')
    .on('receivers')
    .columns(['account_id', 'stream_id'])
    .execute();
}

async function createTokens(db: Kysely<Tables>): Promise<void> {
  await db.schema
    .createTable('tokens')
    .addColumn('token_id', 'text', (column) => column.primaryKey())
    .addColumn('type', 'text', (column) => column.notNull())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('digest', 'text', (column) => column.notNull().unique())
    // No foreign key: a revoked token outlives its receiver, so that one can see what it was for.
    .addColumn('receiver_id', 'text')
    .addColumn('scopes', 'text', (column) => column.notNull())
    .addColumn('expires_at', 'text')
    .addColumn('revoked_at', 'text')
    .addColumn('last_used_at', 'text')
    .addColumn('created_at', 'text', (column) => column.notNull())
    .execute();
  await db.schema.createIndex('tokens_by_receiver').on('tokens').column('receiver_id').execute();
  await db.schema
    .createTable('token_accounts')
    .addColumn('token_id', 'text', (column) =>
      column.notNull().references('tokens.token_id').onDelete('cascade'),
    )
    .addColumn('account_id', 'text', (column) => column.notNull().references('accounts.account_id'))
    .addPrimaryKeyConstraint('token_accounts_key', ['token_id', 'account_id'])
    .execute();
  await db.schema
    .createIndex('token_accounts_by_account')
    .on('token_accounts')
    .column('account_id')
    .execute();
}
