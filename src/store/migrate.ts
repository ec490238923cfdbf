/**
 * Migrates the tables to the schema of this version: numbered SQL files, each applied once and
 * idempotent, so that a crash or concurrent nodes do no harm. A newer schema is refused.
 */
import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { ClickHouseError } from '@clickhouse/client';
import type { Connection } from './connection.ts';
import {
  distributedSql,
  type SchemaTarget,
  toStatements,
  unshardedEngine,
} from './schema-target.ts';
import { type Statement, statement } from './sql/statement.ts';
import {
  everyReplica,
  localEnding,
  onCluster,
  type Placement,
  storedTables,
  tableName,
} from './sql/tables.ts';

const schemaFolder = new URL('./schema/', import.meta.url);
const fileName = /^(\d{3})_(\w+)\.sql$/;

interface Migration {
  readonly version: number;
  readonly name: string;
  readonly statements: readonly string[];
}

/**
 * @param fences whether the store is shared, and needs the table of fences
 * @returns the versions applied
 * @throws Error when the schema is newer than the newest file
 */
export async function migrate(
  connection: Connection,
  target: SchemaTarget,
  fences: 'fenced' | 'alone',
): Promise<number[]> {
  const { placement } = target;
  const migrations = await readMigrations(target);
  const newest = migrations.at(-1)?.version ?? 0;
  const run = (sql: string) => executeWithRetry(connection, plain(sql));
  // A statement ON CLUSTER waits for every node, so it is sent only when needed.
  const isComplete = placement.cluster !== undefined && (await hasAllTables(connection, placement));
  if (!isComplete) for (const sql of ownTables(placement, fences)) await run(sql);
  const current = await currentVersion(connection, placement);
  if (current > newest) {
    throw new Error(
      `cannot use the store: its schema is version ${current}, this Weir knows ${newest}; ` +
        'start the newer Weir that wrote it',
    );
  }
  const isRepeated = placement.cluster !== undefined && !isComplete;
  const due = migrations.filter(({ version }) => isRepeated || version > current);
  const applied = due.filter(({ version }) => version > current);
  const record = (some: readonly Migration[]) =>
    executeWithRetry(connection, recordSql(placement, some));
  for (const migration of due) {
    for (const sql of migration.statements) await run(sql);
    if (current > 0 && applied.includes(migration)) await record([migration]);
  }
  // Of a new database all together: each insert is synced.
  if (current === 0) await record(applied);
  if (placement.cluster !== undefined && due.length > 0) {
    for (const table of storedTables) await run(distributedSql(placement, table));
  }
  return applied.map(({ version }) => version);
}

/** The database, and the tables of migrations and fences. */
function ownTables(placement: Placement, fences: 'fenced' | 'alone'): string[] {
  const { database } = placement;
  const on = onCluster(placement);
  const table = (name: string, columns: string, order: string) =>
    `CREATE TABLE IF NOT EXISTS ${tableName(database, name)}${on} (${columns}) ` +
    `ENGINE = ${unshardedEngine(placement, name)} ORDER BY ${order} ` +
    'SETTINGS fsync_after_insert = 1, fsync_part_directory = 1';
  const fencesTable = table('fences', 'Shard String, Number UInt128', '(Shard, Number)');
  return [
    `CREATE DATABASE IF NOT EXISTS ${database}${on}`,
    table(
      'schema_migrations',
      'version UInt32, name String, appliedAt DateTime DEFAULT now()',
      'version',
    ),
    ...(fences === 'fenced' ? [fencesTable] : []),
  ];
}

async function currentVersion(connection: Connection, { database }: Placement): Promise<number> {
  const sql = `SELECT max(version) FROM ${tableName(database, 'schema_migrations')}`;
  const [row] = await connection.query<[number]>('housekeeping', plain(sql));
  return row?.[0] ?? 0;
}

/** On every node that answers; a replaced node has none. */
async function hasAllTables(connection: Connection, placement: Placement): Promise<boolean> {
  const names = [
    ...storedTables.flatMap((name) => [name, `${name}${localEnding}`]),
    'schema_migrations',
    'fences',
  ];
  const tables = statement(
    (params) => `SELECT hostName(), toUInt32(uniqExact(name))
FROM ${everyReplica(placement, 'system.tables')}
WHERE database = ${params.add('String', placement.database)}
  AND name ${params.anyOf(names)}
GROUP BY hostName()
SETTINGS skip_unavailable_shards = 1`,
  );
  const nodes = plain(`SELECT DISTINCT hostName() FROM ${everyReplica(placement, 'system.one')}
SETTINGS skip_unavailable_shards = 1`);
  const query = <Row>(sql: Statement) => connection.query<Row>('housekeeping', sql);
  const found = new Map(await query<[string, number]>(tables));
  const hosts = await query<[string]>(nodes);
  return hosts.every(([host]) => found.get(host) === names.length);
}

/** Retries conflicts with other nodes that migrate at the same time. */
async function executeWithRetry(connection: Connection, change: Statement): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await connection.execute('housekeeping', change);
      return;
    } catch (error) {
      const isConflict = error instanceof ClickHouseError && conflictCodes.has(error.code);
      if (!isConflict || attempt === attempts) throw error;
    }
    await delay(retryPauseMs * attempt);
  }
}

const attempts = 8;
const retryPauseMs = 250;
/**
 * TABLE_ALREADY_EXISTS, DATABASE_ALREADY_EXISTS, REPLICA_ALREADY_EXISTS, TABLE_IS_READ_ONLY (until
 * it has found Keeper), UNSATISFIED_QUORUM_FOR_PREVIOUS_WRITE, DEADLOCK_AVOIDED,
 * CANNOT_ASSIGN_ALTER.
 */
const conflictCodes = new Set(['57', '82', '253', '242', '286', '473', '517']);

/** The version that `migrate` brings the schema to. */
export async function newestVersion(): Promise<number> {
  const versions = (await schemaFiles()).map((file) => Number(fileName.exec(file)?.[1]));
  return Math.max(...versions);
}

async function schemaFiles(): Promise<string[]> {
  return (await readdir(schemaFolder)).filter((name) => name.endsWith('.sql')).sort();
}

async function readMigrations(target: SchemaTarget): Promise<Migration[]> {
  return Promise.all(
    (await schemaFiles()).map(async (file) => {
      const match = fileName.exec(file);
      if (match === null) throw new Error(`cannot read migration "${file}": no NNN_name.sql`);
      const text = await readFile(new URL(file, schemaFolder), 'utf8');
      return { version: Number(match[1]), name: match[2]!, statements: toStatements(text, target) };
    }),
  );
}

function recordSql({ database }: Placement, migrations: readonly Migration[]): Statement {
  const table = tableName(database, 'schema_migrations');
  return statement((params) => {
    const rows = migrations.map(({ version, name }) => {
      return `(${params.add('UInt64', BigInt(version))}, ${params.add('String', name)})`;
    });
    return `INSERT INTO ${table} (version, name)
SELECT row.1, row.2 FROM (SELECT arrayJoin([${rows.join(', ')}]) AS row)`;
  });
}

function plain(sql: string): Statement {
  return { sql, params: {} };
}
