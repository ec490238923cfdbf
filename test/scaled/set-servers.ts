/** The servers of a scaled-out set, and the settings of its nodes. */
import { type FaultProxy, openFaultProxy } from './fault-proxy.ts';
import { NatsCluster, NatsServer } from './nats-server.ts';
import { PostgresServer } from './postgres-server.ts';
import { RedisServer } from './redis-server.ts';

export interface SetServersOptions {
  readonly natsServers?: 1 | 3;
  readonly network?: 'plain' | 'proxied';
  /** Port of the engine. */
  readonly enginePort: number;
}

/** Fault proxies by server; undefined = direct connections. */
export interface SetNetwork {
  readonly directory: FaultProxy;
  readonly quota: FaultProxy;
  readonly queue: FaultProxy;
  readonly store: FaultProxy;
}

export interface SetServers {
  readonly postgres: PostgresServer;
  readonly redis: RedisServer;
  readonly nats: readonly NatsServer[];
  readonly network: SetNetwork | undefined;
  /** Flags of every node except the engine. */
  readonly env: Readonly<Record<string, string>>;
  close(): Promise<void>;
}

export async function startServers(options: SetServersOptions): Promise<SetServers> {
  const { natsServers = 1, network: kind = 'plain', enginePort } = options;
  const [postgres, redis, nats] = await Promise.all([
    PostgresServer.start(),
    RedisServer.start(),
    natsServers === 1
      ? NatsServer.start().then((server) => [server])
      : NatsCluster.start().then(({ servers }) => servers),
  ]);
  const network =
    kind === 'plain'
      ? undefined
      : {
          directory: await openFaultProxy(on(postgres.port)),
          quota: await openFaultProxy(on(redis.port)),
          queue: await openFaultProxy(on(nats[0]!.place.port)),
          store: await openFaultProxy(on(enginePort)),
        };
  const portOf = (part: keyof SetNetwork, direct: number) => network?.[part].port ?? direct;
  const natsUrls = nats.map(({ place }) => {
    const port = nats.length === 1 ? portOf('queue', place.port) : place.port;
    return `nats://127.0.0.1:${port}`;
  });
  const directoryPort = portOf('directory', postgres.port);
  return {
    postgres,
    redis,
    nats,
    network,
    env: {
      WEIR_DIRECTORY_URL: `postgres://weir@127.0.0.1:${directoryPort}/postgres`,
      WEIR_QUOTA_URLS: `redis://127.0.0.1:${portOf('quota', redis.port)}`,
      WEIR_QUEUE_URLS: natsUrls.join(','),
      WEIR_QUEUE_REPLICAS: String(nats.length),
      WEIR_STORE_URL: `http://127.0.0.1:${portOf('store', enginePort)}`,
    },
    async close() {
      await Promise.all([
        postgres.close(),
        redis.stop(),
        ...nats.map((server) => server.stop()),
        ...Object.values(network ?? {}).map((proxy: FaultProxy) => proxy.close()),
      ]);
    },
  };
}

function on(port: number) {
  return { port, host: '127.0.0.1' };
}
