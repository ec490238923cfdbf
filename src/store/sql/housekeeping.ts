/** Statements that free disk and build what inserts leave for later. Pure. */
import { searchIndexes, tableName } from './columns.ts';
import { Parameters, type Statement } from './statement.ts';
import { keptLongerMs, receiptPrecision, type StoredTable, storedTables } from './stored-tables.ts';

/** A day of receipt of one table as it lies on disk: [table, YYYYMMDD, bytes]. */
export type DayRow = readonly [StoredTable, string, string];

/** The oldest day first. */
export function compileDays(database: string): Statement {
  const params = new Parameters();
  const sql = `SELECT table, partition_id, toString(sum(bytes_on_disk))
FROM system.parts
WHERE active AND table ${params.anyOf('String', storedTables)}
  AND database = ${params.add('String', database)}
GROUP BY table, partition_id
ORDER BY partition_id, table`;
  return { sql, params: params.values };
}

/** Unix ms of the first moment of a day as the store names it. */
export function dayStartMs(day: string): number {
  const digits = checkedDay(day);
  return Date.UTC(
    Number(digits.slice(0, 4)),
    Number(digits.slice(4, 6)) - 1,
    Number(digits.slice(6)),
  );
}

/** @param day as the store named it: digits only. */
export function compileDropDay(table: string, day: string): Statement {
  return { sql: `ALTER TABLE ${table} DROP PARTITION ID '${checkedDay(day)}'`, params: {} };
}

/** A part of a day: [YYYYMMDD, name without its mutation, rows]. */
export type PartRow = readonly [string, string, string];

export function compileParts(database: string): Statement {
  const params = new Parameters();
  const blocks = "concat(min_block_number, '_', max_block_number, '_', level)";
  const sql = `SELECT partition_id, ${blocks}, toString(rows)
FROM system.parts
WHERE active AND table = 'logs' AND database = ${params.add('String', database)}
ORDER BY partition_id, min_block_number`;
  return { sql, params: params.values };
}

/** Parts that have the index already are left as they are. Waits until it is built. */
export function compileIndexDay(table: string, day: string): Statement {
  const partition = `IN PARTITION ID '${checkedDay(day)}'`;
  const commands = searchIndexes.map((name) => `MATERIALIZE INDEX ${name} ${partition}`);
  const sql = `ALTER TABLE ${table} ${commands.join(', ')}
SETTINGS mutations_sync = 1`;
  return { sql, params: {} };
}

export interface Expiry {
  readonly accountId: string;
  readonly streamId: string;
  /** Unix ns; rows received before are kept no longer. */
  readonly receivedFromNanos: bigint;
}

export function compileCountExpired(
  database: string,
  table: StoredTable,
  expiries: readonly Expiry[],
): Statement {
  const params = new Parameters();
  const sql = `SELECT toString(count()) FROM ${tableName(database, table)}
WHERE ${expiredSql(table, expiries, params)}`;
  return { sql, params: params.values };
}

/** Waits until the rows are gone, so that the next run does not count them again. */
export function compileDeleteExpired(
  database: string,
  table: StoredTable,
  expiries: readonly Expiry[],
): Statement {
  const params = new Parameters();
  const sql = `ALTER TABLE ${tableName(database, table)} DELETE
WHERE ${expiredSql(table, expiries, params)}
SETTINGS mutations_sync = 1`;
  return { sql, params: params.values };
}

/** Only asks for the deletion: reads hide the rows at once by the stream's own limit. */
export function compileDeleteStream(
  database: string,
  table: StoredTable,
  range: { readonly accountId: string; readonly streamId: string; readonly untilNanos: bigint },
): Statement {
  const params = new Parameters();
  const kept = params.receipt(range.untilNanos + 1n, receiptPrecision(table));
  const sql = `ALTER TABLE ${tableName(database, table)} DELETE
WHERE AccountId = ${params.add('String', range.accountId)}
  AND StreamId = ${params.add('String', range.streamId)}
  AND ReceivedAt < ${kept}
SETTINGS mutations_sync = 0`;
  return { sql, params: params.values };
}

function expiredSql(table: StoredTable, expiries: readonly Expiry[], params: Parameters): string {
  const longerNanos = BigInt(keptLongerMs(table)) * 1_000_000n;
  const conditions = expiries.map((expiry) => {
    const account = params.add('String', expiry.accountId);
    const stream = params.add('String', expiry.streamId);
    const from = params.receipt(expiry.receivedFromNanos - longerNanos, receiptPrecision(table));
    return `(AccountId = ${account} AND StreamId = ${stream} AND ReceivedAt < ${from})`;
  });
  return conditions.join('\n  OR ');
}

function checkedDay(day: string): string {
  if (!/^\d{8}$/.test(day)) throw new Error(`cannot read "${day}" as a day of receipt`);
  return day;
}
