/** What tells one store from another, as long as its tables are not made anew. */
import type { Connection } from './connection.ts';
import { toReadError } from './failures.ts';
import { Parameters } from './sql/statement.ts';
import type { Placement } from './sql/tables.ts';

/** The nodes of a cluster have tables of their own, so there its name counts. @throws AppError */
export async function readIdentity(
  connection: Connection,
  { database, cluster }: Placement,
): Promise<string> {
  if (cluster !== undefined) return `${cluster}/${database}`;
  const params = new Parameters();
  const sql = `SELECT toString(uuid) FROM system.tables
WHERE database = ${params.add('String', database)} AND name = 'logs'`;
  try {
    const [row] = await connection.query<[string]>('housekeeping', { sql, params: params.values });
    return row?.[0] ?? '';
  } catch (error) {
    throw toReadError(error);
  }
}
