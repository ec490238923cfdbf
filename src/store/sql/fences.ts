/**
 * Statements by which a holder of a shard ends the inserts of all before: the table of fences, and
 * the killing of what still runs. Pure.
 */
import { tableName } from './columns.ts';
import { insertIdsOf } from './insert-pass.ts';
import { localTable, onCluster, type Placement } from './placement.ts';
import { Parameters, type Statement } from './statement.ts';

/** One row with the highest number of a shard; 0 where it was never fenced. */
export function compileHighestFence(placement: Placement, shard: string): Statement {
  const params = new Parameters();
  const settings =
    placement.cluster === undefined ? '' : '\nSETTINGS select_sequential_consistency = 1';
  const sql = `SELECT toString(max(Number)) FROM ${tableName(placement.database, 'fences')}
WHERE Shard = ${params.add('String', shard)}${settings}`;
  return { sql, params: params.values };
}

/** One after the other (`insert_quorum_parallel`), so that a replica knows whether it has all. */
export function compileRaiseFence(
  placement: Placement,
  { shard, number }: { readonly shard: string; readonly number: bigint },
  insertQuorum: string,
): Statement {
  const params = new Parameters();
  const quorum =
    placement.cluster === undefined
      ? ''
      : `, insert_quorum = '${insertQuorum}', insert_quorum_parallel = 0`;
  const sql = `INSERT INTO ${tableName(placement.database, 'fences')} (Shard, Number)
SETTINGS async_insert = 0, insert_deduplicate = 0${quorum}
SELECT ${params.add('String', shard)}, ${params.add('UInt128', number)}`;
  return { sql, params: params.values };
}

/**
 * Every insert of a shard, wherever its rows go; answered when they have ended. Of one server one
 * row for each, of a cluster one for each node: host, port, 0 or null for one that did not answer.
 */
export function compileKillInserts(placement: Placement, shard: string): Statement {
  const params = new Parameters();
  const ids = params.add('String', insertIdsOf(shard));
  const sql = `KILL QUERY${onCluster(placement)} WHERE startsWith(initial_query_id, ${ids}) SYNC`;
  return { sql, params: params.values, ...waitingForNodes(placement) };
}

/** Of a cluster: each node has all rows of fences that any had; one row a node, as above. */
export function compileSyncFences(placement: Placement): Statement {
  const table = tableName(placement.database, 'fences');
  return syncReplica(placement, table);
}

/** The same of logs, without waiting for merges. */
export function compileSyncLogs(placement: Placement): Statement {
  return syncReplica(placement, `${localTable(placement, 'logs')} LIGHTWEIGHT`);
}

/** Of a cluster, one row: nodes that hold the fences, and how many of them Keeper knows alive. */
export function compileNodes({ database }: Placement): Statement {
  const params = new Parameters();
  const sql = `SELECT toUInt32(total_replicas), toUInt32(active_replicas) FROM system.replicas
WHERE database = ${params.add('String', database)} AND table = 'fences'`;
  return { sql, params: params.values };
}

/** What one node of a cluster answered; null = nothing in time. */
export type NodeRow = readonly [host: string, port: number, status: number | string | null];

function syncReplica(placement: Placement, table: string): Statement {
  const sql = `SYSTEM SYNC REPLICA${onCluster(placement)} ${table}`;
  return { sql, params: {}, ...waitingForNodes(placement) };
}

/** Not in the text: a statement that only a cluster has takes no settings there. */
function waitingForNodes({ cluster }: Placement): Pick<Statement, 'settings'> {
  if (cluster === undefined) return {};
  return {
    settings: {
      distributed_ddl_task_timeout: nodeSeconds,
      distributed_ddl_output_mode: 'null_status_on_timeout',
    },
  };
}

/** For a node to answer. */
const nodeSeconds = 15;
