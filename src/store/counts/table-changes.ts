/**
 * Whether the logs may have changed since a moment, without a statement. Only for a store that no
 * other process changes: every change passes through the connection.
 */
import type { Connection } from '../connection.ts';
import { tableName } from '../sql/tables.ts';

export interface TableChanges {
  /**
   * Equal at two moments between which no log was inserted or dropped; undefined = unknown, as
   * during an insert. Merges and deletions in the background do not count: the former keep all
   * rows, the latter remove what reads hide already.
   */
  stamp(): number | undefined;
}

/** For a store with other writers. */
export const unknownChanges: TableChanges = { stamp: () => undefined };

/** A statement that failed may take effect until its time limit. */
const doubtMs = 3_600_000;

/** @returns a connection in place of the given one, for all statements that change logs */
export function trackChanges(
  connection: Connection,
  database: string,
): { readonly connection: Connection; readonly changes: TableChanges } {
  const insertsLogs = `INSERT INTO ${tableName(database, 'logs')} `;
  let count = 0;
  let running = 0;
  let doubtUntilMs = -Infinity;

  async function during(change: Promise<void>): Promise<void> {
    running += 1;
    try {
      await change;
    } catch (error) {
      doubtUntilMs = performance.now() + doubtMs;
      throw error;
    } finally {
      running -= 1;
      count += 1;
    }
  }

  return {
    connection: {
      ...connection,
      execute: (...call) => during(connection.execute(...call)),
      insert(statement, body) {
        const insert = connection.insert(statement, body);
        return statement.sql.startsWith(insertsLogs) ? during(insert) : insert;
      },
    },
    changes: {
      stamp: () => (running > 0 || performance.now() < doubtUntilMs ? undefined : count),
    },
  };
}
