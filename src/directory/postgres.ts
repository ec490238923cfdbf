/**
 * The directory that several nodes share: a PostgreSQL database. It holds the same tables as the
 * embedded one, compared in the same way, and its writers take turns as they do there.
 */
import {
  Kysely,
  type KyselyPlugin,
  type OperationNode,
  OperationNodeTransformer,
  PostgresDialect,
  type QueryId,
  RawNode,
  sql,
  type Transaction,
} from 'kysely';
import { changesChannel } from './postgres-changes.ts';
import type { Database } from './database.ts';
import { migrate } from './migrate.ts';
import type { Directory, GrantSource } from './port.ts';
import { faultOf } from './postgres-faults.ts';
import {
  defaultPostgresTimes,
  openPostgresPool,
  type PostgresAddress,
  type PostgresTimes,
} from './postgres-pool.ts';
import { type Patience, reasonOf, untilReached } from './postgres-start.ts';
import { createSqlDirectory } from './sql-directory.ts';
import type { Tables } from './tables.ts';

export interface PostgresDirectoryOptions extends PostgresAddress {
  /** Connections of this process, the one that listens for changes included; 5 or more. */
  readonly poolSize: number;
  readonly times?: PostgresTimes;
  /** How long opening waits for a server that is away; absent = not at all. */
  readonly patience?: Patience;
}

/**
 * Of `poolSize`: so many for writes, which wait for each other, so that no look-up waits with
 * them; and one that listens.
 */
const writeConnections = 3;
const listeners = 1;

/** Of writes that were undone because another was in the way. */
const maxAttempts = 5;

/**
 * Brings the tables up to date, also where several nodes start at once.
 * @param now Unix ms, for `createdAt` and the like.
 * @throws Error where the URL is of another kind, PostgreSQL does not answer, or a newer Weir has
 * changed the tables.
 */
export async function openPostgresDirectory(
  options: PostgresDirectoryOptions,
  now: () => number = Date.now,
): Promise<Directory & GrantSource> {
  return createSqlDirectory(await openPostgresDatabase(options, now));
}

/** The tables beneath it, up to date. @throws Error as above */
export async function openPostgresDatabase(
  options: PostgresDirectoryOptions,
  now: () => number = Date.now,
): Promise<Database> {
  // Without the value, which may hold a password.
  if (!/^postgres(?:ql)?:\/\//.test(options.url)) {
    throw new Error('cannot use directory.url: it must begin with postgres://');
  }
  const timestamp = () => new Date(now()).toISOString();
  const database = openDatabase(options, timestamp);
  try {
    await untilReached(
      () => database.write((tx) => migrate(tx.withPlugin(byteOrder), timestamp())),
      options.patience,
    );
  } catch (error) {
    await database.close();
    throw new Error(`cannot open the directory at PostgreSQL: ${reasonOf(error)}`, {
      cause: error,
    });
  }
  return database;
}

function openDatabase(options: PostgresDirectoryOptions, timestamp: () => string): Database {
  const { poolSize, times = defaultPostgresTimes, ...address } = options;
  // One server: where a look-up succeeds, no write is refused for what failed before.
  const onAnswer = () => {
    reads.pool.reached();
    writes.pool.reached();
  };
  const open = (maxConnections: number, statementMs: number) => {
    const pool = openPostgresPool({ ...address, maxConnections, statementMs, onAnswer }, times);
    return { pool, db: new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) }) };
  };
  const reads = open(Math.max(1, poolSize - writeConnections - listeners), times.readMs);
  const writes = open(writeConnections, times.writeMs);
  return {
    timestamp,
    clockMs: sql`(extract(epoch from now()) * 1000)::bigint`,
    read: (query) => query(reads.db),
    write: (work) =>
      repeated(() =>
        writes.db.transaction().execute(async (tx) => {
          await takeTurn(tx);
          return work(tx);
        }),
      ),
    writeBeside: (work) => repeated(() => writes.db.transaction().execute(work)),
    close: async () => {
      await Promise.all([reads.pool.end(), writes.pool.end()]);
    },
  };
}

/** Any number, for nobody else in this database to use. */
const turnLock = 0x77656972;

/**
 * Waits until every node's writes before this one are done, and has every node told once this one
 * is. Both end with the transaction, however that ends.
 */
async function takeTurn(tx: Transaction<Tables>): Promise<void> {
  await sql`
    select pg_advisory_xact_lock(${turnLock}), pg_notify(${changesChannel}, '')
  `.execute(tx);
}

async function repeated<Result>(work: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (attempt === maxAttempts || faultOf(error) !== 'repeat') throw error;
    }
  }
}

/**
 * Text is ordered byte by byte, as SQLite does: the order of a list does not depend on the server's
 * language, and no index breaks when the rules of that language change.
 */
class ByteOrder extends OperationNodeTransformer {
  override transformNode<Node extends OperationNode | undefined>(node: Node, id?: QueryId): Node {
    if (node?.kind === 'DataTypeNode' && 'dataType' in node && node.dataType === 'text') {
      return RawNode.createWithSql('text collate "C"') as OperationNode as Node;
    }
    return super.transformNode(node, id);
  }
}

const byteOrder: KyselyPlugin = {
  transformQuery: ({ node, queryId }) => new ByteOrder().transformNode(node, queryId),
  transformResult: ({ result }) => Promise.resolve(result),
};
