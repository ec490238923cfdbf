/**
 * The connection to NATS that all of the queue share. Lost, it is made again for ever; what was
 * under way is not sent again by itself, and nothing waits in it meanwhile: whoever publishes looks
 * first whether there is a connection.
 */
import { readFileSync } from 'node:fs';
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
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { NatsEvents } from '../../telemetry/queue-events.ts';
import { createQueueNames, type QueueNames } from './names.ts';
import { parseNatsUrl } from './nats-address.ts';
import type { NatsQueueOptions } from './nats-options.ts';
import { messageOf } from '../../std/error-text.ts';

export interface NatsLink {
  readonly connection: NatsConnection;
  readonly js: JetStreamClient;
  readonly manager: JetStreamManager;
  readonly names: QueueNames;
  readonly options: NatsQueueOptions;
  isConnected(): boolean;
  /** How long there has been no connection; 0 while there is one. */
  awayMs(): number;
  /** Aborted once the present connection is lost; aborted already while there is none. */
  present(): AbortSignal;
  /** Resolves with the next connection, at once while there is one, or when the time is over. */
  whenConnected(withinMs: number): Promise<void>;
  /** Lets what was published get there, for two seconds at most. */
  close(): Promise<void>;
}

const dialTimeoutMs = 2000;
const reconnectPauseMs = 100;
/** A connection whose server is silent for three of these is given up. */
const pingEveryMs = 2000;
const closeGraceMs = 2000;

/** @throws Error in words for the operator where none of the servers can be reached or used. */
export async function openNatsLink(
  options: NatsQueueOptions,
  telemetry: NatsEvents,
): Promise<NatsLink> {
  const connection = await dial(options);
  let lostAt: number | undefined;
  let presence = new AbortController();
  let next = Promise.withResolvers<void>();
  next.resolve();

  // Both are told again with every attempt that fails, and once for each when one succeeds.
  const lose = (server: string): void => {
    if (lostAt !== undefined) return;
    lostAt = performance.now();
    presence.abort();
    next = Promise.withResolvers<void>();
    telemetry.connectionLost(server);
  };
  const find = (server: string): void => {
    if (lostAt === undefined) return;
    lostAt = undefined;
    presence = new AbortController();
    next.resolve();
    telemetry.connectionMade(server);
  };
  const dials = watchDials(connection);
  const follow = (status: Status): void => {
    if (status.type === 'disconnect') lose(status.server);
    else if (status.type === 'reconnecting') dials.began();
    else if (status.type === 'reconnect') find(status.server);
    else if (status.type === 'error') telemetry.serverComplained(status.error);
  };
  const listening = (async () => {
    for await (const status of connection.status()) follow(status);
  })();
  telemetry.connectionMade(connection.getServer());

  const timing = { timeout: options.timeoutMs };
  return {
    connection,
    js: jetstream(connection, timing),
    manager: await jetstreamManager(connection, { ...timing, checkAPI: false }),
    names: createQueueNames(options.prefix),
    options,
    isConnected: () => lostAt === undefined,
    awayMs: () => (lostAt === undefined ? 0 : performance.now() - lostAt),
    present: () => presence.signal,
    async whenConnected(withinMs) {
      const enough = new AbortController();
      const over = sleep(withinMs, undefined, { signal: enough.signal }).catch(() => {});
      await Promise.race([next.promise, over]);
      enough.abort();
    },
    async close() {
      const isGone = connection.isClosed();
      if (!isGone && lostAt === undefined) {
        // It may be lost in this very moment; nothing that counts is under way any more.
        const drained = connection.drain().catch(() => undefined);
        await Promise.race([drained, sleep(closeGraceMs, undefined, { ref: false })]);
      }
      presence.abort();
      await connection.close();
      dials.end();
      await listening;
    },
  };
}

/** Of the client's own, as far as it is needed here. */
interface Transport {
  readonly socket?: Socket;
}

/**
 * The client forgets a socket to a server that took the connection and never said a word. It would
 * stay open, one for each attempt, and keep the process from ending.
 */
function watchDials(connection: NatsConnection) {
  const { protocol } = connection as unknown as { protocol: { readonly transport: Transport } };
  let last = protocol.transport;
  return {
    /** An attempt began, so the one before is over. */
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

async function dial(options: NatsQueueOptions): Promise<NatsConnection> {
  const toConnect = toConnectionOptions(options);
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

function toConnectionOptions(options: NatsQueueOptions): ConnectionOptions {
  const addresses = options.urls.map(parseNatsUrl);
  const user = options.user ?? addresses.find((address) => address.user !== undefined)?.user;
  const secret =
    options.password ?? addresses.find((address) => address.password !== undefined)?.password;
  const { caFile, certFile, keyFile, credentialsFile } = options;
  const isTls = addresses.some((address) => address.isTls);
  const files = {
    ...(caFile && { caFile }),
    ...(certFile && { certFile, keyFile: keyFile ?? '' }),
  };
  const wantsTls = isTls || Object.keys(files).length > 0;
  return {
    servers: addresses.map((address) => address.server),
    name: `weir ${options.prefix}`,
    timeout: dialTimeoutMs,
    maxReconnectAttempts: -1,
    reconnectTimeWait: reconnectPauseMs,
    reconnectJitter: reconnectPauseMs,
    reconnectJitterTLS: reconnectPauseMs,
    pingInterval: pingEveryMs,
    // A password that is being changed is no reason to give up.
    ignoreAuthErrorAbort: true,
    noAsyncTraces: true,
    ...(wantsTls && { tls: files }),
    ...(user !== undefined && { user, pass: secret ?? '' }),
    ...(user === undefined && secret !== undefined && { token: secret }),
    ...(credentialsFile !== undefined && {
      authenticator: credsAuthenticator(() => readFileSync(credentialsFile)),
    }),
  };
}
