/**
 * What receivers took and refused, by minute, with samples of refusals; and the views that readers
 * save. All of it goes with the receiver or the account it belongs to.
 */
import type { Kysely } from 'kysely';
import type { Tables } from '../tables.ts';

export async function up(db: Kysely<Tables>): Promise<void> {
  await createMinutes(db);
  await createReasons(db);
  await createSamples(db);
  await createActivity(db);
  await createViews(db);
}

/** A row for each minute with requests, so that a quiet receiver takes no room. */
async function createMinutes(db: Kysely<Tables>): Promise<void> {
  await db.schema
    .createTable('receiver_minutes')
    .addColumn('receiver_id', 'text', (column) =>
      column.notNull().references('receivers.receiver_id').onDelete('cascade'),
    )
    .addColumn('minute', 'integer', (column) => column.notNull())
    .addColumn('requests', 'bigint', (column) => column.notNull())
    .addColumn('refused', 'bigint', (column) => column.notNull())
    .addColumn('accepted', 'bigint', (column) => column.notNull())
    .addColumn('rejected', 'bigint', (column) => column.notNull())
    .addColumn('bytes', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('receiver_minutes_key', ['receiver_id', 'minute'])
    .execute();
  await db.schema
    .createIndex('receiver_minutes_by_minute')
    .on('receiver_minutes')
    .column('minute')
    .execute();
}

async function createReasons(db: Kysely<Tables>): Promise<void> {
  await db.schema
    .createTable('receiver_reasons')
    .addColumn('receiver_id', 'text', (column) =>
      column.notNull().references('receivers.receiver_id').onDelete('cascade'),
    )
    .addColumn('minute', 'integer', (column) => column.notNull())
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('reason', 'text', (column) => column.notNull())
    .addColumn('count', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('receiver_reasons_key', ['receiver_id', 'minute', 'kind', 'reason'])
    .execute();
  await db.schema
    .createIndex('receiver_reasons_by_minute')
    .on('receiver_reasons')
    .column('minute')
    .execute();
}

async function createSamples(db: Kysely<Tables>): Promise<void> {
  await db.schema
    .createTable('receiver_samples')
    .addColumn('receiver_id', 'text', (column) =>
      column.notNull().references('receivers.receiver_id').onDelete('cascade'),
    )
    .addColumn('at', 'text', (column) => column.notNull())
    // Tells samples of one moment apart, in their order where one process wrote them.
    .addColumn('seq', 'bigint', (column) => column.notNull())
    .addColumn('sample', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('receiver_samples_key', ['receiver_id', 'at', 'seq'])
    .execute();
  await db.schema
    .createIndex('receiver_samples_by_time')
    .on('receiver_samples')
    .column('at')
    .execute();
}

/** Outlives the counts: it says when a receiver that fell silent was last heard of. */
async function createActivity(db: Kysely<Tables>): Promise<void> {
  await db.schema
    .createTable('receiver_activity')
    .addColumn('receiver_id', 'text', (column) =>
      column.notNull().references('receivers.receiver_id').onDelete('cascade'),
    )
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('at', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('receiver_activity_key', ['receiver_id', 'kind'])
    .execute();
}

async function createViews(db: Kysely<Tables>): Promise<void> {
  await db.schema
    .createTable('views')
    .addColumn('view_id', 'text', (column) => column.primaryKey())
    .addColumn('account_id', 'text', (column) =>
      column.notNull().references('accounts.account_id').onDelete('cascade'),
    )
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('query', 'text', (column) => column.notNull())
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addColumn('updated_at', 'text', (column) => column.notNull())
    .addUniqueConstraint('views_of_account', ['account_id', 'name'])
    .execute();
}
