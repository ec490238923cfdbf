/**
 * The directory's tables and what its queries need of a database. Columns are text or integers, so
 * that SQLite and PostgreSQL store the same: times are ISO 8601 UTC text, flags 0 or 1, lists JSON
 * text. Names are snake case in the database and camel case here, by Kysely's `CamelCasePlugin`.
 */
import assert from 'node:assert/strict';
import type { ExpressionBuilder, Kysely, RawBuilder, Transaction } from 'kysely';
import type { Account, Receiver, ReceiverLimits, Stream, Token, View } from '../model/account.ts';
import type { Notifier } from '../model/rules.ts';
import type { MinuteCounts, ReasonCount } from '../model/receiver-statistics.ts';
import type { Lease, Session, SignInLink, TakenTicket } from './port.ts';

export interface ReceiverRow
  extends Omit<Receiver, 'active' | 'allowedCidrs' | 'limits' | 'transform'>,
    ReceiverLimits {
  readonly active: number;
  /** JSON array of text. */
  readonly allowedCidrs: string;
  /** JSON array of steps. */
  readonly transform: string | null;
}

export interface TokenRow extends Omit<Token, 'accountIds' | 'allAccounts' | 'scopes'> {
  readonly digest: string;
  readonly allAccounts: number;
  /** JSON array of text. */
  readonly scopes: string;
}

export interface Tables {
  accounts: Account;
  streams: Stream;
  deletedStreams: { streamId: string; accountId: string; deletedAt: string };
  receivers: ReceiverRow;
  tokens: TokenRow;
  tokenAccounts: { tokenId: string; accountId: string };
  receiverMinutes: MinuteCounts & { receiverId: string };
  receiverReasons: ReasonCount & { receiverId: string; minute: number };
  /** `sample` is a JSON object. */
  receiverSamples: { receiverId: string; at: string; seq: number; sample: string };
  receiverActivity: { receiverId: string; kind: 'seen' | 'accepted'; at: string };
  views: View;
  exportTickets: TakenTicket;
  sessions: Session & { createdAtMs: number; usedAtMs: number; expiresAtMs: number };
  signInLinks: SignInLink & { expiresAtMs: number };
  /** `definition` and `state` are JSON objects. */
  ruleGroups: {
    streamId: string;
    accountId: string;
    name: string;
    definition: string;
    state: string | null;
    updatedAt: string;
  };
  notifiers: Notifier;
  leases: Lease & { holder: string; expiresAtMs: number };
  directoryMigrations: { version: number; appliedAt: string };
}

/** Runs one statement. */
export type Db = Kysely<Tables>;
/** Runs the statements of one transaction. */
export type Tx = Transaction<Tables>;

export interface Database {
  /** One statement. @throws AppError `unavailable` when the database cannot answer. */
  read<Result>(query: (db: Db) => Promise<Result>): Promise<Result>;
  /**
   * One transaction, durable when the promise resolves; such writes are serialized.
   * @throws AppError `unavailable`, and any error of `work` after a rollback.
   */
  write<Result>(work: (tx: Tx) => Promise<Result>): Promise<Result>;
  /**
   * Like `write`, but concurrent if the database supports it: for frequent writes whose order does
   * not matter and that no grant depends on. `work` may be repeated after a rollback.
   */
  writeConcurrently<Result>(work: (tx: Tx) => Promise<Result>): Promise<Result>;
  /** ISO 8601 UTC. */
  timestamp(): string;
  /** Expression of the database's clock, which is the same for all nodes, in Unix ms. */
  readonly clockMs: RawBuilder<number>;
  close(): Promise<void>;
}

type Columns<Table extends keyof Tables> = Partial<Tables[Table]>;

/** Rows with these values in their columns. */
export async function listRows<Table extends keyof Tables>(
  db: Db,
  table: Table,
  { where = {}, orderBy = [] }: ListedRows<Table>,
): Promise<Tables[Table][]> {
  let query = db.selectFrom(asAnyTable(table)).selectAll().where(allOf(where));
  for (const column of orderBy) query = query.orderBy(column as 'name');
  return (await query.execute()) as unknown as Tables[Table][];
}

interface ListedRows<Table extends keyof Tables> {
  readonly where?: Columns<Table>;
  readonly orderBy?: readonly (keyof Tables[Table] & string)[];
}

/** A row with these values in its columns. */
export async function findRow<Table extends keyof Tables>(
  db: Db,
  table: Table,
  where: Columns<Table>,
): Promise<Tables[Table] | undefined> {
  const query = db.selectFrom(asAnyTable(table)).selectAll().where(allOf(where)).limit(1);
  return (await query.executeTakeFirst()) as unknown as Tables[Table] | undefined;
}

/** @returns whether a row was deleted. */
export async function deleteRows<Table extends keyof Tables>(
  tx: Tx,
  table: Table,
  where: Columns<Table>,
): Promise<boolean> {
  const query = tx.deleteFrom(asAnyTable(table)).where(allOf(where));
  return (await query.executeTakeFirst()).numDeletedRows > 0n;
}

/** Stands for any table: Kysely cannot type a statement over a union of tables. */
export function asAnyTable(table: keyof Tables): 'accounts' {
  return table as 'accounts';
}

/** @throws AssertionError for an undefined value: Kysely leaves it out, so that any row matches. */
function allOf(columns: object) {
  for (const [column, value] of Object.entries(columns)) {
    assert.notEqual(value, undefined, `cannot select rows: ${column} is undefined`);
  }
  return (row: ExpressionBuilder<Tables, 'accounts'>) => row.and(columns as Partial<Account>);
}

/** @returns the number of rows of the account. */
export async function countRows(
  tx: Tx,
  table: 'exportTickets' | 'notifiers' | 'views',
  accountId: string,
): Promise<number> {
  const { count } = await tx
    .selectFrom(table)
    .select((select) => select.fn.countAll<number>().as('count'))
    .where('accountId', '=', accountId)
    .executeTakeFirstOrThrow();
  return count;
}

/** Sorts rows by key. Transactions that lock rows in the same order cannot deadlock. */
export function inLockOrder<Row>(rows: readonly Row[], keyOf: (row: Row) => string): Row[] {
  const keyed = rows.map((row) => ({ row, key: keyOf(row) }));
  return keyed.sort((a, b) => (a.key < b.key ? -1 : 1)).map(({ row }) => row);
}
