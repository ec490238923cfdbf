/** Statements that find detached and damaged data parts. Pure. */
import { type Statement, statement } from './statement.ts';
import { everyReplica, type Placement, skipUnavailable, tableName } from './tables.ts';

/** A part in the `detached` folder of its table: table, name, reason, path. */
export type DetachedRow = readonly [string, string, string, string];

/** @see https://clickhouse.com/docs/operations/system-tables/detached_parts */
export function compileDetachedParts(placement: Placement): Statement {
  return statement(
    (params) => `SELECT table, name, ifNull(reason, ''), path
FROM ${everyReplica(placement, 'system.detached_parts')}
WHERE database = ${params.add('String', placement.database)}
ORDER BY table, name
LIMIT 10000${skipUnavailable(placement)}`,
  );
}

/** Errors of damaged data since the server started: name, count, message. */
export type CorruptionRow = readonly [string, string, string];

/** Errors that only damaged files cause. */
const corruptionCodes = [
  'CHECKSUM_DOESNT_MATCH',
  'CORRUPTED_DATA',
  'CANNOT_DECOMPRESS',
  'NO_FILE_IN_DATA_PART',
  'BAD_SIZE_OF_FILE_IN_DATA_PART',
  'CANNOT_READ_FROM_FILE_DESCRIPTOR',
] as const;

export function compileCorruption(): Statement {
  return statement(
    (params) => `SELECT name, toString(value), last_error_message FROM system.errors
WHERE NOT remote AND name ${params.anyOf(corruptionCodes)}`,
  );
}

/** A part that reads use: table, name, path. */
export type ActivePartRow = readonly [string, string, string];

export function compileActiveParts({ database }: Placement): Statement {
  return statement(
    (params) => `SELECT table, name, path FROM system.parts
WHERE active AND database = ${params.add('String', database)}
ORDER BY table, name`,
  );
}

/** Part, 1 = passed, message. */
export type CheckRow = readonly [string, number, string];

const partPattern = /^[A-Za-z0-9_-]+$/;

/** Compares every file of a part with its checksum. CHECK TABLE takes no query parameters. */
export function compileCheckPart({ database }: Placement, [table, part]: ActivePartRow): Statement {
  if (!partPattern.test(part)) throw new Error(`cannot check part "${part}": unexpected name`);
  const sql = `CHECK TABLE ${tableName(database, table)} PART '${part}'
SETTINGS check_query_single_value_result = 0, max_threads = 1`;
  return { sql, params: {} };
}
