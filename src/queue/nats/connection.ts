/**
 * The connection to NATS, shared by all parts of the queue, and the names used there. Reconnects
 * with backoff until closed; requests in flight fail and are not sent again.
 */
import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { unescape } from 'node:querystring';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  jetstream,
  type JetStreamClient,
  type JetStreamManager,
  jetstreamManager,
} from '@nats-io/jetstream';
import {
  connect,
  type ConnectionOptions,
  credsAuthenticator,
  type NatsConnection,
  type Status,
} from '@nats-io/transport-node';
import type { Config } from '../../config/schema.ts';
import { messageOf } from '../../std/error-text.ts';
import type { NatsEvents } from '../../telemetry/queue-events.ts';

/** The section `queue` of the configuration. */
export type NatsSettings = Omit<
  Config['queue'],
  'segmentBytes' | 'minFreeDiskBytes' | 'memoryTailBytes' | 'idempotencyKeys'
>;

export type QueueNames = ReturnType<typeof createQueueNames>;

/** Names at NATS, all with the prefix of this Weir. */
export function createQueueNames(prefix: string) {
  return {
    /** Stream of a shard. */
    stream: (shard: number) => `${prefix}_${shard}`,
    /**
     * The shard of a fencing token: a stream that was created again is another shard.
     * @param created as in StreamInfo
     */
    shardName: (shard: number, created: string) => `${prefix}_${shard}@${Date.parse(created)}`,
    /** Subject of a shard's messages. */
    subject: (shard: number) => `${prefix}.queue.${shard}`,
    /** Stream of the batches that the store refused. */
    quarantineStream: `${prefix}_quarantine`,
    quarantineSubject: `${prefix}.quarantine`,
    /** Bucket of the leases, one key for each shard and writer. */
    leases: `${prefix}_leases`,
    /** Bucket of the idempotency keys, by the hex digest of receiver and key. */
    keys: `${prefix}_keys`,
    /** Bucket of what every node must know: keys `series` and `store`. */
    signals: `${prefix}_signals`,
    /** Core subject of a shard's progress; `*` for all. */
    progress: (shard: number | '*') => `${prefix}.progress.${shard}`,
  };
}

export interface NatsLink {
  readonly connection: NatsConnection;
  readonly js: JetStreamClient;
  readonly manager: JetStreamManager;
  readonly names: QueueNames;
  readonly settings: NatsSettings;
  isConnected(): boolean;
  /** How long there has been no connection; 0 while connected. */
  disconnectedMs(): number;
  /** Aborted when the current connection is lost, and while there is none. */
  lost(): AbortSignal;
  /** Resolves when connected, or when the time is over. */
  whenConnected(withinMs: number): Promise<void>;
  /** Flushes what was published, for two seconds at most. */
  close(): Promise<void>;
}

const dialTimeoutMs = 2000;
const reconnectPauseMs = 100;
/** After three of these without a response the connection is closed. */
const pingEveryMs = 2000;
const closeGraceMs = 2000;

/** @throws Error for the operator if no server can be reached or used */
export async function openNatsLink(
  settings: NatsSettings,
  telemetry: NatsEvents,
): Promise<NatsLink> {
  const connection = await dial(settings);
  let lostAt: number | undefined;
  let loss = new AbortController();
  let next = Promise.withResolvers<void>();
  next.resolve();

  // The client reports the loss again with every failed attempt.
  const onLost = (server: string): void => {
    if (lostAt !== undefined) return;
    lostAt = performance.now();
    loss.abort();
    next = Promise.withResolvers<void>();
    telemetry.connectionLost(server);
  };
  const onConnected = (server: string): void => {
    if (lostAt === undefined) return;
    lostAt = undefined;
    loss = new AbortController();
    next.resolve();
    telemetry.connectionMade(server);
  };
  const dials = watchDials(connection);
  const onStatus = (status: Status): void => {
    if (status.type === 'disconnect') onLost(status.server);
    else if (status.type === 'reconnecting') dials.began();
    else if (status.type === 'reconnect') onConnected(status.server);
    else if (status.type === 'error') telemetry.requestRejected(status.error);
  };
  const listening = (async () => {
    for await (const status of connection.status()) onStatus(status);
  })();
  telemetry.connectionMade(connection.getServer());

  const timing = { timeout: settings.timeoutMs };
  return {
    connection,
    js: jetstream(connection, timing),
    manager: await jetstreamManager(connection, { ...timing, checkAPI: false }),
    names: createQueueNames(settings.prefix),
    settings,
    isConnected: () => lostAt === undefined,
    disconnectedMs: () => (lostAt === undefined ? 0 : performance.now() - lostAt),
    lost: () => loss.signal,
    async whenConnected(withinMs) {
      const timeout = new AbortController();
      const late = sleep(withinMs, undefined, { signal: timeout.signal }).catch(() => {});
      await Promise.race([next.promise, late]);
      timeout.abort();
    },
    async close() {
      const isClosed = connection.isClosed();
      if (!isClosed && lostAt === undefined) {
        // A connection that is lost meanwhile cannot be flushed.
        const drained = connection.drain().catch(() => undefined);
        await Promise.race([drained, sleep(closeGraceMs, undefined, { ref: false })]);
      }
      loss.abort();
      await connection.close();
      dials.end();
      await listening;
    },
  };
}

/** The part of the client's internal transport that is used here. */
interface Transport {
  readonly socket?: Socket;
}

/**
 * Closes sockets that the client leaks: one to a server that accepted the connection and never sent
 * its INFO would stay open, one for each attempt, and keep the process alive.
 */
function watchDials(connection: NatsConnection) {
  const { protocol } = connection as unknown as { protocol: { readonly transport: Transport } };
  let last = protocol.transport;
  return {
    began(): void {
      if (last !== protocol.transport) last.socket?.destroy();
      last = protocol.transport;
    },
    end(): void {
      last.socket?.destroy();
      protocol.transport.socket?.destroy();
    },
  };
}

async function dial(settings: NatsSettings): Promise<NatsConnection> {
  const toConnect = toConnectionOptions(settings);
  try {
    return await connect(toConnect);
  } catch (cause) {
    const reason = messageOf(cause);
    const servers = [toConnect.servers].flat().join(', ');
    throw new Error(
      `cannot connect to NATS at ${servers}: ${reason}; check queue.urls and its credentials`,
      { cause },
    );
  }
}

function toConnectionOptions(settings: NatsSettings): ConnectionOptions {
  const addresses = settings.urls.map(parseNatsUrl);
  const find = (part: 'user' | 'password') =>
    settings[part] || addresses.find((address) => address[part] !== '')?.[part];
  const [user, secret] = [find('user'), find('password')];
  const { caFile, certFile, keyFile, credentialsFile } = settings;
  const isTls = addresses.some((address) => address.isTls) || caFile !== '' || certFile !== '';
  const tls = { ...(caFile && { caFile }), ...(certFile && { certFile, keyFile }) };
  return {
    servers: addresses.map((address) => address.server),
    name: `weir ${settings.prefix}`,
    timeout: dialTimeoutMs,
    maxReconnectAttempts: -1,
    reconnectTimeWait: reconnectPauseMs,
    reconnectJitter: reconnectPauseMs,
    reconnectJitterTLS: reconnectPauseMs,
    pingInterval: pingEveryMs,
    // Keeps trying while a password is being changed.
    ignoreAuthErrorAbort: true,
    noAsyncTraces: true,
    ...(isTls && { tls }),
    ...(user !== undefined && { user, pass: secret ?? '' }),
    ...(user === undefined && secret !== undefined && { token: secret }),
    // Read again with every connection.
    ...(credentialsFile && {
      authenticator: credsAuthenticator(() => readFileSync(credentialsFile)),
    }),
  };
}

export interface NatsAddress {
  /** For the client: without user and password. */
  readonly server: string;
  readonly isTls: boolean;
  /** Empty = none. */
  readonly user: string;
  readonly password: string;
}

/**
 * Reads `nats://[user[:password]@]host[:port]`, or `tls://`.
 * @throws Error for the operator, without the password
 */
export function parseNatsUrl(text: string): NatsAddress {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isKnown = url?.protocol === 'nats:' || url?.protocol === 'tls:';
  const isBare = /^\/?$/.test(url?.pathname ?? '') && url?.search === '' && url.hash === '';
  if (url === undefined || !isKnown || !isBare || url.hostname === '') {
    const shown = text.replace(/^(.*:\/\/)?.*@/s, '$1…@');
    throw new Error(
      `cannot use the address ${JSON.stringify(shown)} of the queue: ` +
        'give queue.urls as nats://host:4222 or tls://host:4222',
    );
  }
  return {
    server: `${url.protocol}//${url.hostname}:${url.port || '4222'}`,
    isTls: url.protocol === 'tls:',
    user: unescape(url.username),
    password: unescape(url.password),
  };
}
