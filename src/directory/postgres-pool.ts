/**
 * A PostgreSQL connection pool for Kysely: each step has a time limit, a failed connection is not
 * reused, and a circuit breaker refuses at once while the server does not answer.
 */
import { Socket } from 'node:net';
import type { PostgresPool, PostgresPoolClient } from 'kysely';
import { type ClientBase, type ClientConfig, Pool, type PoolClient, types } from 'pg';
import {
  unreachableError,
  type CircuitBreaker,
  createCircuitBreaker,
} from '../std/circuit-breaker.ts';
import { AppError } from '../model/errors.ts';
import { faultOf } from './postgres-faults.ts';

export interface PostgresAddress {
  /** `postgres://user@host:port/database?sslmode=verify-full`, as `pg` reads it. */
  readonly url: string;
  /** Overrides the one in the URL; empty = not. */
  readonly password: string;
}

/** Time limits and intervals of connections to the server. */
export interface PostgresTimes {
  /** Limit for a connection to be opened or to become free. */
  readonly connectMs: number;
  /** Limit for a statement of a look-up, which delays a request. */
  readonly readMs: number;
  /** Limit for a statement of a write, which may wait for writes of other nodes. */
  readonly writeMs: number;
  /** Additional limit for the transfer of an answer. */
  readonly answerMs: number;
  /** Between probes of a server that does not answer. */
  readonly pauseMs: number;
  /** Between probes of the listening connection, which may have been cut silently. */
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
  /** Limit for the server to execute a statement. */
  readonly statementMs: number;
  /** Called after each answer of the server. */
  readonly onAnswer: () => void;
}

export interface DirectoryPool extends PostgresPool {
  /** The server answered on a connection of another pool. */
  reached(): void;
}

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

/** A parameter of the URL overrides all other settings. */
function withPassword(url: string, password: string): string {
  return `${url}${url.includes('?') ? '&' : '?'}password=${encodeURIComponent(password)}`;
}

/** Stored 64-bit integers are all below 2^53. */
function parserOf(oid: number, format?: 'text'): unknown {
  return oid === types.builtins.INT8 ? Number : types.getTypeParser(oid, format);
}

/** @returns a pool that connects at first use; its calls may reject with AppError `unavailable` */
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
  // The pool has already removed the connection.
  pool.on('error', () => undefined);
  const probe = () => pool.query('select 1');
  const circuit = createCircuitBreaker({ what, probe, pauseMs: times.pauseMs });
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
 * Overrides a server setting that would acknowledge writes before they are durable.
 * @returns a promise, which the pool awaits although its type does not say so.
 */
function prepare(client: ClientBase): unknown {
  // An error between two statements would be uncaught; the next statement fails with it.
  client.on('error', () => undefined);
  const setting = "current_setting('synchronous_commit')";
  return client.query(
    `select set_config('synchronous_commit', 'on', false) where ${setting} = 'off'`,
  );
}

async function endPool(pool: Pool, circuit: CircuitBreaker, sockets: Set<Socket>): Promise<void> {
  circuit.close();
  const ended = pool.end();
  // A graceful end would wait for an answer of the server.
  if (circuit.isOpen()) for (const socket of sockets) socket.destroy();
  await ended;
  for (const socket of sockets) socket.unref();
}

async function connect(
  pool: Pool,
  circuit: CircuitBreaker,
  onAnswer: () => void,
): Promise<PostgresPoolClient> {
  circuit.check();
  const mustWait = pool.totalCount >= pool.options.max && pool.idleCount === 0;
  try {
    return toClient(await pool.connect(), circuit, onAnswer);
  } catch (error) {
    // A timeout of the wait for a free connection is no fault of the server.
    if (!mustWait && faultOf(error) === 'lost') circuit.trip(error);
    throw unreachableError(what, error);
  }
}

/** Released as broken after a statement that lost the connection. */
function toClient(
  client: PoolClient,
  circuit: CircuitBreaker,
  onAnswer: () => void,
): PostgresPoolClient {
  let lost: Error | undefined;
  const query = async (sql: string, parameters: readonly unknown[]) => {
    if (lost) throw lost;
    try {
      const answer = await client.query(sql, [...parameters]);
      onAnswer();
      return answer;
    } catch (error) {
      const fault = faultOf(error);
      if (fault === 'busy') throw unreachableError(what, error);
      if (fault === 'unstorable') {
        throw new AppError('malformed', 'cannot use a text with NUL in it', { cause: error });
      }
      if (fault !== 'lost') throw error;
      circuit.trip(error);
      lost = unreachableError(what, error);
      throw lost;
    }
  };
  return {
    // The type also has cursors, which are not used.
    query: query as unknown as PostgresPoolClient['query'],
    release: () => client.release(lost),
  };
}
