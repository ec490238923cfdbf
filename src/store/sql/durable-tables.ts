/**
 * The table settings without which a power cut loses acknowledged rows. By default ClickHouse syncs
 * neither inserts nor merges: a part that was merged from synced parts is in the page cache alone
 * while its sources are unlinked. Pure.
 * https://clickhouse.com/docs/operations/settings/merge-tree-settings
 */
import { onCluster, everyReplica, type Placement } from './placement.ts';
import { tableName } from './columns.ts';
import { Parameters, type Statement } from './statement.ts';

/** Mutations count as merges. */
const durableSettings = [
  'fsync_after_insert',
  'fsync_part_directory',
  'min_rows_to_fsync_after_merge',
  'min_compressed_bytes_to_fsync_after_merge',
] as const;

/** A replica that fetched a part counts for a quorum. */
const replicaSettings = ['min_compressed_bytes_to_fsync_after_fetch'] as const;

/** A table, on any node, and its engine with all settings of its own. */
export type TableRow = readonly [name: string, engineFull: string];

export function compileTableEngines(placement: Placement): Statement {
  const params = new Parameters();
  const sql = `SELECT DISTINCT name, engine_full
FROM ${everyReplica(placement, 'system.tables')}
WHERE database = ${params.add('String', placement.database)} AND engine LIKE '%MergeTree'
ORDER BY name${placement.cluster === undefined ? '' : '\nSETTINGS skip_unavailable_shards = 1'}`;
  return { sql, params: params.values };
}

/** The settings that this table lacks or has at another value. */
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
