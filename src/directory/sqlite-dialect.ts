/** Kysely dialect of `node:sqlite`, with transactions that wait without blocking the thread. */
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  CompiledQuery,
  type DatabaseConnection,
  type Driver,
  SqliteDialect,
  type SqliteDialectConfig,
  SqliteDriver,
  type SqliteStatement,
} from 'kysely';

/** SQLITE_BUSY, https://www.sqlite.org/rescode.html#busy */
const busy = 5;

export interface SqliteDialectOptions {
  /** How long a transaction waits for one of another process. */
  readonly writeWaitMs: number;
}

export function createSqliteDialect(
  database: DatabaseSync,
  options: SqliteDialectOptions,
): SqliteDialect {
  return new NodeSqliteDialect(database, options);
}

/** @returns the primary SQLite result code; undefined for other errors. */
export function sqliteResultCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('errcode' in error)) return undefined;
  return typeof error.errcode === 'number' ? error.errcode & 0xff : undefined;
}

class NodeSqliteDialect extends SqliteDialect {
  readonly #config: SqliteDialectConfig;
  readonly #database: DatabaseSync;
  readonly #options: SqliteDialectOptions;

  constructor(database: DatabaseSync, options: SqliteDialectOptions) {
    const config = {
      database: {
        prepare: createStatementCache(database),
        close: () => database.close(),
      },
    };
    super(config);
    this.#config = config;
    this.#database = database;
    this.#options = options;
  }

  override createDriver(): Driver {
    return new ImmediateDriver(this.#config, this.#database, this.#options);
  }
}

/**
 * Transactions take the write lock at once, since a later upgrade could fail midway. SQLite's own
 * busy handler would block the thread while it waits.
 */
class ImmediateDriver extends SqliteDriver {
  readonly #database: DatabaseSync;
  readonly #options: SqliteDialectOptions;

  constructor(config: SqliteDialectConfig, database: DatabaseSync, options: SqliteDialectOptions) {
    super(config);
    this.#database = database;
    this.#options = options;
  }

  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    const deadline = performance.now() + this.#options.writeWaitMs;
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
