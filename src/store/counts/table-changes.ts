/**
 * Whether the logs may have changed since a moment, without a statement, and what reads may have
 * found. Only for a store that no other process changes: all changes pass through the connection.
 */
import type { Connection, QueryContext } from '../connection.ts';
import type { Statement } from '../sql/statement.ts';
import { tableName } from '../sql/tables.ts';

export interface TableChanges {
  /**
   * Equal at two moments between which no log was inserted or dropped; undefined = unknown, as
   * during an insert. Merges and deletions in the background do not count: the former keep all
   * rows, the latter remove what reads hide already.
   */
  stamp(): number | undefined;
  /**
   * Whether a read of the account may have found logs of an insert that is not acknowledged yet:
   * they are visible before they are synced.
   */
  wereReadAhead(accountId: string): boolean;
}

/** For a store with other writers. */
export const unknownChanges: TableChanges = {
  stamp: () => undefined,
  wereReadAhead: () => true,
};

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
  const inserts = new Set<{ readonly readers: Set<string> }>();

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

  async function inserting(insert: Promise<void>): Promise<void> {
    const own = { readers: new Set<string>() };
    inserts.add(own);
    try {
      await during(insert);
    } finally {
      inserts.delete(own);
    }
  }

  async function reading<Answer>(
    { sql }: Statement,
    { accountId }: QueryContext,
    read: Promise<Answer>,
  ): Promise<Answer> {
    const answer = await read;
    // Also of the list of parts.
    if (sql.includes('logs')) for (const { readers } of inserts) readers.add(accountId);
    return answer;
  }

  return {
    connection: {
      ...connection,
      read: <Row>(statement: Statement, context: QueryContext) =>
        reading(statement, context, connection.read<Row>(statement, context)),
      readBytes: (statement, context) =>
        reading(statement, context, connection.readBytes(statement, context)),
      execute: (...call) => during(connection.execute(...call)),
      insert(statement, body) {
        const insert = connection.insert(statement, body);
        return statement.sql.startsWith(insertsLogs) ? inserting(insert) : insert;
      },
    },
    changes: {
      stamp: () => (running > 0 || performance.now() < doubtUntilMs ? undefined : count),
      wereReadAhead: (accountId) => [...inserts].some(({ readers }) => readers.has(accountId)),
    },
  };
}
