/**
 * The tables of a store, and their names on one server or on a cluster, where each node has its
 * rows in a `_local` table and the plain name is the distributed table over all nodes. Pure.
 */

/** Tables of received data, each partitioned by the day of receipt. */
export const storedTables = [
  'logs',
  'samples',
  'histograms',
  'exemplars',
  'metric_metadata',
  'series',
] as const;
export type StoredTable = (typeof storedTables)[number];

/** Precision of `ReceivedAt`: DateTime64(9), or DateTime, which is rounded down. */
export type ReceiptPrecision = 'nanos' | 'seconds';

export function receiptPrecision(table: StoredTable): ReceiptPrecision {
  return table === 'samples' ? 'seconds' : 'nanos';
}

/**
 * Distributes rows over the shards of a cluster. All rows of a series and its labels are on one
 * shard, so that `FINAL` sees every row that another replaces; a batch of logs stays together.
 */
export const shardingKeys: Readonly<Record<StoredTable, string>> = {
  logs: 'cityHash64(Batch)',
  samples: 'cityHash64(SeriesId)',
  histograms: 'cityHash64(SeriesId)',
  exemplars: 'cityHash64(SeriesId)',
  series: 'cityHash64(SeriesId)',
  metric_metadata: 'cityHash64(AccountId, MetricName)',
};

const msPerHour = 3_600_000;

/**
 * Time that rows of a table are kept beyond retention. Labels are written with the first sample of
 * a day, so up to a day before samples that need them; an hour more covers requests around
 * midnight.
 */
export function keptLongerMs(table: StoredTable): number {
  return table === 'series' ? 25 * msPerHour : 0;
}

export interface Placement {
  readonly database: string;
  /** Name of the ClickHouse cluster; undefined = one server. */
  readonly cluster: string | undefined;
}

const namePattern = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/;

/** @returns `database.name`. @throws Error where the database is not a plain identifier. */
export function tableName(database: string, name: string): string {
  if (!namePattern.test(database)) {
    throw new Error(`cannot use database name "${database}": letters, digits and _ only`);
  }
  return `${database}.${name}`;
}

/** Ending of the names of tables on the nodes of a cluster. */
export const localEnding = '_local';

/** The table that holds the rows, for housekeeping and migrations. */
export function localTable({ database, cluster }: Placement, name: string): string {
  return tableName(database, cluster === undefined ? name : `${name}${localEnding}`);
}

/** A clause with a space before it; empty on one server. */
export function onCluster({ cluster }: Placement): string {
  return cluster === undefined ? '' : ` ON CLUSTER ${clusterLiteral(cluster)}`;
}

/** A table on every replica, with the rows of each, since a replica may lag. */
export function everyReplica({ cluster }: Placement, table: string): string {
  if (cluster === undefined) return table;
  return `clusterAllReplicas(${clusterLiteral(cluster)}, ${table})`;
}

/** A table on one replica of each shard. */
export function everyShard({ cluster }: Placement, table: string): string {
  return cluster === undefined ? table : `cluster(${clusterLiteral(cluster)}, ${table})`;
}

/** Reads the nodes that are up; empty on one server. */
export function skipUnavailable({ cluster }: Placement): string {
  return cluster === undefined ? '' : '\nSETTINGS skip_unavailable_shards = 1';
}

const clusterPattern = /^[A-Za-z0-9_.{}-]{1,64}$/;

/** @throws Error where the name could break out of the literal. */
export function clusterLiteral(cluster: string): string {
  if (!clusterPattern.test(cluster)) {
    throw new Error(`cannot use cluster name "${cluster}": letters, digits, _, . and - only`);
  }
  return `'${cluster}'`;
}
