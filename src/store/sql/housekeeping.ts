/** Statements that free disk and build what inserts leave for later. Pure. */
import { searchIndexes } from './columns.ts';
import { Parameters, type Statement } from './statement.ts';

/** A day of receipt as it lies on disk: [YYYYMMDD, rows, bytes]. */
export type DayRow = readonly [string, string, string];

export function compileDays(database: string): Statement {
  const params = new Parameters();
  const sql = `SELECT partition_id, toString(sum(rows)), toString(sum(bytes_on_disk))
FROM system.parts
WHERE active AND table = 'logs' AND database = ${params.add('String', database)}
GROUP BY partition_id
ORDER BY partition_id`;
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

export function compileCountExpired(table: string, expiries: readonly Expiry[]): Statement {
  const params = new Parameters();
  const sql = `SELECT toString(count()) FROM ${table}
WHERE ${expiredSql(expiries, params)}`;
  return { sql, params: params.values };
}

/** Waits until the rows are gone, so that the next run does not count them again. */
export function compileDeleteExpired(table: string, expiries: readonly Expiry[]): Statement {
  const params = new Parameters();
  const sql = `ALTER TABLE ${table} DELETE
WHERE ${expiredSql(expiries, params)}
SETTINGS mutations_sync = 1`;
  return { sql, params: params.values };
}

/** Only asks for the deletion: reads hide the rows at once by the stream's own limit. */
export function compileDeleteStream(
  table: string,
  range: { readonly accountId: string; readonly streamId: string; readonly untilNanos: bigint },
): Statement {
  const params = new Parameters();
  const sql = `ALTER TABLE ${table} DELETE
WHERE AccountId = ${params.add('String', range.accountId)}
  AND StreamId = ${params.add('String', range.streamId)}
  AND ReceivedAt <= ${params.time(range.untilNanos)}
SETTINGS mutations_sync = 0`;
  return { sql, params: params.values };
}

function expiredSql(expiries: readonly Expiry[], params: Parameters): string {
  const conditions = expiries.map((expiry) => {
    const account = params.add('String', expiry.accountId);
    const stream = params.add('String', expiry.streamId);
    const from = params.time(expiry.receivedFromNanos);
    return `(AccountId = ${account} AND StreamId = ${stream} AND ReceivedAt < ${from})`;
  });
  return conditions.join('\n  OR ');
}

function checkedDay(day: string): string {
  if (!/^\d{8}$/.test(day)) throw new Error(`cannot read "${day}" as a day of receipt`);
  return day;
}
