/** The embedded directory: one SQLite file, which other processes may open at the same time. */
import { chmodSync, closeSync, fsyncSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { CamelCasePlugin, Kysely, sql } from 'kysely';
import { AppError } from '../model/errors.ts';
import type { Database, Db, Tables } from './database.ts';
import { migrate } from './migrations.ts';
import type { Directory, GrantSource } from './port.ts';
import { createSqlDirectory } from './sql-directory.ts';
import { createSqliteDialect, sqliteResultCode } from './sqlite-dialect.ts';
import { checkIntegrity, emptyLog, storeDigest } from './sqlite-integrity.ts';
import { messageOf } from '../std/error-text.ts';

/** Name of the file in a data directory. */
export const sqliteFileName = 'directory.db';

/** How long a statement waits for a lock of another process. */
const waitMs = 5_000;
const busyCode = 5;

export interface SqliteDirectoryOptions {
  /** Created with mode 0600 if absent; its folder must exist. */
  readonly file: string;
  /** Accepts values that changed on disk, and covers them with a new digest. */
  readonly acceptsDamage?: boolean;
}

/**
 * @param now Unix ms, for `createdAt` and the like.
 * @throws Error when the file cannot be opened or was written by a newer version of Weir.
 */
export async function openSqliteDirectory(
  options: SqliteDirectoryOptions,
  now: () => number = Date.now,
): Promise<Directory & GrantSource> {
  return createSqlDirectory(await openSqliteDatabase(options, now));
}

/** Opens the tables and migrates them. @throws Error as above */
export async function openSqliteDatabase(
  options: SqliteDirectoryOptions,
  now: () => number = Date.now,
): Promise<Database> {
  const timestamp = () => new Date(now()).toISOString();
  const database = openDatabase(options, timestamp);
  try {
    await database.write((tx) => migrate(tx, sql`text`, timestamp()));
  } catch (error) {
    await database.close();
    throw error;
  }
  return database;
}

/** Two connections: in WAL mode a reader never waits for a writer. */
function openDatabase(options: SqliteDirectoryOptions, timestamp: () => string): Database {
  const [reader, writer] = openConnections(options);
  reader.exec('PRAGMA query_only = ON');
  // The dialect waits for locks instead, without blocking the thread.
  writer.exec('PRAGMA busy_timeout = 0');
  const writes = toKysely(writer);
  const reads = toKysely(reader);
  const writeConcurrently: Database['write'] = async (work) => {
    const result = await unavailableOnFault(writer, () => writes.transaction().execute(work));
    emptyLog(writer);
    return result;
  };
  const write: Database['write'] = (work) =>
    writeConcurrently(async (tx) => {
      const result = await work(tx);
      storeDigest(writer);
      return result;
    });
  return {
    timestamp,
    clockMs: sql`cast(unixepoch('subsec') * 1000 as integer)`,
    read: (query) => unavailableOnFault(reader, () => query(reads)),
    write,
    writeConcurrently,
    close: async () => {
      for (const connection of [reader, writer]) if (connection.isOpen) connection.close();
    },
  };
}

/**
 * Copies the directory as it is at one moment, while other processes may use it.
 * @param target must not exist; it is not synced.
 */
export function copySqliteDirectory(file: string, target: string): void {
  const database = new DatabaseSync(file, { timeout: waitMs });
  try {
    database.prepare('VACUUM INTO ?').run(target);
  } catch (cause) {
    throw new Error(`cannot copy the directory ${file}: ${messageOf(cause)}`, { cause });
  } finally {
    database.close();
  }
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

/** SQLite creates its log files with the mode of the main file. */
function createFile(file: string): void {
  closeSync(openSync(file, 'a', 0o600));
  chmodSync(file, 0o600);
  const folder = openSync(dirname(file), 'r');
  fsyncSync(folder);
  closeSync(folder);
}

function openConnection(file: string): DatabaseSync {
  const connection = new DatabaseSync(file, { timeout: waitMs, enableForeignKeyConstraints: true });
  useWal(connection);
  setPragma(connection, 'synchronous', 'FULL');
  return connection;
}

/** SQLite does not wait for another process that switches a new file at the same time. */
function useWal(connection: DatabaseSync): void {
  for (let triesLeft = 10; ; triesLeft -= 1) {
    try {
      setPragma(connection, 'journal_mode', 'WAL');
      return;
    } catch (error) {
      if (triesLeft === 0 || sqliteResultCode(error) !== busyCode) throw error;
      // Waits for its lock.
      connection.exec('BEGIN IMMEDIATE; COMMIT');
    }
  }
}

/** Verified, since SQLite ignores unsupported pragmas and no write would be durable. */
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

function toKysely(connection: DatabaseSync): Db {
  const dialect = createSqliteDialect(connection, waitMs);
  return new Kysely<Tables>({ dialect, plugins: [new CamelCasePlugin()] });
}

/** Faults of the file or disk, not of the statement: https://www.sqlite.org/rescode.html */
const faultCodes: ReadonlySet<number> = new Set([
  busyCode,
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
