/** Statements that find data parts which ClickHouse put aside or cannot read. Pure. */
import { tableName } from './columns.ts';
import { everyReplica, type Placement } from './placement.ts';
import { Parameters, type Statement } from './statement.ts';

/** A part in the `detached` folder of its table: [table, name, reason, path]. */
export type DetachedRow = readonly [string, string, string, string];

/** @see https://clickhouse.com/docs/operations/system-tables/detached_parts */
export function compileDetachedParts(placement: Placement): Statement {
  const params = new Parameters();
  const sql = `SELECT table, name, ifNull(reason, ''), path
FROM ${everyReplica(placement, 'system.detached_parts')}
WHERE database = ${params.add('String', placement.database)}
ORDER BY table, name
LIMIT 10000${placement.cluster === undefined ? '' : '\nSETTINGS skip_unavailable_shards = 1'}`;
  return { sql, params: params.values };
}

/** Damaged data met by reads and merges since the server started: [name, count, message]. */
export type CorruptionRow = readonly [string, string, string];

/** Codes that only damaged files cause. */
const corruptionCodes = [
  'CHECKSUM_DOESNT_MATCH',
  'CORRUPTED_DATA',
  'CANNOT_DECOMPRESS',
  'NO_FILE_IN_DATA_PART',
  'BAD_SIZE_OF_FILE_IN_DATA_PART',
  'CANNOT_READ_FROM_FILE_DESCRIPTOR',
] as const;

export function compileCorruption(): Statement {
  const params = new Parameters();
  const sql = `SELECT name, toString(value), last_error_message FROM system.errors
WHERE NOT remote AND name ${params.anyOf('String', corruptionCodes)}`;
  return { sql, params: params.values };
}

/** A part that reads may use: [table, name, path]. */
export type ActivePartRow = readonly [string, string, string];

export function compileActiveParts({ database }: Placement): Statement {
  const params = new Parameters();
  const sql = `SELECT table, name, path FROM system.parts
WHERE active AND database = ${params.add('String', database)}
ORDER BY table, name`;
  return { sql, params: params.values };
}

/** [part, 1 = passed, message]. */
export type CheckRow = readonly [string, number, string];

/** Reads a part and compares every file with its checksum. PART takes no query parameter. */
export function compileCheckPart({ database }: Placement, [table, part]: ActivePartRow): Statement {
  if (!/^[\w-]+$/.test(part)) throw new Error(`cannot check part ${part}: its name is no part's`);
  const sql = `CHECK TABLE ${tableName(database, table)} PART '${part}'
SETTINGS check_query_single_value_result = 0, max_threads = 1`;
  return { sql, params: {} };
}
