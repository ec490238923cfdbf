/**
 * The embedded directory: one SQLite file. Other processes may have it open at the same time (the
 * command `weir token recover` does).
 */
import { chmodSync, closeSync, fsyncSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Kysely, sql } from 'kysely';
import { AppError } from '../model/errors.ts';
import type { Database } from './database.ts';
import { migrate } from './migrate.ts';
import type { Directory, GrantSource } from './port.ts';
import { createSqlDirectory } from './sql-directory.ts';
import { createSqliteDialect, sqliteResultCode } from './sqlite-dialect.ts';
import { checkIntegrity, emptyLog, storeDigest } from './sqlite-integrity.ts';
import type { Tables } from './tables.ts';
import { messageOf } from '../std/error-text.ts';

/** Its name within a data directory. */
export const sqliteFileName = 'directory.db';

/** How long a statement waits for another process, ms. */
const waitMs = 5_000;

export interface SqliteDirectoryOptions {
  /** Created with mode 0600 where it does not exist; its folder must. */
  readonly file: string;
  /** True: values that changed on disk are kept, and are not damage from now on. */
  readonly acceptsDamage?: boolean;
}

/**
 * @param now Unix ms, for `createdAt` and the like.
 * @throws Error where the file cannot be opened or was written by a newer Weir.
 */
export async function openSqliteDirectory(
  options: SqliteDirectoryOptions,
  now: () => number = Date.now,
): Promise<Directory & GrantSource> {
  return createSqlDirectory(await openSqliteDatabase(options, now));
}

/** The tables beneath it, up to date. @throws Error as above */
export async function openSqliteDatabase(
  options: SqliteDirectoryOptions,
  now: () => number = Date.now,
): Promise<Database> {
  const timestamp = () => new Date(now()).toISOString();
  const database = openDatabase(options, timestamp);
  try {
    await database.write((tx) => migrate(tx, timestamp()));
  } catch (error) {
    await database.close();
    throw error;
  }
  return database;
}

/**
 * Two connections: in WAL mode a reader never waits for a writer, not even for one of ours that
 * waits its turn.
 */
function openDatabase(options: SqliteDirectoryOptions, timestamp: () => string): Database {
  const [reader, writer] = openConnections(options);
  reader.exec('PRAGMA query_only = ON');
  // From here on waiting is done by the dialect, which does not block the thread.
  writer.exec('PRAGMA busy_timeout = 0');
  const writes = toKysely(writer);
  const reads = toKysely(reader);
  const writeBeside: Database['write'] = async (work) => {
    const result = await unavailableOnFault(writer, () => writes.transaction().execute(work));
    emptyLog(writer);
    return result;
  };
  const write: Database['write'] = (work) =>
    writeBeside(async (tx) => {
      const result = await work(tx);
      storeDigest(writer);
      return result;
    });
  return {
    timestamp,
    clockMs: sql`cast(unixepoch('subsec') * 1000 as integer)`,
    read: (query) => unavailableOnFault(reader, () => query(reads)),
    write,
    writeBeside,
    close: async () => {
      for (const connection of [reader, writer]) if (connection.isOpen) connection.close();
    },
  };
}

function openConnections(options: SqliteDirectoryOptions): [DatabaseSync, DatabaseSync] {
  const { file, acceptsDamage = false } = options;
  try {
    createFile(file);
    const writer = openConnection(file);
    checkIntegrity(writer, acceptsDamage);
    return [openConnection(file), writer];
  } catch (error) {
    const reason = messageOf(error);
    throw new Error(`cannot open the directory ${file}: ${reason}`, { cause: error });
  }
}

/** SQLite gives its log files the mode of the main file, so this protects all three. */
function createFile(file: string): void {
  closeSync(openSync(file, 'a', 0o600));
  chmodSync(file, 0o600);
  const folder = openSync(dirname(file), 'r');
  fsyncSync(folder);
  closeSync(folder);
}

function openConnection(file: string): DatabaseSync {
  const connection = new DatabaseSync(file, { timeout: waitMs, enableForeignKeyConstraints: true });
  setPragma(connection, 'journal_mode', 'WAL');
  setPragma(connection, 'synchronous', 'FULL');
  return connection;
}

/** SQLite ignores in silence what it cannot do; without these two no write would be durable. */
function setPragma(connection: DatabaseSync, name: string, value: 'WAL' | 'FULL'): void {
  connection.exec(`PRAGMA ${name} = ${value}`);
  const actual = connection.prepare(`PRAGMA ${name}`).get()?.[name];
  const expected = { WAL: 'wal', FULL: 2 }[value];
  if (actual === expected) return;
  throw new Error(
    `SQLite does not take ${name} = ${value} there (it says ${String(actual)}); ` +
      'keep the data directory on a local file system',
  );
}

function toKysely(connection: DatabaseSync): Kysely<Tables> {
  return new Kysely<Tables>({ dialect: createSqliteDialect(connection, { writeWaitMs: waitMs }) });
}

/**
 * https://www.sqlite.org/rescode.html: these say that the file or the disk is at fault, not the
 * statement.
 */
const faultCodes: ReadonlySet<number> = new Set([
  5, // busy
  6, // locked
  8, // read-only
  10, // I/O error
  11, // corrupt
  13, // full
  14, // cannot open
  26, // not a database
]);

async function unavailableOnFault<Result>(
  connection: DatabaseSync,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    const code = sqliteResultCode(error);
    const isFault = code !== undefined && faultCodes.has(code);
    if (connection.isOpen && !isFault) throw error;
    throw new AppError('unavailable', 'cannot reach the directory; try again', {
      cause: error,
      retryAfterSeconds: 1,
    });
  }
}
