/** Makes every table sync what it acknowledges, at each start, and checks that it does. */
import type { Connection } from './connection.ts';
import {
  compileDurability,
  compileTableEngines,
  missingDurability,
  type TableRow,
} from './sql/table-settings.ts';
import type { Placement } from './sql/tables.ts';

/** @throws Error where a setting does not take; what the connection throws */
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
