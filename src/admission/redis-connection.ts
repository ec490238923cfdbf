/**
 * One connection to Redis or Valkey, or to each node of a cluster, that runs one script. It is
 * discarded after its first failure: it neither reconnects nor queues commands.
 */
import { createHash } from 'node:crypto';
import { unescape } from 'node:querystring';
import { getCACertificates } from 'node:tls';
import type * as Redis from '@redis/client';
import { messageOf } from '../std/error-text.ts';

export interface RedisAddress {
  readonly host: string;
  readonly port: number;
  readonly isTls: boolean;
  readonly database: number;
  readonly user: string | undefined;
  readonly password: string | undefined;
}

/**
 * `redis[s]://[user[:password]@]host[:port][/database]`
 * (https://www.iana.org/assignments/uri-schemes/prov/redis).
 * @throws Error without the password
 */
export function parseRedisUrl(text: string): RedisAddress {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const database = /^\/?(\d*)$/.exec(url?.pathname ?? '')?.[1];
  const isRedis = url?.protocol === 'redis:' || url?.protocol === 'rediss:';
  if (url === undefined || !isRedis || url.hostname === '' || database === undefined) {
    const shown = text.replace(/^(.*:\/\/)?.*@/s, '$1…@');
    throw new Error(
      `cannot use the address ${JSON.stringify(shown)} of the quota store: ` +
        'give quota.urls as redis://host:6379 or rediss://host:6379',
    );
  }
  return {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port === '' ? 6379 : Number(url.port),
    isTls: url.protocol === 'rediss:',
    database: Number(database),
    user: decode(url.username),
    password: decode(url.password),
  };
}

function decode(part: string): string | undefined {
  return part === '' ? undefined : unescape(part);
}

export interface RedisConnectionOptions {
  /** Any nodes of a cluster. */
  readonly addresses: readonly [RedisAddress, ...RedisAddress[]];
  readonly topology: 'single' | 'cluster';
  readonly user: string | undefined;
  readonly password: string | undefined;
  /** PEM of an authority to trust besides those of Node. */
  readonly ca: string | undefined;
  /** Timeout until the first answer; half of it for TCP and TLS. */
  readonly connectTimeoutMs: number;
}

export type RedisConnection = Awaited<ReturnType<typeof openRedisConnection>>;

/** `refused` by a healthy server; `busy` = too many commands in flight; `away` = not connected. */
export type RedisFailureKind = 'timeout' | 'unreachable' | 'refused' | 'busy' | 'away';

export class RedisFailure extends Error {
  override readonly name = 'RedisFailure';
  readonly kind: RedisFailureKind;

  constructor(kind: RedisFailureKind, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.kind = kind;
  }
}

/** Errors of wrong settings, which a retry cannot fix. */
const denials = /^(?:WRONGPASS|NOAUTH|NOPERM|ERR DB index)\b/;

/** Whether user, password, database or rights are to blame, which only an operator can change. */
export function isDenied(error: unknown): error is RedisFailure {
  return error instanceof RedisFailure && denials.test(error.message);
}

type Library = typeof Redis;

/** What a connection and a cluster have in common. */
interface Client {
  connect(): Promise<unknown>;
  destroy(): void;
  on(event: 'error', listener: (error: Error) => void): unknown;
  eval(script: string, call: ScriptCall): Promise<unknown>;
  evalSha(digest: string, call: ScriptCall): Promise<unknown>;
}

interface ScriptCall {
  keys: string[];
  arguments: string[];
}

/** Connects and runs the script without keys, to load it and to check permissions. */
export async function openRedisConnection(options: RedisConnectionOptions, script: string) {
  // Imported on demand: the library is large, and a single gateway does not need it.
  const library = await import('@redis/client');
  const client = createClient(library, options);
  const digest = createHash('sha1').update(script).digest('hex');
  const { promise: broken, resolve: onBroken } = Promise.withResolvers<Error>();
  let isOpen = false;
  let denial: RedisFailure | undefined;
  client.on('error', (error) => {
    if (isOpen) return onBroken(error);
    // While connecting, single nodes of a cluster may be away; only a denial is final.
    const failure = toFailure(library, error);
    if (isDenied(failure)) denial = failure;
  });

  /** @returns the answer of the script. @throws RedisFailure */
  async function run(keys: readonly string[], args: readonly string[]) {
    const call = { keys: [...keys], arguments: [...args] };
    try {
      return (await client.evalSha(digest, call).catch((error: unknown) => {
        if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error;
        return client.eval(script, call);
      })) as unknown[];
    } catch (error) {
      throw toFailure(library, error);
    }
  }

  try {
    await within(prepare(client, script), options.connectTimeoutMs);
  } catch (error) {
    client.destroy();
    throw denial ?? toFailure(library, error);
  }
  isOpen = true;
  return {
    run,
    /** Resolves with the reason when the connection broke or was destroyed. */
    broken,
    /** Fails all commands in flight. */
    destroy(reason: Error): void {
      onBroken(reason);
      client.destroy();
    },
  };
}

async function prepare(client: Client, script: string): Promise<void> {
  await client.connect();
  await client.eval(script, { keys: [], arguments: ['0'] });
}

function createClient(library: Library, options: RedisConnectionOptions): Client {
  const { addresses, topology, connectTimeoutMs } = options;
  const [first] = addresses;
  const ca = options.ca === undefined ? {} : { ca: [...getCACertificates('default'), options.ca] };
  const user = options.user ?? first.user;
  const password = options.password ?? first.password;
  // The client cannot be aborted while it connects, so that its own timeout must be shorter.
  const connectTimeout = connectTimeoutMs / 2;
  const connecting = { connectTimeout, reconnectStrategy: false } as const;
  const settings = {
    ...(user === undefined ? {} : { username: user }),
    ...(password === undefined ? {} : { password }),
    disableOfflineQueue: true,
    disableClientInfo: true,
    maintNotifications: 'disabled',
    // `within` enforces timeouts.
    commandOptions: { timeout: 0 },
  } as const;
  const toSocket = ({ host, port, isTls }: RedisAddress) =>
    isTls
      ? { ...connecting, ...ca, host, port, tls: true as const }
      : { ...connecting, host, port };
  if (topology === 'single') {
    const { database } = first;
    return library.createClient({ ...settings, database, socket: toSocket(first) }) as Client;
  }
  // Discovered nodes use the settings of the first address.
  const { host: _host, port: _port, ...shared } = toSocket(first);
  // Otherwise the client waits forever for a hanging node while discovering the others.
  const socketTimeout = connectTimeoutMs;
  return library.createCluster({
    rootNodes: addresses.map((address) => ({ socket: { ...toSocket(address), socketTimeout } })),
    defaults: { ...settings, socket: shared },
  }) as Client;
}

/** The server cannot accept charges (any more): another may replace it. */
const unfit = /^(?:LOADING|READONLY|MASTERDOWN|CLUSTERDOWN|NOAUTH|WRONGPASS|MOVED|ASK)\b/;

function toFailure(library: Library, error: unknown): RedisFailure {
  if (error instanceof RedisFailure) return error;
  const message = messageOf(error);
  const isRefused = error instanceof library.ErrorReply && !unfit.test(message);
  return new RedisFailure(isRefused ? 'refused' : 'unreachable', message, error);
}

/** @throws RedisFailure `timeout` */
export function within<T>(work: Promise<T>, timeoutMs: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = () => reject(new RedisFailure('timeout', `no answer within ${timeoutMs} ms`));
    // After a busy period, answers that have arrived are processed before the timeout.
    const timer = setTimeout(() => setImmediate(late), timeoutMs);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
