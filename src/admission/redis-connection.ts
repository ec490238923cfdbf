/**
 * One connection to Redis or Valkey, or one to each node of a cluster, that runs one script. It is
 * used until its first failure and then thrown away: it never reconnects and never queues while it
 * is not connected.
 */
import { createHash } from 'node:crypto';
import { getCACertificates } from 'node:tls';
import type * as Redis from '@redis/client';
import type { RedisAddress } from './redis-address.ts';
import { messageOf } from '../std/error-text.ts';

export interface RedisConnectionOptions {
  /** Of a cluster, any of its nodes. */
  readonly addresses: readonly [RedisAddress, ...RedisAddress[]];
  readonly topology: 'single' | 'cluster';
  readonly user: string | undefined;
  readonly password: string | undefined;
  /** PEM; believed besides the authorities that Node brings. */
  readonly ca: string | undefined;
  /** Until the first answer; TCP and TLS may take half of it. */
  readonly connectTimeoutMs: number;
}

export interface RedisConnection {
  /** Numbers and texts of the script's answer. @throws RedisFailure */
  run(keys: readonly string[], args: readonly string[]): Promise<readonly unknown[]>;
  /** Resolves when the connection broke or was destroyed, with the reason. */
  readonly broken: Promise<Error>;
  /** Fails everything under way. */
  destroy(reason: Error): void;
}

/**
 * `refused` by the server, which is otherwise well; `busy` = too many under way; `away` = not
 * connected.
 */
export type RedisFailureKind = 'timeout' | 'unreachable' | 'refused' | 'busy' | 'away';

export class RedisFailure extends Error {
  override readonly name = 'RedisFailure';
  readonly kind: RedisFailureKind;

  constructor(kind: RedisFailureKind, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.kind = kind;
  }
}

/** What a server says to who comes with the wrong settings, however often it is tried. */
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

/**
 * Connects, and runs the script on no key: the server has it from then on, and is known to permit
 * it. @throws RedisFailure
 */
export async function openRedisConnection(
  options: RedisConnectionOptions,
  script: string,
): Promise<RedisConnection> {
  // Large, and of no use to a gateway on its own.
  const library = await import('@redis/client');
  const client = createClient(library, options);
  const digest = createHash('sha1').update(script).digest('hex');
  const { promise: broken, resolve: onBroken } = Promise.withResolvers<Error>();
  let isOpen = false;
  let denial: RedisFailure | undefined;
  client.on('error', (error) => {
    if (isOpen) return onBroken(error);
    // While a cluster is looked for, any of its nodes may be away; why none is taken, it says here.
    const failure = toFailure(library, error);
    if (isDenied(failure)) denial = failure;
  });

  async function run(keys: readonly string[], args: readonly string[]) {
    const call = { keys: [...keys], arguments: [...args] };
    try {
      return (await client.evalSha(digest, call).catch((error: unknown) => {
        if (!isReply(error, /^NOSCRIPT/)) throw error;
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
    broken,
    destroy(reason) {
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
  // The client cannot break off while it connects, so that has to end first by itself.
  const connectTimeout = connectTimeoutMs / 2;
  const connecting = { connectTimeout, reconnectStrategy: false } as const;
  const settings = {
    ...(user === undefined ? {} : { username: user }),
    ...(password === undefined ? {} : { password }),
    disableOfflineQueue: true,
    disableClientInfo: true,
    maintNotifications: 'disabled',
    // Deadlines are kept by whoever asks.
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
  // Nodes that the cluster tells of are reached in the way of the first address.
  const { host: _host, port: _port, ...shared } = toSocket(first);
  // The client never lets go of a node that hangs when it is asked for the others, except so.
  const socketTimeout = connectTimeoutMs;
  return library.createCluster({
    rootNodes: addresses.map((address) => ({ socket: { ...toSocket(address), socketTimeout } })),
    defaults: { ...settings, socket: shared },
  }) as Client;
}

/** What a server says that cannot take charges, or not any more: another may have its place. */
const unfit = /^(?:LOADING|READONLY|MASTERDOWN|CLUSTERDOWN|NOAUTH|WRONGPASS|MOVED|ASK)\b/;

function toFailure(library: Library, error: unknown): RedisFailure {
  if (error instanceof RedisFailure) return error;
  const message = messageOf(error);
  const isRefused = error instanceof library.ErrorReply && !unfit.test(message);
  return new RedisFailure(isRefused ? 'refused' : 'unreachable', message, error);
}

function isReply(error: unknown, pattern: RegExp): boolean {
  return error instanceof Error && pattern.test(error.message);
}

/** @throws RedisFailure `timeout` */
export function within<T>(work: Promise<T>, timeoutMs: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = () => reject(new RedisFailure('timeout', `no answer within ${timeoutMs} ms`));
    // A process that was busy looks at what has arrived before it calls the answer late.
    const timer = setTimeout(() => setImmediate(late), timeoutMs);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
