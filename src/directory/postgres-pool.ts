/**
 * Connections to PostgreSQL as Kysely wants them: each step of a request bounded in time, a
 * connection that failed used no more, and a server that is away not waited for. It knows nothing
 * of the directory's tables.
 */
import { Socket } from 'node:net';
import type { PostgresPool, PostgresPoolClient } from 'kysely';
import { type ClientBase, type ClientConfig, Pool, type PoolClient, types } from 'pg';
import { awayError, type Circuit, createCircuit } from '../std/circuit.ts';
import { AppError } from '../model/errors.ts';
import { faultOf } from './postgres-faults.ts';

export interface PostgresAddress {
  /** `postgres://user@host:port/database?sslmode=verify-full`, as `pg` reads it. */
  readonly url: string;
  /** In place of one in the URL; empty = that one. */
  readonly password: string;
}

/** How long is waited for the server, ms. */
export interface PostgresTimes {
  /** For a connection to be made, or to become free. */
  readonly connectMs: number;
  /** For a statement of a look-up, which holds a request up. */
  readonly readMs: number;
  /** For a statement of a write, which may have to wait for writes of other nodes. */
  readonly writeMs: number;
  /** What an answer may take on its way, beyond the time for its statement. */
  readonly answerMs: number;
  /** A server that is away is asked so often whether it is back. */
  readonly pauseMs: number;
  /** A connection that only listens is tried out so often: it may have been cut in silence. */
  readonly tryMs: number;
}

export const defaultPostgresTimes: PostgresTimes = {
  connectMs: 2_000,
  readMs: 1_500,
  writeMs: 5_000,
  answerMs: 500,
  pauseMs: 500,
  tryMs: 5_000,
};

const what = 'the directory';

export interface PostgresPoolOptions extends PostgresAddress {
  readonly maxConnections: number;
  /** How long the server may work at a statement, ms. */
  readonly statementMs: number;
  /** Called at each answer of the server. */
  readonly onAnswer: () => void;
}

export interface DirectoryPool extends PostgresPool {
  /** The server answered on a connection of another pool. */
  reached(): void;
}

/** What every connection to the directory's database has in common. */
export function toClientConfig(
  { url, password }: PostgresAddress,
  times: PostgresTimes,
): ClientConfig {
  return {
    connectionString: password === '' ? url : withPassword(url, password),
    application_name: 'weir',
    connectionTimeoutMillis: times.connectMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    types: { getTypeParser: parserOf as typeof types.getTypeParser },
  };
}

/** As a parameter of the URL, which wins over everything else. */
function withPassword(url: string, password: string): string {
  return `${url}${url.includes('?') ? '&' : '?'}password=${encodeURIComponent(password)}`;
}

/** All our whole numbers of 64 bits are exact as numbers of JavaScript. */
function parserOf(oid: number, format?: 'text'): unknown {
  return oid === types.builtins.INT8 ? Number : types.getTypeParser(oid, format);
}

/**
 * Connects when the first connection is asked for.
 * @returns a pool whose every call may reject with AppError `unavailable`, within the time that
 * connecting and one statement may take
 */
export function openPostgresPool(
  options: PostgresPoolOptions,
  times: PostgresTimes,
): DirectoryPool {
  const sockets = new Set<Socket>();
  const pool = new Pool({
    ...toClientConfig(options, times),
    max: options.maxConnections,
    statement_timeout: options.statementMs,
    idle_in_transaction_session_timeout: options.statementMs,
    query_timeout: options.statementMs + times.answerMs,
    stream: () => openSocket(sockets),
    onConnect: prepare,
  });
  // The pool has dropped it already; who needs a connection makes another.
  pool.on('error', () => undefined);
  const ask = () => pool.query('select 1');
  const circuit = createCircuit({ what, ask, pauseMs: times.pauseMs });
  let ended: Promise<void> | undefined;
  return {
    connect: () => connect(pool, circuit, options.onAnswer),
    reached: () => circuit.reached(),
    end: () => {
      ended ??= endPool(pool, circuit, sockets);
      return ended;
    },
  };
}

function openSocket(sockets: Set<Socket>): Socket {
  const socket = new Socket();
  sockets.add(socket);
  return socket.once('close', () => sockets.delete(socket));
}

/**
 * What is answered is to survive the server, also where it is set up to be faster than that.
 * @returns a promise; the pool waits for it, though its type does not say so.
 */
function prepare(client: ClientBase): unknown {
  // Between two statements of a transaction nobody else listens; the next one fails by itself.
  client.on('error', () => undefined);
  const setting = "current_setting('synchronous_commit')";
  return client.query(
    `select set_config('synchronous_commit', 'on', false) where ${setting} = 'off'`,
  );
}

async function endPool(pool: Pool, circuit: Circuit, sockets: Set<Socket>): Promise<void> {
  circuit.close();
  const ended = pool.end();
  // A server that is away answers nothing any more, and says no goodbye to wait for.
  if (circuit.isTripped()) for (const socket of sockets) socket.destroy();
  await ended;
  for (const socket of sockets) socket.unref();
}

async function connect(
  pool: Pool,
  circuit: Circuit,
  onAnswer: () => void,
): Promise<PostgresPoolClient> {
  circuit.check();
  const mustWait = pool.totalCount >= pool.options.max && pool.idleCount === 0;
  try {
    return toClient(await pool.connect(), circuit, onAnswer);
  } catch (error) {
    // Having waited in line for too long says nothing of the server.
    if (!mustWait && faultOf(error) === 'lost') circuit.trip(error);
    throw awayError(what, error);
  }
}

/** For one holder: given back as broken when a statement says that it is. */
function toClient(client: PoolClient, circuit: Circuit, onAnswer: () => void): PostgresPoolClient {
  let lost: Error | undefined;
  const query = async (sql: string, parameters: readonly unknown[]) => {
    if (lost) throw lost;
    try {
      const answer = await client.query(sql, [...parameters]);
      onAnswer();
      return answer;
    } catch (error) {
      const fault = faultOf(error);
      if (fault === 'busy') throw awayError(what, error);
      if (fault === 'unstorable') {
        throw new AppError('malformed', 'cannot use a text with NUL in it', { cause: error });
      }
      if (fault !== 'lost') throw error;
      circuit.trip(error);
      lost = awayError(what, error);
      throw lost;
    }
  };
  return {
    // Without cursors, which the type has besides.
    query: query as unknown as PostgresPoolClient['query'],
    release: () => client.release(lost),
  };
}
