/** `npm start` restarts a service that died, and ends with it on request. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { until } from '../harness/until.ts';
import { temporaryFolder } from '../harness/temporary-folder.ts';
import { childrenOf, isAlive, withoutWeirKeys } from '../harness/weir-process.ts';

const repository = fileURLToPath(new URL('../..', import.meta.url));
const packageText = readFileSync(join(repository, 'package.json'), 'utf8');
const { scripts } = JSON.parse(packageText) as { scripts: { start: string } };
const dataDir = temporaryFolder();

interface Started {
  readonly child: ChildProcess;
  readonly ended: Promise<unknown[]>;
  errors(): string;
}

function start(...flags: readonly string[]): Started {
  const ports = ['--ingest-port', '0', '--stream-port', '0', '--ops-port', '0'];
  // As npm does, which sends signals to the shell.
  const command = [scripts.start, '--data', dataDir, ...ports, ...flags].join(' ');
  const child = spawn('sh', ['-c', command], {
    cwd: repository,
    env: {
      ...withoutWeirKeys(process.env),
      PATH: `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`,
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  return { child, ended: once(child, 'exit'), errors: () => errors };
}

const serving = ({ child }: Started) => childrenOf(child.pid ?? 0)[0];

/** The pid of the process that has written its addresses. */
async function readyPid(started: Started, before?: number): Promise<number> {
  const isReady = async () => {
    const pid = serving(started);
    const owner = join(dataDir, 'owner.pid');
    const file = join(dataDir, 'quickstart.json');
    if (pid === undefined || pid === before || !existsSync(file)) return undefined;
    const { opsUrl } = JSON.parse(readFileSync(file, 'utf8')) as { opsUrl: string };
    const answer = await fetch(`${opsUrl}/readyz`).catch(() => undefined);
    return answer?.status === 200 && Number(readFileSync(owner, 'utf8')) === pid ? pid : undefined;
  };
  return until(isReady, { what: 'a service that is ready' });
}

test('restarts a service that died, not one that was stopped', async () => {
  const started = start();
  const first = await readyPid(started);
  process.kill(first, 'SIGKILL');
  const second = await readyPid(started, first);
  assert.match(started.errors(), /weir ended \(SIGKILL\): starting it again in 1 s/);
  started.child.kill('SIGTERM');
  assert.deepEqual(await started.ended, [0, null]);
  assert.equal(isAlive(second), false);
});

test('a service whose supervisor is killed stops gracefully', async () => {
  const started = start();
  const pid = await readyPid(started);
  started.child.kill('SIGKILL');
  await started.ended;
  await until(() => !isAlive(pid), { what: 'the service to stop' });
});

test('does not repeat a refused start', async () => {
  const started = start('--ingest-port', 'none');
  assert.deepEqual(await started.ended, [2, null]);
  assert.doesNotMatch(started.errors(), /starting it again/);
});

test('refuses a data directory without its directory.db', async () => {
  rmSync(join(dataDir, 'directory.db'));
  const started = start();
  assert.deepEqual(await started.ended, [1, null]);
  assert.match(started.errors(), /directory\.db is missing or empty, .* restore directory\.db/);
});

/** Prints the address of each module that is loaded. */
const listModules = `
import { registerHooks } from 'node:module';
const load = (url, context, next) => (console.log(url), next(url, context));
registerHooks({ load });
`;

test('loads no library of servers or certificates before it is needed', () => {
  const main = new URL('../../src/main.ts', import.meta.url).href;
  const hooks = `data:text/javascript,${encodeURIComponent(listModules)}`;
  const args = ['--import', hooks, '--eval', `import(${JSON.stringify(main)})`];
  const { status, stdout } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  assert.equal(status, 0);
  const names = [...stdout.matchAll(/node_modules\/((?:@[^/]+\/)?[^/]+)\//g)].map(
    ([, name]) => name,
  );
  const loaded = new Set(names);
  assert.ok(loaded.has('fastify'));
  const later = ['@peculiar/x509', 'reflect-metadata', 'pg', 'openid-client'];
  const atOnce = [...later, '@nats-io/jetstream', '@redis/client'].filter((one) => loaded.has(one));
  assert.deepEqual(atOnce, []);
});
