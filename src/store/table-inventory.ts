/**
 * Which tables the embedded engine has: kept beside its data, so that a table whose metadata is
 * lost stops the start. Otherwise it would be created again, empty, and all its rows would vanish
 * without an error.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { replaceTextFile } from '../files/whole-file.ts';
import { hasErrorCode } from '../std/error-text.ts';
import type { StoreEvents } from '../telemetry/store-events.ts';
import type { Connection } from './connection.ts';
import { newestVersion } from './migrate.ts';
import { Parameters, type Statement } from './sql/statement.ts';
import type { Placement } from './sql/tables.ts';

interface Table {
  readonly uuid: string;
  /** Digest of the columns' names, types and defaults. */
  readonly columns: string;
}

interface Inventory {
  /** Of `migrate`, which changes columns. */
  readonly schemaVersion: number;
  /** By name. */
  readonly tables: Readonly<Record<string, Table>>;
}

export interface TableInventory {
  readonly connection: Connection;
  readonly placement: Placement;
  readonly file: string;
  readonly events: StoreEvents;
}

/**
 * Before migrations.
 * @throws Error naming the tables that are gone, were replaced or whose columns changed on disk;
 * what the connection throws
 */
export async function assertNoTableLost(options: TableInventory): Promise<void> {
  const { placement, file } = options;
  const known = readInventory(options);
  if (known === undefined) return;
  const { schemaVersion, tables } = await takeInventory(options);
  const nameOf = ([name, { uuid }]: [string, Table]) => `${placement.database}.${name} (${uuid})`;
  const entries = Object.entries(known.tables);
  const lost = entries.filter(([name, { uuid }]) => tables[name]?.uuid !== uuid).map(nameOf);
  const advice =
    `restore the .sql files of ${placement.database} from a backup, ` +
    `or remove ${file} to begin with`;
  if (lost.length > 0) {
    const names = lost.join(', ');
    throw new Error(`cannot open the store: its metadata lacks ${names}; ${advice} empty tables`);
  }
  // A start that migrates changes columns, and may have been cut short before.
  if (known.schemaVersion !== schemaVersion) return;
  const changed = entries
    .filter(([name, { columns }]) => tables[name]?.columns !== columns)
    .map(nameOf);
  if (changed.length === 0) return;
  const names = changed.join(', ');
  throw new Error(
    `cannot open the store: the columns of ${names} changed on disk; ${advice} them as they are`,
  );
}

/** Notes the tables that are there; after migrations. */
export async function noteTables(options: TableInventory): Promise<void> {
  const inventory = await takeInventory(options);
  const text = `${JSON.stringify({ inventory, sha256: digestOf(inventory) }, undefined, 2)}\n`;
  if (readIfThere(options.file) !== text) replaceTextFile(options.file, text);
}

async function takeInventory({ connection, placement }: TableInventory): Promise<Inventory> {
  const sql = tablesSql(placement);
  const rows = await connection.query<[string, string, string]>('housekeeping', sql);
  const tables = rows.map(([name, uuid, columns]) => [name, { uuid, columns }] as const);
  return { schemaVersion: await newestVersion(), tables: Object.fromEntries(tables) };
}

function tablesSql({ database }: Placement): Statement {
  const params = new Parameters();
  const sql = `SELECT t.name, toString(any(t.uuid)), hex(SHA256(toString(arraySort(groupArray(
  (c.position, c.name, c.type, c.default_kind, c.default_expression))))))
FROM system.tables AS t
INNER JOIN system.columns AS c ON c.database = t.database AND c.table = t.name
WHERE t.database = ${params.add('String', database)} AND t.engine LIKE '%MergeTree'
GROUP BY t.name ORDER BY t.name`;
  return { sql, params: params.values };
}

/** Undefined where nothing is known, as in a new folder. */
function readInventory({ file, events }: TableInventory): Inventory | undefined {
  const text = readIfThere(file);
  if (text === undefined) return undefined;
  try {
    const { inventory, sha256 } = JSON.parse(text) as { inventory: Inventory; sha256: string };
    if (digestOf(inventory) === sha256) return inventory;
  } catch {
    // Reported below, as a wrong digest is.
  }
  events.inventoryDamaged(file);
  return undefined;
}

function digestOf(inventory: Inventory): string {
  return createHash('sha256').update(JSON.stringify(inventory)).digest('hex');
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}
