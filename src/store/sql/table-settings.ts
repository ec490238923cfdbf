/** Settings of tables that a start checks and applies: fsync, storage policy and TTL. Pure. */
import { type Statement, statement } from './statement.ts';
import {
  everyReplica,
  localEnding,
  localTable,
  onCluster,
  type Placement,
  skipUnavailable,
  type StoredTable,
  storedTables,
  tableName,
} from './tables.ts';

/**
 * Without these a power cut loses acknowledged rows: by default ClickHouse syncs neither inserts
 * nor merges, and unlinks synced parts while the part merged from them is in the page cache alone.
 * Mutations count as merges.
 * https://clickhouse.com/docs/operations/settings/merge-tree-settings
 */
const durableSettings = [
  'fsync_after_insert',
  'fsync_part_directory',
  'min_rows_to_fsync_after_merge',
  'min_compressed_bytes_to_fsync_after_merge',
] as const;

/** A replica that fetched a part counts for a quorum. */
const replicaSettings = ['min_compressed_bytes_to_fsync_after_fetch'] as const;

/** A table on any node, and its engine clause with settings. */
export type TableRow = readonly [name: string, engineFull: string];

export function compileTableEngines(placement: Placement): Statement {
  return statement(
    (params) => `SELECT DISTINCT name, engine_full
FROM ${everyReplica(placement, 'system.tables')}
WHERE database = ${params.add('String', placement.database)} AND engine LIKE '%MergeTree'
ORDER BY name${skipUnavailable(placement)}`,
  );
}

/** Settings that the table lacks or has at another value. */
export function missingDurability({ cluster }: Placement, [, engineFull]: TableRow): string[] {
  const wanted = cluster === undefined ? durableSettings : [...durableSettings, ...replicaSettings];
  return wanted.filter((name) => !new RegExp(`\\b${name} = (?:1|true)\\b`).test(engineFull));
}

export function compileDurability(
  placement: Placement,
  [name]: TableRow,
  missing: readonly string[],
): Statement {
  const table = `${tableName(placement.database, name)}${onCluster(placement)}`;
  const settings = missing.map((setting) => `${setting} = 1`).join(', ');
  return { sql: `ALTER TABLE ${table} MODIFY SETTING ${settings}`, params: {} };
}

export interface StorageTiers {
  /** Undefined = unchanged. */
  readonly storagePolicy: string | undefined;
  /** Volume that old days move to; undefined = none. */
  readonly cold: { readonly volume: string; readonly afterDays: number } | undefined;
}

/** A table without ending, its policy, and its TTL in the server's form ("" = none). */
export type TiersRow = readonly [StoredTable, string, string];

export function compileTiers({ database, cluster }: Placement): Statement {
  const ending = cluster === undefined ? '' : localEnding;
  const names = storedTables.map((name) => `${name}${ending}`);
  return statement(
    (params) => `SELECT replaceRegexpOne(name, '${localEnding}$', ''), storage_policy,
  extract(engine_full, ' TTL (.*?)(?: SETTINGS |$)')
FROM system.tables
WHERE database = ${params.add('String', database)} AND name ${params.anyOf(names)}`,
  );
}

/** The changes that bring a table to these tiers; none where it has them. */
export function compileTierChanges(
  placement: Placement,
  { storagePolicy, cold }: StorageTiers,
  [table, policyNow, ttlNow]: TiersRow,
): Statement[] {
  const alter = (change: string): Statement => ({
    sql: `ALTER TABLE ${localTable(placement, table)}${onCluster(placement)} ${change}`,
    params: {},
  });
  const changes: Statement[] = [];
  if (storagePolicy !== undefined && storagePolicy !== policyNow) {
    changes.push(alter(`MODIFY SETTING storage_policy = ${policyLiteral(storagePolicy)}`));
  }
  const ttl = cold === undefined ? '' : moveSql(cold);
  if (ttl === ttlNow) return changes;
  if (ttl !== '') changes.push(alter(`MODIFY TTL ${ttl}`));
  else if (ttlNow.includes('TO VOLUME')) changes.push(alter('REMOVE TTL'));
  return changes;
}

/** In the server's form, so that it can be compared. */
function moveSql({ volume, afterDays }: NonNullable<StorageTiers['cold']>): string {
  const moment = `toDateTime(ReceivedAt) + toIntervalDay(${Math.trunc(afterDays)})`;
  return `${moment} TO VOLUME ${policyLiteral(volume)}`;
}

/** A policy or volume. @throws Error where the name could break out of the literal. */
export function policyLiteral(name: string): string {
  if (!/^[\w.-]{1,100}$/.test(name)) {
    throw new Error(`cannot use "${name}" in a storage policy: letters, digits, _, . and - only`);
  }
  return `'${name}'`;
}
