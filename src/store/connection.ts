/**
 * The way to ClickHouse: one client per pool of the engine, over a Unix socket or a URL. It runs
 * statements and knows nothing of what they mean; errors come out as the client throws them.
 */
import { Agent } from 'node:http';
import { connect, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { type ClickHouseClient, ClickHouseLogLevel, createClient } from '@clickhouse/client';
import type { Statement } from './sql/statement.ts';

export interface ConnectionOptions {
  /** Of a ClickHouse server; not used with `socketPath`. */
  readonly url: string | undefined;
  /** Unix socket of the embedded engine. */
  readonly socketPath: string | undefined;
  readonly user: string;
  readonly password: string;
  /** How long a read may stay silent; longer than the time limit of its statements. */
  readonly readTimeoutMs: number;
  /** How long an insert may stay silent. */
  readonly insertTimeoutMs: number;
  /** The same for deletions and index builds, which rewrite whole days. */
  readonly housekeepingTimeoutMs: number;
}

/** Members of the embedded engine kept apart, so that a slow search never delays an insert. */
export type Pool = 'insert' | 'read' | 'housekeeping';

export interface Connection {
  /** All rows of the answer, each an array of its columns. @param signal ends the wait for it */
  query<Row>(pool: Pool, statement: Statement, signal?: AbortSignal): Promise<Row[]>;
  /** The answer as it comes, in the format that the statement names; for values JSON would bend. */
  queryBytes(pool: Pool, statement: Statement): Promise<Buffer>;
  /** Runs a statement without an answer. */
  execute(pool: Pool, statement: Statement): Promise<void>;
  /** Runs an INSERT with a streamed body; resolves once the server has finished it. */
  insert(statement: Statement, body: Iterable<Uint8Array>): Promise<void>;
  close(): Promise<void>;
}

export function openConnection(options: ConnectionOptions): Connection {
  const clients: Readonly<Record<Pool, ClickHouseClient>> = {
    insert: openClient(options, 'insert', options.insertTimeoutMs),
    read: openClient(options, 'read', options.readTimeoutMs),
    housekeeping: openClient(options, 'housekeeping', options.housekeepingTimeoutMs),
  };
  return {
    async query<Row>(pool: Pool, statement: Statement, signal?: AbortSignal) {
      const answer = await clients[pool].query({
        query: statement.sql,
        query_params: { ...statement.params },
        format: 'JSONCompactEachRow',
        ...(signal === undefined ? {} : { abort_signal: signal }),
      });
      return answer.json<Row>();
    },
    async queryBytes(pool, statement) {
      const { stream } = await clients[pool].exec({
        query: statement.sql,
        query_params: { ...statement.params },
      });
      return Buffer.concat(await stream.toArray());
    },
    async execute(pool, statement) {
      await clients[pool].command({
        query: statement.sql,
        query_params: { ...statement.params },
      });
    },
    async insert(statement, body) {
      const { stream } = await clients.insert.exec({
        query: statement.sql,
        query_params: { ...statement.params },
        values: Readable.from(body, { objectMode: false }),
      });
      await stream.resume().toArray();
    },
    async close() {
      await Promise.all(Object.values(clients).map((client) => client.close()));
    },
  };
}

/**
 * `wait_end_of_query`: an error that comes after the first row is then an error, not a broken
 * answer.
 */
function openClient(options: ConnectionOptions, pool: Pool, timeoutMs: number): ClickHouseClient {
  const { socketPath, url } = options;
  return createClient({
    ...(socketPath === undefined
      ? { url: url ?? 'http://localhost:8123' }
      : { url: 'http://localhost', http_agent: new SocketAgent(socketPath) }),
    username: options.user,
    password: options.password,
    request_timeout: timeoutMs,
    http_headers: { 'X-Weir-Pool': pool },
    use_multipart_params_auto: true,
    log: { level: ClickHouseLogLevel.OFF },
    clickhouse_settings: { wait_end_of_query: 1 },
  });
}

/** HTTP over a Unix socket, whatever host the URL names. */
class SocketAgent extends Agent {
  readonly #path: string;

  constructor(path: string) {
    super({ keepAlive: true });
    this.#path = path;
  }

  override createConnection(): Socket {
    return connect(this.#path);
  }
}
