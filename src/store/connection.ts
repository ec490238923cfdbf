/**
 * The way to ClickHouse: one client per pool of the engine, over a Unix socket or a URL. Reads take
 * turns by account. It runs statements and knows nothing of what they mean; errors come out as the
 * client throws them, but for a server that is known to be away.
 */
import { Readable } from 'node:stream';
import { type ClickHouseClient, ClickHouseLogLevel, createClient } from '@clickhouse/client';
import { createTurns } from '../std/turns.ts';
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
  /** Half of them, rounded up, for one account. */
  readonly maxConcurrentReads: number;
}

/**
 * Members of the embedded engine kept apart, so that a slow search never delays an insert;
 * `control` is for what takes no time and waits for nothing.
 */
export type Pool = 'insert' | 'housekeeping' | 'control';

/** For whom something is read. */
export interface Asker {
  readonly accountId: string;
  /** Ends the wait, and the statement where it has begun. */
  readonly signal?: AbortSignal | undefined;
}

export interface Connection {
  /**
   * All rows of the answer, each an array of its columns, once it is the account's turn.
   * @throws AppError `unavailable` where too much of the account waits, or it waited too long
   */
  read<Row>(statement: Statement, asker: Asker): Promise<Row[]>;
  /** The same as it comes, in the format that the statement names; for values JSON would bend. */
  readBytes(statement: Statement, asker: Asker): Promise<Buffer>;
  /** The same for Weir itself, out of turn. @param signal ends the wait for it */
  query<Row>(pool: Pool, statement: Statement, signal?: AbortSignal): Promise<Row[]>;
  /** Rows that a statement answers with which is no query, and cannot name their format. */
  report<Row>(pool: Pool, statement: Statement, signal: AbortSignal): Promise<Row[]>;
  /** Runs a statement without an answer. @param signal ends the wait; it may be run all the same */
  execute(pool: Pool, statement: Statement, signal?: AbortSignal): Promise<void>;
  /** Runs an INSERT with a streamed body; resolves once the server has finished it. */
  insert(statement: InsertStatement, body: Iterable<Uint8Array>): Promise<void>;
  close(): Promise<void>;
}

export interface ConnectionEvents extends ReachabilityEvents {
  /** @param seconds that it waited for its turn */
  readBegan(seconds: number): void;
}

export function openConnection(options: ConnectionOptions, events: ConnectionEvents): Connection {
  const clients: Readonly<Record<Pool, ClickHouseClient>> = {
    insert: openClient(options, 'insert', options.insertTimeoutMs),
    housekeeping: openClient(options, 'housekeeping', options.housekeepingTimeoutMs),
    control: openClient(options, 'control', signOfLifeMs),
  };
  const server = openServer(options, clients.control, events);
  const reads = openReads(options, server, events);
  return {
    read: reads.read,
    readBytes: reads.readBytes,
    query: <Row>(pool: Pool, statement: Statement, signal?: AbortSignal) =>
      server.read(async (away) => {
        const abort_signal = anyOf(signal, away);
        const answer = await clients[pool].query({ ...toQuery(statement), abort_signal });
        return answer.json<Row>();
      }),
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
      await Promise.all([...Object.values(clients), reads].map((client) => client.close()));
    },
  };
}

function openReads(
  options: ConnectionOptions,
  server: Reachability,
  events: ConnectionEvents,
): Pick<Connection, 'read' | 'readBytes' | 'close'> {
  const client = openClient(options, 'read', options.readTimeoutMs);
  const turns = createReadTurns(options);

  /** An abort frees the place at once. */
  async function inTurn<T>(
    { accountId, signal }: Asker,
    run: (request: ReadRequest) => Promise<T>,
  ): Promise<T> {
    const startedAt = performance.now();
    const leave = await turns.take(accountId, signal);
    events.readBegan((performance.now() - startedAt) / 1000);
    try {
      return await server.read((away) =>
        run({
          abort_signal: anyOf(signal, away),
          // The quota key, for `CREATE QUOTA … KEYED BY client_key` on a server.
          http_headers: { 'X-ClickHouse-Quota': accountId },
        }),
      );
    } catch (error) {
      // The client has its own error for an abort.
      signal?.throwIfAborted();
      throw error;
    } finally {
      leave();
    }
  }

  return {
    read: <Row>(statement: Statement, asker: Asker) =>
      inTurn(asker, async (request) => {
        const answer = await client.query({ ...request, ...toQuery(statement) });
        return answer.json<Row>();
      }),
    readBytes: (statement, asker) =>
      inTurn(asker, async (request) => {
        const { sql, params } = statement;
        const { stream } = await client.exec({ ...request, query: sql, query_params: params });
        return Buffer.concat(await stream.toArray());
      }),
    close: () => client.close(),
  };
}

interface ReadRequest {
  readonly abort_signal: AbortSignal;
  readonly http_headers: Record<string, string>;
}

function toQuery({ sql, params, settings }: Statement) {
  return {
    query: sql,
    query_params: { ...params },
    format: 'JSONCompactEachRow' as const,
    clickhouse_settings: { ...settings },
  };
}

function anyOf(signal: AbortSignal | undefined, away: AbortSignal): AbortSignal {
  return signal === undefined ? away : AbortSignal.any([signal, away]);
}

/** Statements that wait for their turn, of all accounts; half for one. */
const maxWaitingReads = 256;
/** A reader that has waited so long is told to come again. */
const maxWaitMs = 15_000;

function createReadTurns({ maxConcurrentReads }: ConnectionOptions) {
  return createTurns({
    what: 'reads of the store',
    places: maxConcurrentReads,
    setting: 'store.maxConcurrentReads',
    maxWaiting: maxWaitingReads,
    maxWaitMs,
  });
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

/** A server kills the read of a client that has left only with this setting, and read-only. */
const cancelsReads = { cancel_http_readonly_queries_on_client_close: 1, readonly: '2' } as const;

/**
 * `wait_end_of_query`: an error that comes after the first row is then an error, not a broken
 * answer.
 */
function openClient(
  options: ConnectionOptions,
  pool: Pool | 'read',
  timeoutMs: number,
): ClickHouseClient {
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
    clickhouse_settings: { wait_end_of_query: 1, ...(pool === 'read' && cancelsReads) },
  });
}
