/**
 * Weir with every part on a server: PostgreSQL, Redis, NATS and an engine node, with gateways, a
 * stream node and writers as real processes with separate data directories. Tests kill, stop and
 * start any of them and may inject network faults.
 */
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureLocalCertificate } from '../../src/server/local-authority.ts';
import type { Quickstart } from '../harness/quickstart.ts';
import { until } from '../harness/until.ts';
import { temporaryFolder } from '../harness/temporary-folder.ts';
import { type NodeAddresses, WeirNode } from '../harness/weir-node.ts';
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
  /** Additional flags of `weir serve` for every node except the engine. */
  readonly flags?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Additional flags of the engine. */
  readonly engineFlags?: readonly string[];
  /** Number of NATS servers; default 1, without a cluster. */
  readonly natsServers?: 1 | 3;
  /** Whether nodes reach servers by fault proxies; never for a NATS cluster. */
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
  /** All nodes in start order; the engine first. */
  readonly nodes: readonly WeirNode[];
  /**
   * Addresses: senders are spread over gateways, readers use the stream node, and the operations
   * URL joins all nodes.
   */
  readonly quickstart: Quickstart;
  /** Of one gateway, for the URLs in quickstart.json. */
  ingestUrl(gateway: number): string;
  /** Starts stopped nodes; resolves once all have written their addresses. */
  start(): Promise<void>;
  /** Resolves once every node is ready. */
  ready(): Promise<void>;
  close(): Promise<void>;
}

/** Starts everything and resolves once it is ready. */
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

/** Starts the servers only. */
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
    const dataDir = temporaryFolder();
    // One certificate for all listeners.
    cpSync(tlsDir, join(dataDir, 'tls'), { recursive: true });
    return new WeirNode<Addresses>(dataDir, () => all, env);
  };
  const publicUrl = ['--ingest-public-url', ingestUrl];
  const engineFlags = ['--engine-port', String(enginePort), '--ops-port', String(await freePort())];
  const engine = new WeirNode(temporaryFolder(), () => [
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
      // Nodes that need the store exit without it.
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
