/** Statements that free disk and build what inserts leave for later. Pure. */
import { searchIndexes, tableName } from './columns.ts';
import {
  everyReplica,
  everyShard,
  localEnding,
  localTable,
  onCluster,
  type Placement,
} from './placement.ts';
import { Parameters, type Statement } from './statement.ts';
import { keptLongerMs, receiptPrecision, type StoredTable, storedTables } from './stored-tables.ts';

/** A day of receipt of one table as it lies on disk: [table, YYYYMMDD, bytes]. */
export type DayRow = readonly [StoredTable, string, string];

/** The oldest day first; of a cluster with its bytes on the node that has most of it. */
export function compileDays(placement: Placement): Statement {
  const params = new Parameters();
  const parts = everyReplica(placement, 'system.parts');
  const sql = `SELECT stored, partition_id, toString(max(bytes))
FROM
(
  SELECT ${nameSql(placement)} AS stored, partition_id, sum(bytes_on_disk) AS bytes
  FROM ${parts}
  WHERE active AND stored ${params.anyOf('String', storedTables)}
    AND database = ${params.add('String', placement.database)}
  GROUP BY ${nodeSql(placement)}stored, partition_id
)
GROUP BY stored, partition_id
ORDER BY partition_id, stored${nodesAway(placement)}`;
  return { sql, params: params.values };
}

/** The usual name of a table of `system.parts`. */
function nameSql({ cluster }: Placement): string {
  return cluster === undefined ? 'table' : `replaceRegexpOne(table, '${localEnding}$', '')`;
}

/** Every replica counts as a shard where all are asked. */
function nodeSql({ cluster }: Placement): string {
  return cluster === undefined ? '' : '_shard_num, ';
}

/** What a node that is away has, waits until it is back. */
function nodesAway({ cluster }: Placement): string {
  return cluster === undefined ? '' : '\nSETTINGS skip_unavailable_shards = 1';
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
export function compileDropDay(placement: Placement, table: StoredTable, day: string): Statement {
  const partition = `PARTITION ID '${checkedDay(day)}'`;
  return { sql: `${alterSql(placement, table)} DROP ${partition}`, params: {} };
}

function alterSql(placement: Placement, table: StoredTable): string {
  return `ALTER TABLE ${localTable(placement, table)}${onCluster(placement)}`;
}

/**
 * Whether a change of parts is waited for. Of a cluster never: it would hold up every other
 * statement for all nodes.
 */
function mutationsSync({ cluster }: Placement): string {
  return `SETTINGS mutations_sync = ${cluster === undefined ? 1 : 0}`;
}

/** A part of a day: [YYYYMMDD, name without its mutation, rows]. */
export type PartRow = readonly [string, string, string];

export function compileParts(placement: Placement): Statement {
  const params = new Parameters();
  const shard = placement.cluster === undefined ? '' : "toString(_shard_num), '_', ";
  const blocks = `concat(${shard}min_block_number, '_', max_block_number, '_', level)`;
  const table = placement.cluster === undefined ? 'logs' : `logs${localEnding}`;
  const sql = `SELECT partition_id, ${blocks}, toString(rows)
FROM ${everyShard(placement, 'system.parts')}
WHERE active AND table = '${table}' AND database = ${params.add('String', placement.database)}
ORDER BY partition_id, min_block_number${nodesAway(placement)}`;
  return { sql, params: params.values };
}

/** Parts that have the index already are left as they are. One server is waited for. */
export function compileIndexDay(placement: Placement, day: string): Statement {
  const partition = `IN PARTITION ID '${checkedDay(day)}'`;
  const commands = searchIndexes.map((name) => `MATERIALIZE INDEX ${name} ${partition}`);
  const sql = `${alterSql(placement, 'logs')} ${commands.join(', ')}
${mutationsSync(placement)}`;
  return { sql, params: {} };
}

export interface Expiry {
  readonly accountId: string;
  readonly streamId: string;
  /** Unix ns; rows received before are kept no longer. */
  readonly receivedFromNanos: bigint;
}

export function compileCountExpired(
  { database }: Placement,
  table: StoredTable,
  expiries: readonly Expiry[],
): Statement {
  const params = new Parameters();
  const sql = `SELECT toString(count()) FROM ${tableName(database, table)}
WHERE ${expiredSql(table, expiries, params)}`;
  return { sql, params: params.values };
}

/** One server is waited for until the rows are gone, so that the next run counts none twice. */
export function compileDeleteExpired(
  placement: Placement,
  table: StoredTable,
  expiries: readonly Expiry[],
): Statement {
  const params = new Parameters();
  const sql = `${alterSql(placement, table)} DELETE
WHERE ${expiredSql(table, expiries, params)}
${mutationsSync(placement)}`;
  return { sql, params: params.values };
}

/** Only asks for the deletion: reads hide the rows at once by the stream's own limit. */
export function compileDeleteStream(
  placement: Placement,
  table: StoredTable,
  range: { readonly accountId: string; readonly streamId: string; readonly untilNanos: bigint },
): Statement {
  const params = new Parameters();
  const kept = params.receipt(range.untilNanos + 1n, receiptPrecision(table));
  const sql = `${alterSql(placement, table)} DELETE
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
