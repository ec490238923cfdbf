/** Applies settings of durability and of storage tiers to the tables, at each start. */
import type { Connection } from './connection.ts';
import {
  compileDurability,
  compileTableEngines,
  compileTierChanges,
  compileTiers,
  missingDurability,
  type StorageTiers,
  type TableRow,
  type TiersRow,
} from './sql/table-settings.ts';
import type { Placement } from './sql/tables.ts';

/** @throws Error when a table does not take a setting; errors of the connection */
export async function ensureDurableTables(
  connection: Connection,
  placement: Placement,
): Promise<void> {
  for (const { row, missing } of await findLacking(connection, placement)) {
    await connection.execute('housekeeping', compileDurability(placement, row, missing));
  }
  const [lacking] = await findLacking(connection, placement);
  if (lacking === undefined) return;
  const { sql } = compileDurability(placement, lacking.row, lacking.missing);
  throw new Error(
    `cannot use the store: ${placement.database}.${lacking.row[0]} does not sync what it ` +
      `acknowledges (${lacking.missing.join(', ')} is not 1); run ${sql}`,
  );
}

async function findLacking(connection: Connection, placement: Placement) {
  const rows = await connection.query<TableRow>('housekeeping', compileTableEngines(placement));
  return rows
    .map((row) => ({ row, missing: missingDurability(placement, row) }))
    .filter(({ missing }) => missing.length > 0);
}

/** @throws errors of the connection */
export async function applyStorageTiers(
  connection: Connection,
  placement: Placement,
  tiers: StorageTiers,
): Promise<void> {
  const rows = await connection.query<TiersRow>('housekeeping', compileTiers(placement));
  for (const row of rows) {
    for (const change of compileTierChanges(placement, tiers, row)) {
      await connection.execute('housekeeping', change);
    }
  }
}
