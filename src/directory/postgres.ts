/** The directory that nodes share: a PostgreSQL database with the tables of the embedded one. */
import { setTimeout as sleep } from 'node:timers/promises';
import { CamelCasePlugin, Kysely, PostgresDialect, sql } from 'kysely';
import type { DirectoryEvents } from '../telemetry/node-events.ts';
import type { Database, Tables, Tx } from './database.ts';
import { migrate } from './migrations.ts';
import type { Directory, GrantSource } from './port.ts';
import { changesChannel } from './postgres-changes.ts';
import { faultOf, isTransient, reasonOf } from './postgres-faults.ts';
import {
  defaultPostgresTimes,
  openPostgresPool,
  type PostgresAddress,
  type PostgresTimes,
} from './postgres-pool.ts';
import { createSqlDirectory } from './sql-directory.ts';

export interface StartRetry {
  readonly seconds: number;
  readonly telemetry: Pick<DirectoryEvents, 'directoryAwaited' | 'directoryReached'>;
}

export interface PostgresDirectoryOptions extends PostgresAddress {
  /** Connections of this process, including the one that listens for changes; at least 5. */
  readonly poolSize: number;
  readonly times?: PostgresTimes;
  /** Waits for a server that is starting; absent: fails at once. */
  readonly startRetry?: StartRetry;
}

/** Connections reserved for writes: writes wait for each other, and look-ups must not. */
const writeConnections = 3;
const listenConnections = 1;

/** Between attempts to reach a server that is starting. */
const startPauseMs = 500;

/** Attempts of a transaction that conflicts with others. */
const maxAttempts = 5;

/** Ordered by bytes as in SQLite, whatever the server's locale, also after an upgrade of it. */
const text = sql`text collate "C"`;

/**
 * @throws Error when the URL has another scheme, PostgreSQL does not answer, or a newer version of
 * Weir has changed the tables.
 */
export async function openPostgresDirectory(
  options: PostgresDirectoryOptions,
): Promise<Directory & GrantSource> {
  return createSqlDirectory(await openPostgresDatabase(options));
}

/** Opens the tables and migrates them. @throws Error as above */
export async function openPostgresDatabase(options: PostgresDirectoryOptions): Promise<Database> {
  // The message omits the URL, which may contain a password.
  if (!/^postgres(?:ql)?:\/\//.test(options.url)) {
    throw new Error('cannot use directory.url: it must begin with postgres://');
  }
  const database = openDatabase(options);
  try {
    await retryStart(
      () => database.write((tx) => migrate(tx, text, database.timestamp())),
      options.startRetry,
    );
  } catch (error) {
    await database.close();
    throw new Error(`cannot open the directory at PostgreSQL: ${reasonOf(error)}`, {
      cause: error,
    });
  }
  return database;
}

/** Repeats `work` while it fails for a reason that may pass without a change of settings. */
async function retryStart(work: () => Promise<void>, retry: StartRetry | undefined): Promise<void> {
  const deadline = performance.now() + (retry?.seconds ?? 0) * 1000;
  let reported = '';
  for (;;) {
    try {
      await work();
      if (reported !== '') retry?.telemetry.directoryReached();
      return;
    } catch (error) {
      const leftMs = deadline - performance.now();
      if (leftMs <= 0 || !isTransient(error)) throw error;
      const reason = reasonOf(error);
      if (reason !== reported) {
        retry?.telemetry.directoryAwaited(reason, Math.ceil(leftMs / 1000));
      }
      reported = reason;
      await sleep(Math.min(startPauseMs, leftMs));
    }
  }
}

function openDatabase(options: PostgresDirectoryOptions): Database {
  const { poolSize, times = defaultPostgresTimes, ...address } = options;
  // Both pools have the same server: an answer to one closes the circuit breaker of both.
  const onAnswer = () => {
    reads.pool.reached();
    writes.pool.reached();
  };
  const open = (maxConnections: number, statementMs: number) => {
    const pool = openPostgresPool({ ...address, maxConnections, statementMs, onAnswer }, times);
    const dialect = new PostgresDialect({ pool });
    return { pool, db: new Kysely<Tables>({ dialect, plugins: [new CamelCasePlugin()] }) };
  };
  const reads = open(Math.max(1, poolSize - writeConnections - listenConnections), times.readMs);
  const writes = open(writeConnections, times.writeMs);
  return {
    timestamp: () => new Date().toISOString(),
    clockMs: sql`(extract(epoch from now()) * 1000)::bigint`,
    read: (query) => query(reads.db),
    write: (work) =>
      retried(() =>
        writes.db.transaction().execute(async (tx) => {
          await lockAndNotify(tx);
          return work(tx);
        }),
      ),
    writeConcurrently: (work) => retried(() => writes.db.transaction().execute(work)),
    close: async () => {
      await Promise.all([reads.pool.end(), writes.pool.end()]);
    },
  };
}

/** Key of an advisory lock: any number that other users of the database do not use. */
const writeLock = 0x77656972;

/** Serializes the writes of all nodes, and notifies all nodes at the commit. */
async function lockAndNotify(tx: Tx): Promise<void> {
  await sql`
    select pg_advisory_xact_lock(${writeLock}), pg_notify(${changesChannel}, '')
  `.execute(tx);
}

async function retried<Result>(work: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (attempt === maxAttempts || faultOf(error) !== 'repeat') throw error;
    }
  }
}
