/**
 * Brings the store's tables to the schema this version knows: numbered SQL files, each applied once
 * and safe to repeat after a crash halfway. A store written by a newer version is refused.
 */
import { readdir, readFile } from 'node:fs/promises';
import type { Connection } from './connection.ts';
import { labelPairs, tableName } from './sql/columns.ts';
import { Parameters, type Statement } from './sql/statement.ts';

/** What the files leave open, so that one set of files serves an embedded engine and a cluster. */
export interface SchemaTarget {
  readonly database: string;
  /** Empty, or ` ON CLUSTER name`. */
  readonly onCluster: string;
  /** Engine of the tables of rows, e.g. `MergeTree`. */
  readonly mergeTree: string;
  /** The one that keeps the last row of each key, e.g. `ReplacingMergeTree`. */
  readonly replacingMergeTree: string;
}

export function embeddedTarget(database: string): SchemaTarget {
  const engines = { mergeTree: 'MergeTree', replacingMergeTree: 'ReplacingMergeTree' };
  return { database, onCluster: '', ...engines };
}

const schemaFolder = new URL('./schema/', import.meta.url);
const fileName = /^(\d{3})_(\w+)\.sql$/;

interface Migration {
  readonly version: number;
  readonly name: string;
  readonly statements: readonly string[];
}

/**
 * @returns the versions applied now. @throws Error where the store's schema is newer than the
 *   newest file.
 */
export async function migrate(connection: Connection, target: SchemaTarget): Promise<number[]> {
  const migrations = await readMigrations(target);
  const table = tableName(target.database, 'schema_migrations');
  const run = (sql: string) => connection.execute('housekeeping', plain(sql));
  await run(`CREATE DATABASE IF NOT EXISTS ${target.database}${target.onCluster}`);
  await run(
    `CREATE TABLE IF NOT EXISTS ${table}${target.onCluster} ` +
      `(version UInt32, name String, appliedAt DateTime DEFAULT now()) ` +
      `ENGINE = ${target.mergeTree} ORDER BY version ` +
      `SETTINGS fsync_after_insert = 1, fsync_part_directory = 1`,
  );
  const current = await currentVersion(connection, table);
  const newest = migrations.at(-1)?.version ?? 0;
  if (current > newest) {
    throw new Error(
      `cannot use the store: its schema is version ${current}, this Weir knows ${newest}; ` +
        'start the newer Weir that wrote it',
    );
  }
  const due = migrations.filter((migration) => migration.version > current);
  for (const migration of due) {
    for (const statement of migration.statements) await run(statement);
    await connection.execute('housekeeping', recordSql(table, migration));
  }
  return due.map((migration) => migration.version);
}

async function currentVersion(connection: Connection, table: string): Promise<number> {
  const rows = await connection.query<[number]>(
    'housekeeping',
    plain(`SELECT max(version) FROM ${table}`),
  );
  return rows[0]?.[0] ?? 0;
}

async function readMigrations(target: SchemaTarget): Promise<Migration[]> {
  const names = (await readdir(schemaFolder)).filter((name) => name.endsWith('.sql')).sort();
  return Promise.all(
    names.map(async (file) => {
      const match = fileName.exec(file);
      if (match === null) throw new Error(`cannot read migration "${file}": no NNN_name.sql`);
      const text = await readFile(new URL(file, schemaFolder), 'utf8');
      return { version: Number(match[1]), name: match[2]!, statements: toStatements(text, target) };
    }),
  );
}

/**
 * Statements end with a semicolon at the end of a line; lines that begin with `--` are comments.
 */
export function toStatements(text: string, target: SchemaTarget): string[] {
  const values: Readonly<Record<string, string>> = { ...target, labelPairs };
  return text
    .replace(/^--.*$/gm, '')
    .split(/;\s*$/m)
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '')
    .map((statement) =>
      statement.replace(/\{\{(\w+)\}\}/g, (place, name: string) => {
        const value = values[name];
        if (value === undefined) throw new Error(`cannot fill in ${place} of a migration`);
        return value;
      }),
    );
}

function recordSql(table: string, migration: Migration): Statement {
  const params = new Parameters();
  const version = params.add('UInt64', BigInt(migration.version));
  const name = params.add('String', migration.name);
  return {
    sql: `INSERT INTO ${table} (version, name) SELECT ${version}, ${name}`,
    params: params.values,
  };
}

function plain(sql: string): Statement {
  return { sql, params: {} };
}
