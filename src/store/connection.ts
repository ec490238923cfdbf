/**
 * The way to ClickHouse: one client per pool of the engine, over a Unix socket or a URL. It runs
 * statements and knows nothing of what they mean; errors come out as the client throws them, but
 * for a server that is known to be away.
 */
import { Readable } from 'node:stream';
import { type ClickHouseClient, ClickHouseLogLevel, createClient } from '@clickhouse/client';
import { openAgent } from './agent.ts';
import { isNotConnected } from './failures.ts';
import {
  alwaysReachable,
  openReachability,
  type Reachability,
  type ReachabilityEvents,
} from './reachability.ts';
import type { InsertStatement, Statement } from './sql/statement.ts';

export interface ConnectionOptions {
  /** Of a ClickHouse server; not used with `socketPath`. */
  readonly url: string | undefined;
  /** Unix socket of the embedded engine. */
  readonly socketPath: string | undefined;
  /** Authorities in PEM besides the usual ones, for a URL with TLS. */
  readonly ca?: readonly string[] | undefined;
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
  queryBytes(pool: Pool, statement: Statement, signal?: AbortSignal): Promise<Buffer>;
  /** Rows that a statement answers with which is no query, and cannot name their format. */
  report<Row>(pool: Pool, statement: Statement, signal: AbortSignal): Promise<Row[]>;
  /** Runs a statement without an answer. @param signal ends the wait; it may be run all the same */
  execute(pool: Pool, statement: Statement, signal?: AbortSignal): Promise<void>;
  /** Runs an INSERT with a streamed body; resolves once the server has finished it. */
  insert(statement: InsertStatement, body: Iterable<Uint8Array>): Promise<void>;
  close(): Promise<void>;
}

export function openConnection(options: ConnectionOptions, events: ReachabilityEvents): Connection {
  const clients: Readonly<Record<Pool, ClickHouseClient>> = {
    insert: openClient(options, 'insert', options.insertTimeoutMs),
    read: openClient(options, 'read', options.readTimeoutMs),
    housekeeping: openClient(options, 'housekeeping', options.housekeepingTimeoutMs),
  };
  const probe = openClient(options, 'read', signOfLifeMs);
  const server = openServer(options, probe, events);
  return {
    async query<Row>(pool: Pool, statement: Statement, signal?: AbortSignal) {
      return untilAborted(signal, (abort) =>
        server.read(async (away) => {
          const answer = await clients[pool].query({
            query: statement.sql,
            query_params: { ...statement.params },
            format: 'JSONCompactEachRow',
            clickhouse_settings: { ...statement.settings },
            abort_signal: AbortSignal.any([...abort, away]),
          });
          return answer.json<Row>();
        }),
      );
    },
    async queryBytes(pool, statement, signal) {
      return untilAborted(signal, (abort) =>
        server.read(async (away) => {
          const { stream } = await clients[pool].exec({
            query: statement.sql,
            query_params: { ...statement.params },
            abort_signal: AbortSignal.any([...abort, away]),
          });
          return Buffer.concat(await stream.toArray());
        }),
      );
    },
    async report<Row>(pool: Pool, statement: Statement, signal: AbortSignal) {
      return server.change(async () => {
        const { stream } = await clients[pool].exec({
          query: statement.sql,
          query_params: { ...statement.params },
          clickhouse_settings: { ...statement.settings, default_format: 'JSONCompactEachRow' },
          abort_signal: signal,
        });
        const text = Buffer.concat(await stream.toArray()).toString();
        return text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Row]));
      });
    },
    async execute(pool, statement, signal) {
      await server.change(() =>
        clients[pool].command({
          query: statement.sql,
          query_params: { ...statement.params },
          clickhouse_settings: { ...statement.settings },
          ...(signal !== undefined && { abort_signal: signal }),
        }),
      );
    },
    async insert(statement, body) {
      await server.change(async () => {
        const { stream } = await clients.insert.exec({
          query: statement.sql,
          query_params: { ...statement.params },
          values: Readable.from(body, { objectMode: false }),
          ...(statement.queryId === undefined ? {} : { query_id: statement.queryId }),
        });
        await stream.toArray();
      });
    },
    async close() {
      server.close();
      await Promise.all([...Object.values(clients), probe].map((client) => client.close()));
    },
  };
}

/**
 * The client has an error of its own for what was aborted. @throws DOMException `AbortError` then
 */
async function untilAborted<Answer>(
  signal: AbortSignal | undefined,
  ask: (abort: readonly AbortSignal[]) => Promise<Answer>,
): Promise<Answer> {
  signal?.throwIfAborted();
  try {
    return await ask(signal === undefined ? [] : [signal]);
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  }
}

const connectMs = 2_000;
const signOfLifeMs = 2_000;
const patienceMs = 1_000;
const pauseMs = 500;

function openServer(
  options: ConnectionOptions,
  probe: ClickHouseClient,
  events: ReachabilityEvents,
): Reachability {
  if (options.socketPath !== undefined) return alwaysReachable;
  const ask = async () => {
    const patience = AbortSignal.timeout(signOfLifeMs);
    const answer = await probe.ping({ select: false, abort_signal: patience });
    if (!answer.success) throw answer.error;
  };
  return openReachability({ ask, patienceMs, pauseMs, isNotConnected }, events);
}

/**
 * `wait_end_of_query`: an error that comes after the first row is then an error, not a broken
 * answer.
 */
function openClient(options: ConnectionOptions, pool: Pool, timeoutMs: number): ClickHouseClient {
  const url = options.socketPath === undefined ? options.url : undefined;
  if (url !== undefined && !/^https?:\/\//i.test(url)) {
    throw new Error('cannot use store.url: it must begin with http:// or https://');
  }
  return createClient({
    url: url ?? 'http://localhost',
    http_agent: openAgent({ ...options, connectMs }),
    username: options.user,
    password: options.password,
    request_timeout: timeoutMs,
    http_headers: { 'X-Weir-Pool': pool },
    use_multipart_params_auto: true,
    log: { level: ClickHouseLogLevel.OFF },
    clickhouse_settings: { wait_end_of_query: 1 },
  });
}
