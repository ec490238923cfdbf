/** The accounts whose parts are counted before they ask. */
import type { Connection } from '../connection.ts';
import { compileLargestAccounts, type LogPartRow } from '../sql/part-counts.ts';
import type { Placement } from '../sql/tables.ts';

const maxAccounts = 8;

/** The result is of the primary index, which is read again once the table has grown. */
export function createLargestAccounts(
  connection: Pick<Connection, 'query'>,
  placement: Placement,
  minRows: number,
): (parts: readonly LogPartRow[]) => Promise<readonly string[]> {
  let last: { readonly rows: number; readonly accounts: readonly string[] } | undefined;
  return async (parts) => {
    const rows = parts.reduce((sum, [, own]) => sum + Number(own), 0);
    if (last === undefined || rows < 0.8 * last.rows || rows > 1.2 * last.rows) {
      const statement = compileLargestAccounts(placement, { minRows, limit: maxAccounts });
      const found = await connection.query<[string]>('housekeeping', statement);
      last = { rows, accounts: found.map(([accountId]) => accountId) };
    }
    return last.accounts;
  };
}
