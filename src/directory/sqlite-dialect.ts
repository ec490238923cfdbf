/** Kysely dialect of `node:sqlite`, with transactions that wait without blocking the thread. */
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  CompiledQuery,
  type DatabaseConnection,
  SqliteDialect,
  type SqliteDialectConfig,
  SqliteDriver,
  type SqliteStatement,
} from 'kysely';

/** SQLITE_BUSY, https://www.sqlite.org/rescode.html#busy */
const busy = 5;

/** @param writeWaitMs how long a transaction waits for one of another process. */
export function createSqliteDialect(database: DatabaseSync, writeWaitMs: number): SqliteDialect {
  const prepare = createStatementCache(database);
  const config = { database: { prepare, close: () => database.close() } };
  const dialect = new SqliteDialect(config);
  dialect.createDriver = () => new ImmediateDriver(config, database, writeWaitMs);
  return dialect;
}

/** @returns the primary SQLite result code; undefined for other errors. */
export function sqliteResultCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('errcode' in error)) return undefined;
  return typeof error.errcode === 'number' ? error.errcode & 0xff : undefined;
}

/**
 * Transactions take the write lock at once, since a later upgrade could fail midway. SQLite's own
 * busy handler would block the thread while it waits.
 */
class ImmediateDriver extends SqliteDriver {
  readonly #database: DatabaseSync;
  readonly #writeWaitMs: number;

  constructor(config: SqliteDialectConfig, database: DatabaseSync, writeWaitMs: number) {
    super(config);
    this.#database = database;
    this.#writeWaitMs = writeWaitMs;
  }

  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    const deadline = performance.now() + this.#writeWaitMs;
    for (;;) {
      try {
        await connection.executeQuery(CompiledQuery.raw('begin immediate'));
        return;
      } catch (error) {
        if (sqliteResultCode(error) !== busy || performance.now() > deadline) throw error;
      }
      // Jitter, so that waiting processes do not retry in step.
      await sleep(1 + Math.random() * 10);
    }
  }

  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    // SQLite rolls back by itself on some faults, such as a full disk; a second rollback would
    // fail and hide the error.
    if (this.#database.isTransaction) await super.rollbackTransaction(connection);
  }
}

const maxStatements = 200;

/** Prepares each statement once. The texts are few: lists of values have few lengths. */
function createStatementCache(database: DatabaseSync): (sql: string) => SqliteStatement {
  const statements = new Map<string, SqliteStatement>();
  return (sql) => {
    const known = statements.get(sql);
    if (known) return known;
    if (statements.size >= maxStatements) statements.clear();
    const statement = toSqliteStatement(database.prepare(sql));
    statements.set(sql, statement);
    return statement;
  };
}

function toSqliteStatement(statement: StatementSync): SqliteStatement {
  return {
    reader: statement.columns().length > 0,
    all: (parameters) => statement.all(...(parameters as SQLInputValue[])),
    run: (parameters) => statement.run(...(parameters as SQLInputValue[])),
    iterate: (parameters) => statement.iterate(...(parameters as SQLInputValue[])),
  };
}
