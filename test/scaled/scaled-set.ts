/**
 * Weir with every part replaced: PostgreSQL, Redis, NATS and an engine of its own, with gateways, a
 * stream node and writers on them, each a real process with a data directory of its own. Tests
 * kill, stop and start any of them, and may put a bad network before the servers.
 */
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureLocalCertificate } from '../../src/server/local-authority.ts';
import type { Quickstart } from '../harness/quickstart.ts';
import { until } from '../harness/until.ts';
import { newDataDir, type NodeAddresses, WeirNode } from '../harness/weir-node.ts';
import { freePort } from '../senders/program.ts';
import { type Balancer, openBalancer } from './balancer.ts';
import { type JoinedOps, openJoinedOps } from './joined-ops.ts';
import { missingNats } from './nats-server.ts';
import { postgresMissing } from './postgres-server.ts';
import { missingRedis } from './redis-server.ts';
import { type SetServers, startServers } from './set-servers.ts';

export interface ScaledSetOptions {
  /** Default 2. */
  readonly gateways?: number;
  /** Default 2. */
  readonly writers?: number;
  /** Further arguments of `weir serve`, for every node but the engine. */
  readonly flags?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Further arguments of the engine. */
  readonly engineFlags?: readonly string[];
  /** Servers of a NATS cluster; default 1, which is no cluster. */
  readonly natsServers?: 1 | 3;
  /** Whether nodes reach the servers by way of fault proxies; a cluster of NATS they never do. */
  readonly network?: 'plain' | 'proxied';
}

/** For the `skip` option of a test. */
export function missingServers(): string | false {
  return postgresMissing() || missingRedis() || missingNats();
}

export interface ScaledSet {
  readonly servers: SetServers;
  readonly engine: WeirNode;
  readonly gateways: readonly WeirNode[];
  readonly stream: WeirNode<Quickstart>;
  readonly writers: readonly WeirNode[];
  /** All of Weir's, in the order in which they start; the engine first. */
  readonly nodes: readonly WeirNode[];
  /**
   * Where the set answers: senders are spread over the gateways, readers go to the stream node, and
   * the ops URL is that of all nodes together.
   */
  readonly quickstart: Quickstart;
  /** Of one gateway alone, for the URLs of the quickstart. */
  ingestUrl(gateway: number): string;
  /** Starts all nodes that do not run; resolves once all have said where they answer. */
  start(): Promise<void>;
  /** Resolves once every node says that it can do its work. */
  ready(): Promise<void>;
  close(): Promise<void>;
}

/** Starts all of it and resolves once it is ready. */
export async function startScaledSet(options: ScaledSetOptions = {}): Promise<ScaledSet> {
  const set = await openScaledSet(options);
  try {
    await set.start();
    await set.ready();
    return set;
  } catch (error) {
    await set.close();
    throw error;
  }
}

/** Starts the servers, and none of Weir's nodes. */
export async function openScaledSet(options: ScaledSetOptions = {}): Promise<ScaledSet> {
  const { gateways: gatewayCount = 2, writers: writerCount = 2 } = options;
  const enginePort = await freePort();
  const tlsDir = mkdtempSync(join(tmpdir(), 'weir-tls-'));
  await ensureLocalCertificate(tlsDir, new Date());
  const servers = await startServers({ ...options, enginePort });
  const ingestPorts = await ports(gatewayCount);
  const balancer = await openBalancer(ingestPorts);
  const ingestUrl = `https://localhost:${balancer.port}`;
  const env = { ...servers.env, ...options.env };
  const node = async <Addresses extends NodeAddresses = NodeAddresses>(
    ...own: readonly string[]
  ) => {
    const all = [...own, '--ops-port', String(await freePort()), ...(options.flags ?? [])];
    const dataDir = newDataDir();
    // One certificate for all that senders and readers may meet.
    cpSync(tlsDir, join(dataDir, 'tls'), { recursive: true });
    return new WeirNode<Addresses>(dataDir, () => all, env);
  };
  const publicUrl = ['--ingest-public-url', ingestUrl];
  const engineFlags = ['--engine-port', String(enginePort), '--ops-port', String(await freePort())];
  const engine = new WeirNode(newDataDir(), () => [
    '--roles',
    'engine',
    ...engineFlags,
    ...(options.engineFlags ?? []),
  ]);
  const gateways = await Promise.all(
    ingestPorts.map((port) =>
      node('--roles', 'gateway', '--ingest-port', String(port), ...publicUrl),
    ),
  );
  const streamPort = String(await freePort());
  const streamFlags = ['--roles', 'stream', '--stream-port', streamPort, ...publicUrl];
  const stream = await node<Quickstart>(...streamFlags);
  const writers = await Promise.all(
    Array.from({ length: writerCount }, () => node('--roles', 'writer')),
  );
  const nodes = [engine, stream, ...gateways, ...writers];
  const ops = await openJoinedOps(() => nodes.map(({ addresses }) => addresses.opsUrl));
  const around = { servers, tlsDir, balancer, ops };
  return {
    servers,
    engine,
    gateways,
    stream,
    writers,
    nodes,
    get quickstart() {
      return { ...stream.addresses, opsUrl: ops.url };
    },
    ingestUrl: (gateway) => `https://localhost:${ingestPorts[gateway] as number}`,
    async start() {
      const missing = nodes.filter((each) => !each.isRunning());
      // Whoever needs the store at its start ends without.
      if (missing.includes(engine)) await startReady(engine);
      await Promise.all(missing.filter((each) => each !== engine).map((each) => each.start()));
    },
    async ready() {
      await Promise.all(nodes.map(isReady));
    },
    close: () => close(nodes, around),
  };
}

async function startReady(node: WeirNode): Promise<void> {
  await node.start();
  await isReady(node);
}

async function isReady(node: WeirNode): Promise<void> {
  await until(() => node.isReady(), { what: '/readyz to be 200', timeoutMs: 120_000 });
}

async function ports(count: number): Promise<number[]> {
  return Promise.all(Array.from({ length: count }, () => freePort()));
}

interface Around {
  readonly servers: SetServers;
  readonly tlsDir: string;
  readonly balancer: Balancer;
  readonly ops: JoinedOps;
}

async function close(nodes: readonly WeirNode[], around: Around): Promise<void> {
  const { servers, tlsDir, balancer, ops } = around;
  await Promise.all(nodes.map((node) => node.remove()));
  await Promise.all([balancer.close(), ops.close(), servers.close()]);
  rmSync(tlsDir, { recursive: true, force: true });
}
