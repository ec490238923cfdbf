/**
 * A cluster of two shards on one engine: statements are those of a cluster, tables are distributed,
 * partial results are merged. Clauses that this engine cannot execute (`ON CLUSTER`, replication)
 * are removed on the way. Both shards are the same table; a filter gives each its rows.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, request as openRequest, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { openChannel } from '../../src/channel/channel.ts';
import { overIpc } from '../../src/channel/transports.ts';
import type { EngineMethods, SupervisorMethods } from '../../src/engine/engine-process.ts';
import { engineDefaults } from '../../src/engine/options.ts';
import { shardingKeys } from '../../src/store/sql/tables.ts';

export interface ClusterEngine {
  readonly url: string;
  readonly pid: number | undefined;
  /** Statements for the cluster as sent, except reads and inserts. */
  readonly statements: readonly string[];
  close(): Promise<void>;
}

export const clusterName = 'main';

/** Two names of this machine: nodes of one name would count as one. */
const shards = ['127.0.0.1', 'localhost'].map((host) => {
  const replica = `<replica><host>${host}</host><port>9000</port></replica>`;
  return `<shard><internal_replication>true</internal_replication>${replica}</shard>`;
});
const clusterXml = `<clickhouse>
<tcp_port>9000</tcp_port>
<remote_servers><${clusterName}>${shards.join('')}</${clusterName}></remote_servers>
<macros><shard>01</shard><replica>r1</replica></macros>
</clickhouse>`;

export async function openClusterEngine(): Promise<ClusterEngine> {
  const dataDir = await mkdtemp(join(tmpdir(), 'weir-cluster-'));
  const socketPath = join(dataDir, 'engine.sock');
  const child = await startChild(dataDir, socketPath);
  const statements: string[] = [];
  const server = createServer({ maxHeaderSize: 8 * 2 ** 20 }, (incoming, outgoing) => {
    void (async () => {
      const { path, body } = await rewritten(incoming, statements);
      const passed = openRequest({
        socketPath,
        path,
        method: incoming.method,
        headers: withoutLength(incoming),
      });
      passed.on('response', (answer) => {
        outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
        pipeline(answer, outgoing, () => undefined);
      });
      passed.on('error', () => outgoing.destroy());
      if (body === undefined) pipeline(incoming, passed, () => undefined);
      else passed.end(body);
    })();
  });
  const url = `http://127.0.0.1:${await listen(server)}`;
  return {
    url,
    pid: child.pid,
    statements,
    async close() {
      server.close();
      server.closeAllConnections();
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
      await rm(dataDir, { recursive: true });
    },
  };
}

async function startChild(dataDir: string, socketPath: string): Promise<ChildProcess> {
  const cwd = join(dataDir, 'run-cluster');
  await mkdir(join(cwd, 'engine-settings.d'), { recursive: true });
  await writeFile(join(cwd, 'engine-settings.d', 'cluster.xml'), clusterXml);
  const file = fileURLToPath(new URL('../../src/engine/child.ts', import.meta.url));
  const child = spawn(process.execPath, [file], {
    cwd,
    env: { HOME: cwd, TMPDIR: cwd, TZ: 'UTC', UV_THREADPOOL_SIZE: '12' },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const { remote } = openChannel<SupervisorMethods, EngineMethods>(overIpc(child), {
    failed: (reason) => assert.fail(reason),
  });
  await remote.start({
    settings: engineDefaults,
    dataDir,
    socketPath,
    parentPid: process.pid,
  });
  return child;
}

async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as { port: number }).port;
}

interface Rewritten {
  readonly path: string;
  /** Undefined = unchanged. */
  readonly body: Buffer | undefined;
}

async function rewritten(incoming: IncomingMessage, statements: string[]): Promise<Rewritten> {
  const url = new URL(incoming.url ?? '/', 'http://engine');
  const sql = url.searchParams.get('query');
  if (sql !== null) {
    url.searchParams.set('query', runnable(sql));
    addFilters(url);
    return { path: url.pathname + url.search, body: undefined };
  }
  const body = Buffer.concat(await incoming.toArray());
  const isText = !(incoming.headers['content-type'] ?? '').startsWith('multipart');
  const text = isText ? body.toString() : '';
  if (/^(CREATE|ALTER|KILL|SYSTEM)/.test(text)) statements.push(text);
  else addFilters(url);
  const path = url.pathname + url.search;
  return { path, body: isText ? Buffer.from(runnable(text)) : body };
}

function addFilters({ searchParams }: URL): void {
  const filters = Object.entries(shardingKeys).map(([table, key]) => {
    return `'weir.${table}_local': '${key} % 2 = shardNum() - 1'`;
  });
  searchParams.set('additional_table_filters', `{${filters.join(', ')}}`);
}

/** Rewrites a statement for an engine without Keeper. */
function runnable(sql: string): string {
  if (sql.startsWith('SYSTEM SYNC REPLICA')) return "SELECT 'host', 1, 0, ''";
  return sql
    .replaceAll(` ON CLUSTER '${clusterName}'`, '')
    .replace(/Replicated(\w*MergeTree)\('[^']*', '[^']*'(?:, )?/g, '$1(')
    .replaceAll(' SETTINGS select_sequential_consistency = 1', '')
    .replaceAll('\nSETTINGS select_sequential_consistency = 1', '');
}

function withoutLength({ headers }: IncomingMessage) {
  const { 'content-length': _, 'transfer-encoding': __, host: ___, ...others } = headers;
  return others;
}
