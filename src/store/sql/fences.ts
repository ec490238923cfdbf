/**
 * Fencing: the holder of a shard raises its number in the table of fences, which makes later
 * inserts of earlier holders fail, and kills those that still run. Pure.
 */
import { type Parameters, type Statement, statement } from './statement.ts';
import { localTable, onCluster, type Placement, tableName } from './tables.ts';

/** Fencing token of one insert. */
export interface InsertPass {
  readonly shard: string;
  /** Higher than those of all earlier holders. */
  readonly number: bigint;
  /** Unique, begins with `insertIdsOf(shard)`. */
  readonly queryId: string;
}

/** Prefix of the query ids of all inserts of a shard. */
export function insertIdsOf(shard: string): string {
  return `weir/${encodeURIComponent(shard)}/`;
}

/**
 * Evaluated once, before the insert reads a row. Fails with FUNCTION_THROW_IF_VALUE_IS_NON_ZERO
 * where a later holder has fenced, and is true otherwise. A replica that lacks a fence refuses.
 */
export function passCondition(
  placement: Placement,
  { shard, number }: InsertPass,
  params: Parameters,
): string {
  const isSuperseded = `throwIf(max(Number) > ${params.add('UInt128', number)}, 'superseded')`;
  return `(
  SELECT ${isSuperseded} FROM ${tableName(placement.database, 'fences')}
  WHERE Shard = ${params.add('String', shard)}${sequentialConsistency(placement, ' ')}) = 0`;
}

/** One row with the highest number of a shard; 0 where it was never fenced. */
export function compileHighestFence(placement: Placement, shard: string): Statement {
  return statement(
    (params) => `SELECT toString(max(Number)) FROM ${tableName(placement.database, 'fences')}
WHERE Shard = ${params.add('String', shard)}${sequentialConsistency(placement, '\n')}`,
  );
}

function sequentialConsistency({ cluster }: Placement, space: string): string {
  return cluster === undefined ? '' : `${space}SETTINGS select_sequential_consistency = 1`;
}

/** Sequential inserts (`insert_quorum_parallel`) let a replica know whether it has all of them. */
export function compileRaiseFence(
  placement: Placement,
  { shard, number }: { readonly shard: string; readonly number: bigint },
  insertQuorum: string,
): Statement {
  const quorum =
    placement.cluster === undefined
      ? ''
      : `, insert_quorum = '${insertQuorum}', insert_quorum_parallel = 0`;
  return statement(
    (params) => `INSERT INTO ${tableName(placement.database, 'fences')} (Shard, Number)
SETTINGS async_insert = 0, insert_deduplicate = 0${quorum}
SELECT ${params.add('String', shard)}, ${params.add('UInt128', number)}`,
  );
}

/**
 * Kills every insert of a shard into any table and waits for their end. One server returns a row
 * for each insert, a cluster one for each node: host, port, 0 or null for a node that did not
 * respond.
 */
export function compileKillInserts(placement: Placement, shard: string): Statement {
  const kill = `KILL QUERY${onCluster(placement)}`;
  const killed = statement((params) => {
    const ids = params.add('String', insertIdsOf(shard));
    return `${kill} WHERE startsWith(initial_query_id, ${ids}) SYNC`;
  });
  return { ...killed, ...waitingForNodes(placement) };
}

/** Waits until each node of a cluster has all fences; one row for each node, as above. */
export function compileSyncFences(placement: Placement): Statement {
  return syncReplica(placement, tableName(placement.database, 'fences'));
}

/** The same for logs, without waiting for merges. */
export function compileSyncLogs(placement: Placement): Statement {
  return syncReplica(placement, `${localTable(placement, 'logs')} LIGHTWEIGHT`);
}

/** One row of a cluster: replicas of the fences, and how many of them are active in Keeper. */
export function compileNodes({ database }: Placement): Statement {
  return statement(
    (params) => `SELECT toUInt32(total_replicas), toUInt32(active_replicas) FROM system.replicas
WHERE database = ${params.add('String', database)} AND table = 'fences'`,
  );
}

/** Response of one node of a cluster; null = timeout. */
export type NodeRow = readonly [host: string, port: number, status: number | string | null];

function syncReplica(placement: Placement, table: string): Statement {
  const sql = `SYSTEM SYNC REPLICA${onCluster(placement)} ${table}`;
  return { sql, params: {}, ...waitingForNodes(placement) };
}

const nodeTimeoutSeconds = 15;

/** Beside the text: SYSTEM and KILL take no SETTINGS clause. */
function waitingForNodes({ cluster }: Placement): Pick<Statement, 'settings'> {
  if (cluster === undefined) return {};
  return {
    settings: {
      distributed_ddl_task_timeout: nodeTimeoutSeconds,
      distributed_ddl_output_mode: 'null_status_on_timeout',
    },
  };
}
