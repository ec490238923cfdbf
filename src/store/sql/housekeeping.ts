/** Statements that free disk space and build the indexes that inserts omit. Pure. */
import { type Granules, granulesSql, isIndexedSql, searchIndexesFor } from './search-indexes.ts';
import type { ReadableStream } from '../../model/plan.ts';
import { type Parameters, type Statement, statement } from './statement.ts';
import { keptFromNanos } from './streams.ts';
import {
  everyReplica,
  everyShard,
  localEnding,
  localTable,
  onCluster,
  type Placement,
  receiptPrecision,
  type StoredTable,
  storedTables,
  tableName,
  skipUnavailable,
} from './tables.ts';

/** A day of receipt of one table on disk: table, YYYYMMDD, bytes. */
export type DayRow = readonly [StoredTable, string, string];

/** The oldest day first; on a cluster, bytes are those of the node with most of it. */
export function compileDays(placement: Placement): Statement {
  const parts = everyReplica(placement, 'system.parts');
  return statement(
    (params) => `SELECT stored, partition_id, toString(max(bytes))
FROM
(
  SELECT ${nameSql(placement)} AS stored, partition_id, sum(bytes_on_disk) AS bytes
  FROM ${parts}
  WHERE active AND stored ${params.anyOf(storedTables)}
    AND database = ${params.add('String', placement.database)}
  GROUP BY ${nodeSql(placement)}stored, partition_id
)
GROUP BY stored, partition_id
ORDER BY partition_id, stored${skipUnavailable(placement)}`,
  );
}

/** Name without ending of a table of `system.parts`. */
function nameSql({ cluster }: Placement): string {
  return cluster === undefined ? 'table' : `replaceRegexpOne(table, '${localEnding}$', '')`;
}

/** `clusterAllReplicas` numbers every replica as a shard. */
function nodeSql({ cluster }: Placement): string {
  return cluster === undefined ? '' : '_shard_num, ';
}

/** @param day YYYYMMDD. @returns Unix ms of its start. */
export function dayStartMs(day: string): number {
  const digits = checkedDay(day);
  return Date.UTC(
    Number(digits.slice(0, 4)),
    Number(digits.slice(4, 6)) - 1,
    Number(digits.slice(6)),
  );
}

/** @param day YYYYMMDD. */
export function compileDropDay(placement: Placement, table: StoredTable, day: string): Statement {
  const partition = `PARTITION ID '${checkedDay(day)}'`;
  return { sql: `${alterSql(placement, table)} DROP ${partition}`, params: {} };
}

export function alterSql(placement: Placement, table: StoredTable): string {
  return `ALTER TABLE ${localTable(placement, table)}${onCluster(placement)}`;
}

/** A cluster does not wait for the mutation, which would block every other ON CLUSTER statement. */
export function mutationsSync({ cluster }: Placement): string {
  return `SETTINGS mutations_sync = ${cluster === undefined ? 1 : 0}`;
}

/** A part of a day. */
export type PartRow = readonly [
  day: string,
  /** Without its mutation. */
  name: string,
  rows: string,
  granules: Granules,
  /** 1 if all columns are in one file, which every mutation rewrites. */
  isCompact: number,
  /** 1 if it has all search indexes. */
  isIndexed: number,
];

export function compileParts(placement: Placement): Statement {
  const shard = placement.cluster === undefined ? '' : "toString(_shard_num), '_', ";
  const blocks = `concat(${shard}min_block_number, '_', max_block_number, '_', level)`;
  const table = placement.cluster === undefined ? 'logs' : `logs${localEnding}`;
  return statement(
    (params) => `SELECT partition_id, ${blocks}, toString(rows),
  ${granulesSql(placement, params)} AS granules, part_type = 'Compact', ${isIndexedSql}
FROM ${everyShard(placement, 'system.parts')}
WHERE active AND table = '${table}' AND database = ${params.add('String', placement.database)}
ORDER BY partition_id, min_block_number${skipUnavailable(placement)}`,
  );
}

/**
 * Wide parts that have the indexes are not read; compact ones are rewritten. One server waits
 * until they are built.
 */
export function compileIndexDay(placement: Placement, day: string, granules: Granules): Statement {
  const partition = `IN PARTITION ID '${checkedDay(day)}'`;
  const commands = searchIndexesFor(granules).map(
    (name) => `MATERIALIZE INDEX ${name} ${partition}`,
  );
  const sql = `${alterSql(placement, 'logs')} ${commands.join(', ')}
${mutationsSync(placement)}`;
  return { sql, params: {} };
}

/** Mutations that are not done on every replica: a cluster does not wait for its own. */
export function compileCountMutations(
  placement: Placement,
  tables: readonly StoredTable[],
): Statement {
  const names = tables.map((table) => localTable(placement, table).split('.')[1]!);
  return statement(
    (params) => `SELECT toString(count()) FROM ${everyReplica(placement, 'system.mutations')}
WHERE NOT is_done AND table ${params.anyOf(names)}
  AND database = ${params.add('String', placement.database)}${skipUnavailable(placement)}`,
  );
}

/** On one server. STOP also cancels the merges and mutations that run. */
export function compileMerges(
  placement: Placement,
  table: StoredTable,
  action: 'START' | 'STOP',
): Statement {
  return { sql: `SYSTEM ${action} MERGES ${localTable(placement, table)}`, params: {} };
}

/** A stream of an account; rows received before what it shows are deleted. */
export interface Expiry extends ReadableStream {
  readonly accountId: string;
}

export function compileCountExpired(
  { database }: Placement,
  table: StoredTable,
  expiries: readonly Expiry[],
): Statement {
  return statement(
    (params) => `SELECT toString(count()) FROM ${tableName(database, table)}
WHERE ${expiredSql(table, expiries, params)}`,
  );
}

/** Waits on one server until the rows are deleted, so that the next run does not count them. */
export function compileDeleteExpired(
  placement: Placement,
  table: StoredTable,
  expiries: readonly Expiry[],
): Statement {
  return statement(
    (params) => `${alterSql(placement, table)} DELETE
WHERE ${expiredSql(table, expiries, params)}
${mutationsSync(placement)}`,
  );
}

/** Does not wait: reads hide the rows at once. */
export function compileDeleteStream(
  placement: Placement,
  table: StoredTable,
  range: StreamRange,
): Statement {
  const { accountId, streamId, untilNanos } = range;
  return statement((params) => {
    const conditions = [
      `AccountId = ${params.add('String', accountId)}`,
      `StreamId = ${params.add('String', streamId)}`,
    ];
    if (untilNanos !== undefined) {
      const receipt = params.receipt(untilNanos + 1n, receiptPrecision(table));
      conditions.push(`ReceivedAt < ${receipt}`);
    }
    return `${alterSql(placement, table)} DELETE
WHERE ${conditions.join('\n  AND ')}
SETTINGS mutations_sync = 0`;
  });
}

interface StreamRange {
  readonly accountId: string;
  readonly streamId: string;
  /** Unix ns of receipt; undefined = all rows. */
  readonly untilNanos: bigint | undefined;
}

function expiredSql(table: StoredTable, expiries: readonly Expiry[], params: Parameters): string {
  const conditions = expiries.map((expiry) => {
    const account = params.add('String', expiry.accountId);
    const stream = params.add('String', expiry.streamId);
    const from = params.receipt(keptFromNanos(table, expiry), receiptPrecision(table));
    return `(AccountId = ${account} AND StreamId = ${stream} AND ReceivedAt < ${from})`;
  });
  return conditions.join('\n  OR ');
}

/** @throws Error unless it is YYYYMMDD */
export function checkedDay(day: string): string {
  if (!/^\d{8}$/.test(day)) throw new Error(`cannot read "${day}" as a day of receipt`);
  return day;
}
