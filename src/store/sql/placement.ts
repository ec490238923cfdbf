/**
 * Where the tables of a store stand: on one server, or spread over a cluster. There each node holds
 * its rows in a table of its own, and the usual name stands for those of all nodes. Pure.
 */
import { tableName } from './columns.ts';

export interface Placement {
  readonly database: string;
  /** As ClickHouse knows it; undefined = one server. */
  readonly cluster: string | undefined;
}

/** The table that holds the rows: what housekeeping and migrations work on. */
export function localTable({ database, cluster }: Placement, name: string): string {
  return tableName(database, cluster === undefined ? name : `${name}${localEnding}`);
}

/** Of names of tables on the nodes of a cluster. */
export const localEnding = '_local';

/** Empty, or a clause with a space before it. */
export function onCluster({ cluster }: Placement): string {
  return cluster === undefined ? '' : ` ON CLUSTER ${clusterLiteral(cluster)}`;
}

/** A table as every replica has it, rows once for each: for what a lagging one may not know yet. */
export function everyReplica({ cluster }: Placement, table: string): string {
  if (cluster === undefined) return table;
  return `clusterAllReplicas(${clusterLiteral(cluster)}, ${table})`;
}

/** A table as one replica of each shard has it. */
export function everyShard({ cluster }: Placement, table: string): string {
  return cluster === undefined ? table : `cluster(${clusterLiteral(cluster)}, ${table})`;
}

const clusterPattern = /^[A-Za-z0-9_.{}-]{1,64}$/;

/** @throws Error where the name could be more than a name */
export function clusterLiteral(cluster: string): string {
  if (!clusterPattern.test(cluster)) {
    throw new Error(`cannot use cluster name "${cluster}": letters, digits, _, . and - only`);
  }
  return `'${cluster}'`;
}
