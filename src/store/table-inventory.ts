/**
 * Which tables the embedded engine has: kept beside its data, so that a table whose metadata is
 * lost stops the start. Otherwise it would be created again, empty, and all its rows would vanish
 * without an error.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { replaceTextFile } from '../files/whole-file.ts';
import type { StoreEvents } from '../telemetry/store-events.ts';
import type { Connection } from './connection.ts';
import type { Placement } from './sql/placement.ts';
import { Parameters, type Statement } from './sql/statement.ts';

/** UUIDs by table name, as of the last start. */
type Tables = Readonly<Record<string, string>>;

export interface TableInventory {
  readonly connection: Connection;
  readonly placement: Placement;
  readonly file: string;
  readonly events: StoreEvents;
}

/** @throws Error naming the tables that are gone or were replaced; what the connection throws */
export async function assertNoTableLost(inventory: TableInventory): Promise<void> {
  const { placement, file } = inventory;
  const known = readTables(inventory);
  const found = await listTables(inventory);
  const lost = Object.entries(known).filter(([name, uuid]) => found[name] !== uuid);
  if (lost.length === 0) return;
  const names = lost.map(([name, uuid]) => `${placement.database}.${name} (${uuid})`).join(', ');
  throw new Error(
    `cannot open the store: its metadata lacks ${names}; restore the .sql files of ` +
      `${placement.database} from a backup, or remove ${file} to begin with empty tables`,
  );
}

/** Notes the tables that are there; after migrations. */
export async function noteTables(inventory: TableInventory): Promise<void> {
  const tables = await listTables(inventory);
  const text = `${JSON.stringify({ tables, sha256: digestOf(tables) }, undefined, 2)}\n`;
  if (readIfThere(inventory.file) !== text) replaceTextFile(inventory.file, text);
}

async function listTables({ connection, placement }: TableInventory): Promise<Tables> {
  const rows = await connection.query<[string, string]>('housekeeping', tablesSql(placement));
  return Object.fromEntries(rows);
}

function tablesSql({ database }: Placement): Statement {
  const params = new Parameters();
  const sql = `SELECT name, toString(uuid) FROM system.tables
WHERE database = ${params.add('String', database)} AND engine LIKE '%MergeTree' ORDER BY name`;
  return { sql, params: params.values };
}

/** Empty where nothing is known, as in a new folder. */
function readTables({ file, events }: TableInventory): Tables {
  const text = readIfThere(file);
  if (text === undefined) return {};
  try {
    const { tables, sha256 } = JSON.parse(text) as { tables: Tables; sha256: string };
    if (digestOf(tables) === sha256) return tables;
  } catch {
    // Reported below, as a wrong digest is.
  }
  events.inventoryDamaged(file);
  return {};
}

function digestOf(tables: Tables): string {
  return createHash('sha256').update(JSON.stringify(tables)).digest('hex');
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
