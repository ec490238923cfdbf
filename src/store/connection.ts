/**
 * Runs statements at ClickHouse: one client per pool of the engine, over a Unix socket or a URL.
 * Reads take turns by account. Errors are the client's; AppError `unavailable` while a server is
 * unreachable.
 */
import { Readable } from 'node:stream';
import { type ClickHouseClient, ClickHouseLogLevel, createClient } from '@clickhouse/client';
import type { Scan } from '../model/plan.ts';
import { openAgent } from '../std/http-agent.ts';
import { createSemaphore, type Semaphore } from '../std/semaphore.ts';
import { createEngineReads, type EngineReads } from './engine-reads.ts';
import { isNotConnected } from './failures.ts';
import { createInsert } from './insert-files.ts';
import {
  alwaysReachable,
  openReachability,
  type Reachability,
  type ReachabilityEvents,
} from './reachability.ts';
import { type InsertStatement, type Statement, toForm } from './sql/statement.ts';

export interface ConnectionOptions {
  /** URL of a ClickHouse server; ignored with `socketPath`. */
  readonly url: string | undefined;
  /** Unix socket of the embedded engine. */
  readonly socketPath: string | undefined;
  /** Folder for rows of inserts that the embedded engine reads; absent = they are sent. */
  readonly insertFolder?: string | undefined;
  /** Authorities in PEM for TLS; undefined = those of Node. */
  readonly ca?: readonly string[] | undefined;
  readonly user: string;
  readonly password: string;
  /** Idle timeout of a read; longer than the time limit of its statements. */
  readonly readTimeoutMs: number;
  /** Idle timeout of an insert. */
  readonly insertTimeoutMs: number;
  /** Idle timeout of deletions and index builds, which rewrite whole days. */
  readonly housekeepingTimeoutMs: number;
  /** Half, rounded up, for one account. */
  readonly maxConcurrentReads: number;
}

/**
 * Separate pools of the embedded engine, so that a slow search never delays an insert; `control` is
 * for health probes.
 */
export type Pool = 'insert' | 'housekeeping' | 'control';

/** Pools of reads, so that a page does not wait for searches. */
type ReadPool = 'read' | 'brief';

/** The account for fair scheduling, cancellation, and the cost. */
export interface QueryContext {
  readonly accountId: string;
  /** Cancels the statement, also while it waits. */
  readonly signal?: AbortSignal | undefined;
  /** What the statement reads is added. */
  readonly scanned?: Scan | undefined;
  /** Whether the cost does not grow with the table; such reads wait only for each other. */
  readonly isBrief?: boolean;
}

export interface Connection {
  /**
   * All rows of the result, each an array of its columns. Waits for the account's turn.
   * @throws AppError `unavailable` when too many of the account wait, or after 15 s
   */
  read<Row>(statement: Statement, context: QueryContext): Promise<Row[]>;
  /** The result as bytes, in the format that the statement names; adds nothing to `scanned`. */
  readBytes(statement: Statement, context: QueryContext): Promise<Buffer>;
  /** Rows for Weir itself, out of turn. @param signal cancels the wait */
  query<Row>(pool: Pool, statement: Statement, signal?: AbortSignal): Promise<Row[]>;
  /** Rows of a statement that cannot name their format, such as KILL QUERY. */
  report<Row>(pool: Pool, statement: Statement, signal: AbortSignal): Promise<Row[]>;
  /** Runs a statement without a result. @param signal cancels the wait; it may still run */
  execute(pool: Pool, statement: Statement, signal?: AbortSignal): Promise<void>;
  /** Runs an INSERT of a body; resolves once the server has finished it. */
  insert(statement: InsertStatement, body: Iterable<Uint8Array>): Promise<void>;
  close(): Promise<void>;
}

export interface ConnectionEvents extends ReachabilityEvents {
  readBegan(seconds: number): void;
}

export function openConnection(options: ConnectionOptions, events: ConnectionEvents): Connection {
  const timeouts: Readonly<Record<Pool, number>> = {
    insert: options.insertTimeoutMs,
    housekeeping: options.housekeepingTimeoutMs,
    control: probeMs,
  };
  const open = (pool: Pool) => openClient(options, pool, timeouts[pool]);
  const clients = {
    insert: open('insert'),
    housekeeping: open('housekeeping'),
    control: open('control'),
  };
  const probe = () => ping(clients.control);
  const server =
    options.socketPath === undefined
      ? openReachability({ probe, slowAfterMs, pauseMs, isNotConnected }, events)
      : alwaysReachable;
  const insert = createInsert(clients.insert, options.insertFolder);
  const agent = openAgent(options);
  const engine = options.socketPath === undefined ? undefined : createEngineReads(agent);
  const reads = openReads({ options, server, engine }, events);
  return {
    read: reads.read,
    readBytes: reads.readBytes,
    query: <Row>(pool: Pool, statement: Statement, signal?: AbortSignal) =>
      server.read(async (unreachable) => {
        const timeoutMs = timeouts[pool];
        if (engine !== undefined) return engine.rows<Row>({ statement, pool, signal, timeoutMs });
        const query = { ...toQuery(statement), abort_signal: anyOf(signal, unreachable) };
        return (await clients[pool].query(query)).json<Row>();
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
    insert: (statement, body) => server.change(() => insert(statement, body)),
    async close() {
      server.close();
      agent.destroy();
      await Promise.all([...Object.values(clients), reads].map((client) => client.close()));
    },
  };
}

interface ReadParts {
  readonly options: ConnectionOptions;
  readonly server: Reachability;
  readonly engine: EngineReads | undefined;
}

function openReads(
  { options, server, engine }: ReadParts,
  events: ConnectionEvents,
): Pick<Connection, 'read' | 'readBytes' | 'close'> {
  const lanes: Readonly<Record<ReadPool, ReadLane>> = {
    read: openLane(options, 'read'),
    brief: openLane(options, 'brief'),
  };
  const timeoutMs = options.readTimeoutMs;

  async function inTurn<T>(
    { accountId, signal, isBrief = false }: QueryContext,
    run: (lane: ReadLane, unreachable: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const lane = lanes[isBrief ? 'brief' : 'read'];
    const startedAt = performance.now();
    const release = await lane.semaphore.acquire(accountId, signal);
    events.readBegan((performance.now() - startedAt) / 1000);
    try {
      return await server.read((unreachable) => run(lane, unreachable));
    } catch (error) {
      // In place of the client's own error for an abort.
      signal?.throwIfAborted();
      throw error;
    } finally {
      release();
    }
  }

  /** The quota key, for `CREATE QUOTA … KEYED BY client_key` on a server. */
  const requestOf = ({ accountId, signal }: QueryContext, unreachable: AbortSignal) => ({
    abort_signal: anyOf(signal, unreachable),
    http_headers: { 'X-ClickHouse-Quota': accountId },
  });

  return {
    read: <Row>(statement: Statement, context: QueryContext) =>
      inTurn(context, async ({ client, pool }, unreachable) => {
        if (engine !== undefined) {
          return engine.rows<Row>({ ...context, statement, pool, timeoutMs });
        }
        const query = { ...toQuery(statement), ...requestOf(context, unreachable) };
        if (context.scanned === undefined) return (await client.query(query)).json<Row>();
        // Has statistics, but is parsed as one text: an export of large logs would take too much.
        const answer = await client.query({ ...query, format: 'JSONCompact' });
        const { data, statistics } = await answer.json<Row>();
        context.scanned.rows += statistics?.rows_read ?? 0;
        context.scanned.bytes += statistics?.bytes_read ?? 0;
        return data;
      }),
    readBytes: (statement, context) =>
      inTurn(context, async ({ client, pool }, unreachable) => {
        if (engine !== undefined) return engine.bytes({ ...context, statement, pool, timeoutMs });
        // In the body: the client has parameters in the URL, which is limited to 1 MiB.
        const { body, headers } = new Response(toForm(statement));
        const request = { ...requestOf(context, unreachable), query: statement.sql };
        Object.assign(request.http_headers, Object.fromEntries(headers));
        const { stream } = await client.exec({ ...request, values: Readable.fromWeb(body!) });
        return Buffer.concat(await stream.toArray());
      }),
    async close() {
      await Promise.all(Object.values(lanes).map(({ client }) => client.close()));
    },
  };
}

interface ReadLane {
  readonly pool: ReadPool;
  readonly client: ClickHouseClient;
  readonly semaphore: Semaphore;
}

function openLane(options: ConnectionOptions, pool: ReadPool): ReadLane {
  return {
    pool,
    client: openClient(options, pool, options.readTimeoutMs),
    semaphore: createSemaphore({
      what: pool === 'read' ? 'reads of the store' : 'brief reads of the store',
      places: options.maxConcurrentReads,
      setting: 'store.maxConcurrentReads',
      maxWaiting: maxWaitingReads,
      maxWaitMs,
    }),
  };
}

/** Statements that wait for their turn; half for one account. */
const maxWaitingReads = 256;
const maxWaitMs = 15_000;

function toQuery({ sql, params, settings }: Statement) {
  return {
    query: sql,
    query_params: { ...params },
    format: 'JSONCompactEachRow' as const,
    clickhouse_settings: { ...settings },
  };
}

function anyOf(signal: AbortSignal | undefined, unreachable: AbortSignal): AbortSignal {
  return signal === undefined ? unreachable : AbortSignal.any([signal, unreachable]);
}

const probeMs = 2_000;
const slowAfterMs = 1_000;
const pauseMs = 500;

async function ping(client: ClickHouseClient): Promise<void> {
  const result = await client.ping({ select: false, abort_signal: AbortSignal.timeout(probeMs) });
  if (!result.success) throw result.error;
}

/** A server kills the read of a disconnected client only with both. */
const cancelsReads = { cancel_http_readonly_queries_on_client_close: 1, readonly: '2' } as const;

/** `wait_end_of_query`: an error after the first row is an error, not a truncated response. */
function openClient(
  options: ConnectionOptions,
  pool: Pool | ReadPool,
  timeoutMs: number,
): ClickHouseClient {
  const url = options.socketPath === undefined ? options.url : undefined;
  if (url !== undefined && !/^https?:\/\//i.test(url)) {
    throw new Error('cannot use store.url: it must begin with http:// or https://');
  }
  return createClient({
    url: url ?? 'http://localhost',
    http_agent: openAgent(options),
    username: options.user,
    password: options.password,
    request_timeout: timeoutMs,
    http_headers: { 'X-Weir-Pool': pool },
    use_multipart_params_auto: true,
    log: { level: ClickHouseLogLevel.OFF },
    clickhouse_settings: {
      wait_end_of_query: 1,
      ...((pool === 'read' || pool === 'brief') && cancelsReads),
    },
  });
}
