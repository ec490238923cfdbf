/** Statements that free disk space and build the indexes that inserts omit. Pure. */
import { type Granules, granulesSql, searchIndexesFor } from './search-indexes.ts';
import { type Parameters, type Statement, statement } from './statement.ts';
import {
  everyReplica,
  everyShard,
  keptLongerMs,
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

function alterSql(placement: Placement, table: StoredTable): string {
  return `ALTER TABLE ${localTable(placement, table)}${onCluster(placement)}`;
}

/** A cluster does not wait for the mutation, which would block every other ON CLUSTER statement. */
function mutationsSync({ cluster }: Placement): string {
  return `SETTINGS mutations_sync = ${cluster === undefined ? 1 : 0}`;
}

/** A part of a day: YYYYMMDD, name without its mutation, rows. */
export type PartRow = readonly [string, string, string, Granules];

export function compileParts(placement: Placement): Statement {
  const shard = placement.cluster === undefined ? '' : "toString(_shard_num), '_', ";
  const blocks = `concat(${shard}min_block_number, '_', max_block_number, '_', level)`;
  const table = placement.cluster === undefined ? 'logs' : `logs${localEnding}`;
  return statement(
    (params) => `SELECT partition_id, ${blocks}, toString(rows),
  ${granulesSql(placement, params)}
FROM ${everyShard(placement, 'system.parts')}
WHERE active AND table = '${table}' AND database = ${params.add('String', placement.database)}
ORDER BY partition_id, min_block_number${skipUnavailable(placement)}`,
  );
}

/** Skips parts that have the indexes. One server waits until they are built. */
export function compileIndexDay(placement: Placement, day: string, granules: Granules): Statement {
  const partition = `IN PARTITION ID '${checkedDay(day)}'`;
  const commands = searchIndexesFor(granules).map(
    (name) => `MATERIALIZE INDEX ${name} ${partition}`,
  );
  const sql = `${alterSql(placement, 'logs')} ${commands.join(', ')}
${mutationsSync(placement)}`;
  return { sql, params: {} };
}

/** Mutations of logs that are not finished. */
export function compileMutations({ database }: Placement): Statement {
  return statement(
    (params) => `SELECT toString(count()) FROM system.mutations
WHERE NOT is_done AND table = 'logs' AND database = ${params.add('String', database)}`,
  );
}

/** On one server. STOP also cancels the merges and mutations that run. */
export function compileMerges(placement: Placement, action: 'START' | 'STOP'): Statement {
  return { sql: `SYSTEM ${action} MERGES ${localTable(placement, 'logs')}`, params: {} };
}

export interface Expiry {
  readonly accountId: string;
  readonly streamId: string;
  /** Unix ns; rows received earlier have expired. */
  readonly receivedFromNanos: bigint;
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

/** Does not wait: reads hide the rows at once by the limit of the stream. */
export function compileDeleteStream(
  placement: Placement,
  table: StoredTable,
  range: { readonly accountId: string; readonly streamId: string; readonly untilNanos: bigint },
): Statement {
  return statement(
    (params) => `${alterSql(placement, table)} DELETE
WHERE AccountId = ${params.add('String', range.accountId)}
  AND StreamId = ${params.add('String', range.streamId)}
  AND ReceivedAt < ${params.receipt(range.untilNanos + 1n, receiptPrecision(table))}
SETTINGS mutations_sync = 0`,
  );
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

/** Tables of metrics with many rows for a series. */
export const sampleTables = ['samples', 'histograms'] as const;

/** A day of receipt of the streams that keep one sample per interval of it. */
export interface DownsampledDay {
  readonly table: (typeof sampleTables)[number];
  /** YYYYMMDD. */
  readonly day: string;
  readonly intervalMs: number;
  readonly streams: readonly StreamOwner[];
}

export interface StreamOwner {
  readonly accountId: string;
  /** Unique among all accounts. */
  readonly streamId: string;
}

/** Some of the series: those whose id leaves the remainder `index` when divided by `count`. */
export interface SeriesShare {
  readonly index: number;
  readonly count: number;
}

/** A stream with rows to delete, its rows that stay, and those in all. */
export type DownsampledCounts = readonly [streamId: string, kept: string, rows: string];

/**
 * A stale marker ends a series, so it stays beside the last value: the only sample of a short
 * series could be the marker otherwise. In a histogram it is the `sum`, field 3 of the message.
 */
const isStale = {
  samples: 'Integer = 0 AND Bits = 0x7ff0000000000002',
  histograms: "position(Histogram, unhex('19020000000000f07f')) > 0",
} as const;

export function compileCountDownsampled({ database }: Placement, of: DownsampledDay): Statement {
  return statement(
    (params) => `SELECT StreamId, toString(count()), toString(sum(stored))
FROM
(
  SELECT StreamId, count() AS stored, min(UnixMilli) AS first, max(UnixMilli) AS last
  ${intervalsSql(tableName(database, of.table), of, params)}
)
GROUP BY StreamId
HAVING countIf(first != last) > 0
SETTINGS ${inOrder}`,
  );
}

/**
 * Deletes the samples of a day of receipt except the last of each interval of a series. Intervals
 * end at multiples of their length, included, as those of VictoriaMetrics, so that a query at these
 * times finds the sample that it found before.
 *
 * May be repeated, and interrupted: rows that stay are the last of their intervals in what is left,
 * and rows that are inserted meanwhile are not deleted. Digests of 8 bytes take a third of the
 * memory of series and time, and where two are equal a row stays.
 */
export function compileDownsample(
  placement: Placement,
  of: DownsampledDay,
  share: SeriesShare,
): Statement {
  const { table } = of;
  return statement((params) => {
    const isInShare = `modulo(toUInt64(SeriesId), ${share.count}) = ${share.index}`;
    return `${alterSql(placement, table)} DELETE IN PARTITION ID '${checkedDay(of.day)}'
WHERE ${ownerSql(of, params)} AND ${isInShare}
  AND sipHash64(SeriesId, UnixMilli) NOT IN
  (
    SELECT sipHash64(SeriesId, max(UnixMilli))
    ${intervalsSql(localTable(placement, table), of, params, `\n      AND ${isInShare}`)}
    SETTINGS ${inOrder}
  )
${mutationsSync(placement)}, allow_nondeterministic_mutations = 1`;
  });
}

/** Mutations that are not done on every replica: a cluster does not wait for its own. */
export function compileCountMutations(placement: Placement): Statement {
  const tables = sampleTables.map((table) => localTable(placement, table).split('.')[1]!);
  return statement(
    (params) => `SELECT toString(count()) FROM ${everyReplica(placement, 'system.mutations')}
WHERE NOT is_done AND table ${params.anyOf(tables)}
  AND database = ${params.add('String', placement.database)}${skipUnavailable(placement)}`,
  );
}

/**
 * Aggregates in the order of the table, so that the intervals of one series are in memory. Where
 * the aggregation is a subquery of FROM it has an effect outside of it only.
 */
const inOrder = 'optimize_aggregation_in_order = 1';

function intervalsSql(
  table: string,
  of: DownsampledDay,
  params: Parameters,
  isInShare = '',
): string {
  return `FROM ${table}
    WHERE ${ownerSql(of, params)}
      AND toYYYYMMDD(ReceivedAt, 'UTC') = ${checkedDay(of.day)}${isInShare}
    GROUP BY AccountId, StreamId, SeriesId, intDiv(UnixMilli - 1, ${of.intervalMs}),
      ${isStale[of.table]}`;
}

function ownerSql({ streams }: DownsampledDay, params: Parameters): string {
  const accountIds = [...new Set(streams.map(({ accountId }) => accountId))];
  const streamIds = streams.map(({ streamId }) => streamId);
  return `AccountId ${params.anyOf(accountIds)} AND StreamId ${params.anyOf(streamIds)}`;
}

function checkedDay(day: string): string {
  if (!/^\d{8}$/.test(day)) throw new Error(`cannot read "${day}" as a day of receipt`);
  return day;
}
