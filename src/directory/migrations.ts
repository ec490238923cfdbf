/**
 * Creates and upgrades the directory's tables: numbered steps in one transaction, so that two
 * processes that start together cannot both apply one.
 */
import { type RawBuilder, sql } from 'kysely';
import type { Tx } from './database.ts';

type Step = (text: RawBuilder<unknown>) => readonly RawBuilder<unknown>[];

/** Accounts, streams, receivers and tokens. */
const initial: Step = (text) => [
  sql`create table accounts (
    account_id ${text} primary key,
    name ${text} not null,
    events_per_second integer,
    created_at ${text} not null
  )`,
  sql`create table streams (
    stream_id ${text} primary key,
    account_id ${text} not null references accounts (account_id),
    name ${text} not null,
    retention_days integer not null,
    data_deleted_until ${text},
    created_at ${text} not null,
    constraint streams_of_account unique (account_id, stream_id)
  )`,
  // The foreign key has both columns: a receiver can never feed another account's stream.
  sql`create table receivers (
    receiver_id ${text} primary key,
    account_id ${text} not null,
    stream_id ${text} not null,
    name ${text} not null,
    kind ${text} not null,
    active integer not null,
    allowed_cidrs ${text} not null,
    events_per_second integer,
    burst_events integer,
    max_body_bytes integer,
    created_at ${text} not null,
    constraint receiver_feeds_stream_of_its_account
      foreign key (account_id, stream_id) references streams (account_id, stream_id)
  )`,
  sql`create index receivers_by_stream on receivers (account_id, stream_id)`,
  // No foreign key to receivers: a revoked token stays listed after its receiver is deleted.
  sql`create table tokens (
    token_id ${text} primary key,
    type ${text} not null,
    name ${text} not null,
    digest ${text} not null unique,
    receiver_id ${text},
    scopes ${text} not null,
    expires_at ${text},
    revoked_at ${text},
    last_used_at ${text},
    created_at ${text} not null
  )`,
  sql`create index tokens_by_receiver on tokens (receiver_id)`,
  sql`create table token_accounts (
    token_id ${text} not null references tokens (token_id) on delete cascade,
    account_id ${text} not null references accounts (account_id),
    constraint token_accounts_key primary key (token_id, account_id)
  )`,
  sql`create index token_accounts_by_account on token_accounts (account_id)`,
];

/** Statistics of receivers, deleted with the receiver; saved views, deleted with the account. */
const statisticsAndViews: Step = (text) => {
  const receiverId = sql`receiver_id ${text} not null
    references receivers (receiver_id) on delete cascade`;
  return [
    // A minute without requests has no row.
    sql`create table receiver_minutes (
      ${receiverId},
      minute integer not null,
      requests bigint not null,
      refused bigint not null,
      accepted bigint not null,
      rejected bigint not null,
      bytes bigint not null,
      constraint receiver_minutes_key primary key (receiver_id, minute)
    )`,
    sql`create index receiver_minutes_by_minute on receiver_minutes (minute)`,
    sql`create table receiver_reasons (
      ${receiverId},
      minute integer not null,
      kind ${text} not null,
      reason ${text} not null,
      count bigint not null,
      constraint receiver_reasons_key primary key (receiver_id, minute, kind, reason)
    )`,
    sql`create index receiver_reasons_by_minute on receiver_reasons (minute)`,
    // `seq` distinguishes samples with the same time; it has the order in which a process wrote.
    sql`create table receiver_samples (
      ${receiverId},
      at ${text} not null,
      seq bigint not null,
      sample ${text} not null,
      constraint receiver_samples_key primary key (receiver_id, at, seq)
    )`,
    sql`create index receiver_samples_by_time on receiver_samples (at)`,
    // Kept longer than the counts: it shows when a silent receiver was last used.
    sql`create table receiver_activity (
      ${receiverId},
      kind ${text} not null,
      at ${text} not null,
      constraint receiver_activity_key primary key (receiver_id, kind)
    )`,
    sql`create table views (
      view_id ${text} primary key,
      account_id ${text} not null references accounts (account_id) on delete cascade,
      name ${text} not null,
      query ${text} not null,
      created_at ${text} not null,
      updated_at ${text} not null,
      constraint views_of_account unique (account_id, name)
    )`,
  ];
};

/** No foreign keys: a ticket is valid for a minute, and its token is checked when it is used. */
const exportTickets: Step = (text) => [
  sql`create table export_tickets (
    digest ${text} primary key,
    account_id ${text} not null,
    token_digest ${text} not null,
    query ${text} not null,
    expires_at_ms bigint not null
  )`,
  sql`create index export_tickets_by_account on export_tickets (account_id)`,
  sql`create index export_tickets_by_expiry on export_tickets (expires_at_ms)`,
];

/**
 * Before this version an operator token without accounts opened all of them. It looks the same as
 * an operator token whose accounts were deleted, so both keep their access.
 */
const tokensOfAllAccounts: Step = () => [
  sql`alter table tokens add column all_accounts integer not null default 0`,
  sql`update tokens set all_accounts = 1
    where scopes like '%"operator"%' and token_id not in (select token_id from token_accounts)`,
];

/** No foreign key to tokens: rotating a token changes its digest, and so ends its sessions. */
const sessions: Step = (text) => [
  sql`create table sessions (
    digest ${text} primary key,
    token_digest ${text} not null,
    owner ${text} not null,
    created_at_ms bigint not null,
    used_at_ms bigint not null,
    expires_at_ms bigint not null
  )`,
  sql`create index sessions_by_owner on sessions (owner)`,
];

/** A token has at most one link. */
const signInLinks: Step = (text) => [
  sql`create table sign_in_links (
    token_digest ${text} primary key,
    digest ${text} not null unique,
    expires_at_ms bigint not null
  )`,
];

/** Rule groups of streams with the state of their alerts; leases, of which one node holds each. */
const ruleGroups: Step = (text) => [
  sql`create table rule_groups (
    stream_id ${text} not null references streams (stream_id) on delete cascade,
    account_id ${text} not null,
    name ${text} not null,
    definition ${text} not null,
    state ${text},
    updated_at ${text} not null,
    constraint rule_groups_key primary key (stream_id, name)
  )`,
  sql`create index rule_groups_by_account on rule_groups (account_id)`,
  sql`create table leases (
    name ${text} primary key,
    holder ${text} not null,
    epoch bigint not null,
    expires_at_ms bigint not null
  )`,
];

const notifiers: Step = (text) => [
  sql`create table notifiers (
    notifier_id ${text} primary key,
    account_id ${text} not null references accounts (account_id) on delete cascade,
    name ${text} not null,
    kind ${text} not null,
    url ${text} not null,
    secret ${text} not null,
    created_at ${text} not null
  )`,
  sql`create index notifiers_by_account on notifiers (account_id)`,
];

const transforms: Step = (text) => [sql`alter table receivers add column transform ${text}`];

const downsampling: Step = (text) => [sql`alter table streams add column downsampling ${text}`];

const deliveries: Step = (text) =>
  ['last_success_at', 'last_failure_at', 'last_failure'].map(
    (column) => sql`alter table notifiers add column ${sql.ref(column)} ${text}`,
  );

/** No foreign keys: it remains when the account is deleted. */
const deletedStreams: Step = (text) => [
  sql`create table deleted_streams (
    stream_id ${text} primary key,
    account_id ${text} not null,
    deleted_at ${text} not null
  )`,
];

/** Position + 1 is the version. A released step never changes. */
const steps = [
  initial,
  statisticsAndViews,
  exportTickets,
  tokensOfAllAccounts,
  sessions,
  signInLinks,
  ruleGroups,
  notifiers,
  transforms,
  downsampling,
  deliveries,
  deletedStreams,
];

/**
 * @param text type of columns of text, with an order by bytes.
 * @throws Error when a newer version of Weir has already changed the tables.
 */
export async function migrate(tx: Tx, text: RawBuilder<unknown>, appliedAt: string): Promise<void> {
  await sql`create table if not exists directory_migrations (
    version integer primary key,
    applied_at ${text} not null
  )`.execute(tx);
  const { version } = await tx
    .selectFrom('directoryMigrations')
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
    for (const statement of step(text)) await statement.execute(tx);
    await tx
      .insertInto('directoryMigrations')
      .values({ version: index + 1, appliedAt })
      .execute();
  }
}
