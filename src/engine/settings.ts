/**
 * Settings of ClickHouse that differ from chDB's defaults, by where they are set: the server's
 * configuration file, the defaults of tables, and each session. The engine reads them back at start
 * and refuses to run when one has another value.
 */

import type { EngineSettings } from './options.ts';
import { stringLiteral } from './sql-tokens.ts';

/** `control` is for kills and probes, which must not wait for other queries. */
export const poolNames = ['insert', 'read', 'brief', 'housekeeping', 'control'] as const;
export type PoolName = (typeof poolNames)[number];

export function isPoolName(name: string): name is PoolName {
  return (poolNames as readonly string[]).includes(name);
}

export type SettingMap = ReadonlyMap<string, string>;

const mebibyte = 2 ** 20;
/** Rows of a result that is not streamed. */
const maxResultRows = 1_000_000;

/** https://clickhouse.com/docs/operations/server-configuration-parameters/settings */
export function serverSettings(limits: EngineSettings): SettingMap {
  const cacheShare = (part: number) => String(Math.floor(limits.memoryBytes * part));
  return new Map([
    ['max_server_memory_usage', String(limits.memoryBytes)],
    ['mark_cache_size', cacheShare(1 / 16)],
    ['primary_index_cache_size', cacheShare(1 / 16)],
    ['uncompressed_cache_size', '0'],
    ['index_mark_cache_size', cacheShare(1 / 64)],
    // The filters of some million logs are larger, and would only displace each other.
    ['index_uncompressed_cache_size', '0'],
    ['text_index_tokens_cache_size', cacheShare(1 / 64)],
    ['text_index_header_cache_size', cacheShare(1 / 64)],
    ['text_index_postings_cache_size', cacheShare(1 / 32)],
    ['vector_similarity_index_cache_size', '0'],
    ['parquet_metadata_cache_size', '0'],
    ['iceberg_metadata_files_cache_size', '0'],
    ['compiled_expression_cache_size', String(16 * mebibyte)],
    ['query_condition_cache_size', String(32 * mebibyte)],
    ['mmap_cache_size', '16'],
    ['background_pool_size', String(Math.max(2, Math.floor(limits.threads / 2)))],
    ['background_schedule_pool_size', '4'],
    ['background_common_pool_size', '2'],
    ['background_fetches_pool_size', '1'],
    ['background_move_pool_size', '1'],
  ]);
}

/**
 * Defaults of all tables. An INSERT returns when its rows are synced, and a merge or mutation
 * replaces parts only once its result is synced.
 */
export const tableDefaults: SettingMap = new Map([
  ['fsync_after_insert', '1'],
  ['fsync_part_directory', '1'],
  ['min_rows_to_fsync_after_merge', '1'],
  ['min_compressed_bytes_to_fsync_after_merge', '1'],
  // The parts that a merge replaced become active again when its result is broken at a start.
  ['old_parts_lifetime', '60'],
  // By default the thread that deletes them sleeps up to five minutes.
  ['cleanup_delay_period', '10'],
  ['max_cleanup_delay_period', '20'],
  // Any number of broken parts is detached and reported, and the table still loads.
  ['max_suspicious_broken_parts', '1000000'],
  ['max_suspicious_broken_parts_bytes', String(2 ** 50)],
  // With two merge threads the defaults would never allow mutations and large merges.
  ['number_of_free_entries_in_pool_to_execute_mutation', '1'],
  ['number_of_free_entries_in_pool_to_lower_max_size_of_merge', '1'],
  ['number_of_free_entries_in_pool_to_execute_optimize_entire_partition', '1'],
]);

/** https://clickhouse.com/docs/operations/settings/settings */
export function sessionSettings(pool: PoolName, limits: EngineSettings): SettingMap {
  const queryBytes = Math.floor(limits.memoryBytes * memoryShare(pool, limits));
  const settings = new Map([
    ['async_insert', '0'],
    ['max_threads', String(limits.threads)],
    ['max_insert_threads', '1'],
    ['max_execution_time', String(secondsOf(pool, limits))],
    ['max_memory_usage', String(queryBytes)],
    ['max_bytes_before_external_group_by', String(Math.floor(queryBytes / 2))],
    ['max_bytes_before_external_sort', String(Math.floor(queryBytes / 2))],
    ['max_result_bytes', String(limits.maxResultBytes)],
    ['max_result_rows', String(maxResultRows)],
    ['result_overflow_mode', 'throw'],
    ['max_query_size', String(32 * mebibyte)],
    ['max_concurrent_queries_for_user', '0'],
    ['use_uncompressed_cache', '0'],
    ['log_queries', '0'],
    ['implicit_select', '0'],
    ['allow_introspection_functions', '0'],
    ['http_max_tries', '1'],
    ['http_connection_timeout', '1'],
    ['input_format_parallel_parsing', '0'],
    // Two more threads for each query, which take longer than the formatting of most results.
    ['output_format_parallel_formatting', '0'],
  ]);
  // With CAP_SYS_NICE, searches use the CPU time that inserts and brief reads leave.
  if (pool === 'read') settings.set('os_threads_nice_value_query', '10');
  // Read-only, but settings may change; a session cannot unset it.
  if (isReadPool(pool)) settings.set('readonly', '2');
  return settings;
}

function isReadPool(pool: PoolName): boolean {
  return pool === 'read' || pool === 'brief';
}

/** All reads together take at most three quarters; brief ones hardly any. */
function memoryShare(pool: PoolName, limits: EngineSettings): number {
  if (isReadPool(pool)) return 0.75 / limits.readMembers;
  return pool === 'insert' ? 0.6 : 0.4;
}

function secondsOf(pool: PoolName, limits: EngineSettings): number {
  if (isReadPool(pool)) return limits.maxExecutionSeconds;
  return pool === 'insert' ? limits.maxInsertSeconds : limits.maxHousekeepingSeconds;
}

/** The configuration file for chDB's `--config-file`. */
export function toConfigXml(server: SettingMap, tables: SettingMap): string {
  const elements = (map: SettingMap) =>
    [...map].map(([name, value]) => `<${name}>${value}</${name}>`).join('\n');
  return [
    '<clickhouse>',
    '<logger><level>none</level></logger>',
    elements(server),
    `<merge_tree>\n${elements(tables)}\n</merge_tree>`,
    '</clickhouse>\n',
  ].join('\n');
}

/** `SET …` for these, or undefined when there is nothing to set. The caller checks the names. */
export function setStatement(values: ReadonlyMap<string, Uint8Array | string>): string | undefined {
  const assignments = [...values].map(([name, value]) => {
    return `${name} = ${value === unsetValue ? 'DEFAULT' : stringLiteral(value)}`;
  });
  return assignments.length === 0 ? undefined : `SET ${assignments.join(', ')}`;
}

/** The changes that bring a session from `applied` to `wanted`. */
export function changesBetween(
  applied: SettingMap,
  wanted: SettingMap,
  defaults: SettingMap,
): SettingMap {
  const changes = new Map<string, string>();
  for (const name of applied.keys()) {
    if (!wanted.has(name)) changes.set(name, defaults.get(name) ?? unsetValue);
  }
  for (const [name, value] of wanted) {
    if ((applied.get(name) ?? defaults.get(name)) !== value) changes.set(name, value);
  }
  return changes;
}

/** Resets a setting to chDB's own default. */
export const unsetValue = '\0default';
