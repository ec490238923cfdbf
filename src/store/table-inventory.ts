/**
 * An inventory of the tables of the embedded engine, in a file beside its data. A table whose
 * metadata are lost stops the start; otherwise it would be created again, without its rows.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { replaceTextFile } from '../files/atomic-file.ts';
import { hasErrorCode } from '../std/error-text.ts';
import type { StoreEvents } from '../telemetry/store-events.ts';
import type { Connection } from './connection.ts';
import { newestVersion } from './migrate.ts';
import { type Statement, statement } from './sql/statement.ts';
import type { Placement } from './sql/tables.ts';

interface Table {
  readonly uuid: string;
  /** Digest of names, types and defaults. */
  readonly columns: string;
}

interface Inventory {
  /** The newest version of `migrate`, which changes columns. */
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
 * To be called before migrations.
 * @throws Error naming tables that are missing, were replaced or whose columns changed on disk;
 * errors of the connection
 */
export async function assertNoTableLost(options: TableInventory): Promise<void> {
  const { placement, file } = options;
  const known = readInventory(options);
  if (known === undefined) return;
  const { schemaVersion, tables } = await takeInventory(options);
  const nameOf = ([name, { uuid }]: [string, Table]) => `${placement.database}.${name} (${uuid})`;
  const entries = Object.entries(known.tables);
  const lost = entries.filter(([name, { uuid }]) => tables[name]?.uuid !== uuid).map(nameOf);
  const { database } = placement;
  const advice = `restore the .sql files of ${database} from a backup, or remove ${file} to`;
  if (lost.length > 0) {
    const names = lost.join(', ');
    throw new Error(
      `cannot open the store: its metadata lacks ${names}; ${advice} start with empty tables`,
    );
  }
  // A migration changes columns; an earlier one may have been interrupted.
  if (known.schemaVersion !== schemaVersion) return;
  const changed = entries
    .filter(([name, { columns }]) => tables[name]?.columns !== columns)
    .map(nameOf);
  if (changed.length === 0) return;
  const names = changed.join(', ');
  throw new Error(
    `cannot open the store: the columns of ${names} changed on disk; ${advice} accept them`,
  );
}

/** Writes the inventory. To be called after migrations. */
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
  return statement(
    (params) => `SELECT t.name, toString(any(t.uuid)), hex(SHA256(toString(arraySort(groupArray(
  (c.position, c.name, c.type, c.default_kind, c.default_expression))))))
FROM system.tables AS t
INNER JOIN system.columns AS c ON c.database = t.database AND c.table = t.name
WHERE t.database = ${params.add('String', database)} AND t.engine LIKE '%MergeTree'
GROUP BY t.name ORDER BY t.name`,
  );
}

/** Undefined without a valid file. */
function readInventory({ file, events }: TableInventory): Inventory | undefined {
  const text = readIfThere(file);
  if (text === undefined) return undefined;
  try {
    const { inventory, sha256 } = JSON.parse(text) as { inventory: Inventory; sha256: string };
    if (digestOf(inventory) === sha256) return inventory;
  } catch {
    // Reported below, like a wrong digest.
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
