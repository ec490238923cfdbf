/** Brings the tables to the disks that the settings name, at each start. */
import type { Connection } from './connection.ts';
import {
  compileTierChanges,
  compileTiers,
  type StorageTiers,
  type TiersRow,
} from './sql/table-settings.ts';
import type { Placement } from './sql/tables.ts';

/** What is as wanted is left alone. @throws what the connection throws */
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
