/**
 * Fills the placeholders of the schema files, so that one set of files creates the tables of an
 * embedded engine, a server and a cluster. Pure.
 */
import { allSearchIndexes, granuleSettings, searchIndexColumns } from './sql/search-indexes.ts';
import { policyLiteral } from './sql/table-settings.ts';
import {
  clusterLiteral,
  localEnding,
  localTable,
  onCluster,
  type Placement,
  shardingKeys,
  type StoredTable,
  tableName,
} from './sql/tables.ts';

export interface SchemaTarget {
  readonly placement: Placement;
  /** Undefined = the default one. */
  readonly storagePolicy: string | undefined;
}

/** Path of the tables in Keeper; a replaced replica rejoins under its name. */
const keeperFolder = '/clickhouse/tables';

/**
 * Placeholders are `{{word}}` or `{{word table …}}`. Statements end with a semicolon at the end of
 * a line; lines that begin with `--` are comments.
 * @throws Error for an unknown placeholder
 */
export function toStatements(text: string, target: SchemaTarget): string[] {
  return text
    .replace(/^--.*$/gm, '')
    .split(/;\s*$/m)
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '')
    .map((statement) =>
      statement.replace(/\{\{([\w ]+)\}\}/g, (_, place: string) => fill(place, target)),
    );
}

function fill(place: string, { placement, storagePolicy }: SchemaTarget): string {
  const [word = '', table = '', version] = place.split(' ');
  switch (word) {
    case 'searchIndexes':
      return searchIndexColumns();
    case 'searchIndexNames':
      return allSearchIndexes;
    case 'granules':
      return granuleSettings;
    case 'onCluster':
      return onCluster(placement);
    case 'table':
      return localTable(placement, table);
    case 'mergeTree':
    case 'replacingMergeTree':
      return engineSql(placement, { word, table, version });
    case 'storagePolicy':
      return storagePolicy === undefined
        ? ''
        : ` storage_policy = ${policyLiteral(storagePolicy)},`;
    default:
      throw new Error(`cannot fill in {{${place}}} of a migration`);
  }
}

function engineSql(
  { database, cluster }: Placement,
  {
    word,
    table,
    version,
  }: Readonly<Record<'word' | 'table', string>> & { version?: string | undefined },
): string {
  const name = word === 'mergeTree' ? 'MergeTree' : 'ReplacingMergeTree';
  const versions = version === undefined ? [] : [version];
  if (cluster === undefined) return version === undefined ? name : `${name}(${version})`;
  const path = `'${keeperFolder}/{shard}/${database}/${table}'`;
  return `Replicated${name}(${[path, "'{replica}'", ...versions].join(', ')})`;
}

/** Engine of a table that is replicated to every node and not sharded. */
export function unshardedEngine({ database, cluster }: Placement, table: string): string {
  if (cluster === undefined) return 'ReplacingMergeTree';
  const path = `'${keeperFolder}/${database}/${table}'`;
  return `ReplicatedReplacingMergeTree(${path}, '{shard}-{replica}')`;
}

/**
 * The Distributed table of a cluster, over the local tables of its nodes and with their columns.
 */
export function distributedSql(placement: Placement, table: StoredTable): string {
  const { database, cluster = '' } = placement;
  const local = localTable(placement, table);
  const name = tableName(database, table);
  const parts = [
    clusterLiteral(cluster),
    `'${database}'`,
    `'${table}${localEnding}'`,
    shardingKeys[table],
  ];
  return (
    `CREATE OR REPLACE TABLE ${name}${onCluster(placement)} AS ${local}\n` +
    `ENGINE = Distributed(${parts.join(', ')})`
  );
}
