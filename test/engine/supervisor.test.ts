/** The supervisor restarts a process that hangs or dies, and one process holds the data. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { mkdir, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { openEngine } from '../../src/engine/supervisor.ts';
import {
  clientOf,
  countOf,
  isAlive,
  openInOtherProcess,
  openTestEngine,
  rowsOf,
  silentEvents,
  temporaryFolder,
  until,
} from './harness.ts';

const createTable = 'CREATE TABLE t (a UInt64) ENGINE = MergeTree ORDER BY a';

test('restarts after a kill, with all inserted rows', async (t) => {
  const { engine, client } = await openTestEngine(t);
  await client.command({ query: createTable });
  await client.command({ query: 'INSERT INTO t SELECT number FROM numbers(1000)' });
  const first = engine.pid as number;
  process.kill(first, 'SIGKILL');
  await until(() => engine.restarts === 1 && engine.ready());
  assert.notEqual(engine.pid, first);
  assert.equal(await countOf(client, 't'), 1000);
});

test('ends the old process before restart resolves, also when called twice', async (t) => {
  const { engine, client } = await openTestEngine(t);
  await client.command({ query: createTable });
  const first = engine.pid as number;
  await Promise.all([engine.restart('test'), engine.restart('test again')]);
  assert.equal(isAlive(first), false);
  assert.equal(engine.ready(), true);
  const second = engine.pid as number;
  await engine.restart('once more');
  assert.equal(isAlive(second), false);
  assert.equal(await countOf(client, 't'), 0);
});

test('kills and restarts a process that hangs', async (t) => {
  const { engine, client } = await openTestEngine(t, { heartbeatMillis: 20, hangMillis: 1_000 });
  const first = engine.pid as number;
  process.kill(first, 'SIGSTOP');
  await until(() => engine.restarts === 1 && engine.ready());
  assert.equal(isAlive(first), false);
  assert.deepEqual(await rowsOf(client, 'SELECT 1 AS one'), [{ one: 1 }]);
});

test('tries again where the system does not start a process', async (t) => {
  const { engine } = await openTestEngine(t);
  const { execPath } = process;
  t.after(() => (process.execPath = execPath));
  process.execPath = join(dirname(execPath), 'missing');
  process.kill(engine.pid as number, 'SIGKILL');
  await until(() => engine.restarts === 1);
  await delay(1_000);
  assert.equal(engine.ready(), false);
  process.execPath = execPath;
  await until(() => engine.ready());
});

test('names why the system does not start a process', async (t) => {
  const dataDir = await temporaryFolder(t);
  const { execPath } = process;
  t.after(() => (process.execPath = execPath));
  process.execPath = join(dirname(execPath), 'missing');
  await assert.rejects(openEngine({ dataDir }, silentEvents()), /ENOENT/);
});

test('does not take an engine for hanging while this process is busy', async (t) => {
  const { engine, client } = await openTestEngine(t, { heartbeatMillis: 1, hangMillis: 1_000 });
  for (let turn = 0; turn < 5; turn++) {
    await delay(20);
    // Timers run before what arrives during a callback of I/O.
    await stat(import.meta.filename);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_200);
  }
  assert.deepEqual(await rowsOf(client, 'SELECT 1 AS one'), [{ one: 1 }]);
  assert.equal(engine.restarts, 0);
});

test('restarts after a fault in native code', async (t) => {
  const { engine, client } = await openTestEngine(t, { heartbeatMillis: 20, hangMillis: 1_000 });
  process.kill(engine.pid as number, 'SIGKILL');
  await until(() => engine.restarts === 1 && engine.ready());
  assert.equal(engine.crashes, 0);
  process.kill(engine.pid as number, 'SIGSEGV');
  await until(() => engine.restarts === 2 && engine.ready());
  assert.equal(engine.crashes, 1);
  assert.deepEqual(await rowsOf(client, 'SELECT 1 AS one'), [{ one: 1 }]);
});

test('does not start when chDB ignores a setting', async (t) => {
  const dataDir = await temporaryFolder(t);
  const open = openEngine({ dataDir, threads: 0 }, silentEvents());
  await assert.rejects(open, /cannot start the engine on .*: .*max_threads is .* instead of 0/);
});

test('refuses a second process, naming the first, which continues', async (t) => {
  const { client, dataDir } = await openTestEngine(t);
  const { child, said } = await openInOtherProcess(t, dataDir);
  const holder = `another weir process (pid ${process.pid}) holds it`;
  assert.equal(said.error, `cannot open data directory ${dataDir}: ${holder}`);
  if (child.exitCode === null) await once(child, 'exit');
  assert.deepEqual(await rowsOf(client, 'SELECT 1 AS one'), [{ one: 1 }]);
});

test('the engine of a killed process ends, and the next process opens the data', async (t) => {
  const dataDir = await temporaryFolder(t);
  const { child, said } = await openInOtherProcess(t, dataDir);
  const other = clientOf(said.socketPath as string);
  await other.command({ query: createTable });
  await other.command({ query: 'INSERT INTO t SELECT 1' });
  await other.close();
  child.kill('SIGKILL');
  await once(child, 'exit');
  const { client } = await openTestEngine(t, { dataDir });
  assert.equal(isAlive(said.pid as number), false);
  assert.equal(await countOf(client, 't'), 1);
  const runs = readdirSync(dataDir).filter((name) => name.startsWith('run-'));
  assert.equal(runs.length, 1);
});

test('refuses data of a newer engine and an invalid manifest', async (t) => {
  const dataDir = await temporaryFolder(t);
  const path = join(dataDir, 'engine.json');
  await writeFile(path, '{"engineVersion":"999.0.0","clickhouseVersion":"99.1"}');
  const open = () => openEngine({ dataDir }, silentEvents());
  await assert.rejects(open(), /written by engine 999\.0\.0, this weir has .*; upgrade weir/);
  await writeFile(path, '{"engineVersion":');
  await assert.rejects(open(), /is no manifest; restore it/);
  assert.equal(existsSync(join(dataDir, 'store')), false);
});

test('opens data of an older engine', async (t) => {
  const dataDir = await temporaryFolder(t);
  const path = join(dataDir, 'engine.json');
  await writeFile(path, '{"engineVersion":"0.0.1","clickhouseVersion":"1.1"}');
  await openTestEngine(t, { dataDir });
  const { engineVersion } = JSON.parse(readFileSync(path, 'utf8')) as { engineVersion: string };
  assert.notEqual(engineVersion, '0.0.1');
});

test('ignores a config.xml in the working directory', async (t) => {
  const cwd = await temporaryFolder(t);
  const poison = '<clickhouse><this is="no xml"';
  await mkdir(join(cwd, '.clickhouse-client'));
  await writeFile(join(cwd, 'config.xml'), poison);
  await writeFile(join(cwd, '.clickhouse-client', 'config.xml'), poison);
  const dataDir = join(cwd, 'data');
  const { said } = await openInOtherProcess(t, dataDir, cwd);
  assert.equal(said.error, undefined);
});

test('allows only the owner to access the data', async (t) => {
  const { engine, dataDir } = await openTestEngine(t);
  assert.equal(statSync(dataDir).mode & 0o777, 0o700);
  assert.equal(statSync(engine.socketPath).mode & 0o777, 0o600);
  assert.equal(dirname(engine.socketPath), dataDir);
});

test('accepts a data directory of any name, also one too long for a socket', async (t) => {
  const folder = await temporaryFolder(t);
  const dataDir = join(folder, `it's [a] "x" \\ \u{1f600}`, 'y'.repeat(100));
  const { engine, client } = await openTestEngine(t, { dataDir });
  await client.command({ query: createTable });
  await client.insert({ table: 't', values: [{ a: 1 }], format: 'JSONEachRow' });
  assert.equal(await countOf(client, 't'), 1);
  const socketFolder = dirname(engine.socketPath);
  assert.equal(statSync(socketFolder).mode & 0o777, 0o700);
  t.after(() => assert.equal(existsSync(socketFolder), false));
});

test('refuses a data directory that chDB would expand as a pattern', async () => {
  const open = openEngine({ dataDir: '/nowhere/a{b}' }, silentEvents());
  await assert.rejects(open, /cannot use data directory .*: choose a path without \{/);
});

test('waits for a running query when it closes, and leaves no process or socket', async (t) => {
  const { engine, dataDir, client } = await openTestEngine(t);
  const pid = engine.pid as number;
  const running = rowsOf(client, 'SELECT sleepEachRow(0.5) AS s FROM numbers(2)');
  const processes = 'SELECT count() AS n FROM system.processes';
  await until(async () => (await rowsOf<{ n: number }>(client, processes))[0]?.n === 2);
  await engine.close();
  assert.deepEqual(await running, [{ s: 0 }, { s: 0 }]);
  assert.equal(isAlive(pid), false);
  assert.equal(existsSync(engine.socketPath), false);
  assert.deepEqual(readdirSync(dataDir).sort(), [
    'engine.json',
    'owner.json',
    'store',
    'writes-clean',
  ]);
  await assert.rejects(engine.restart('too late'), /closed/);
});

test('bounds the wait for running queries when it closes', async (t) => {
  const { engine, client } = await openTestEngine(t, { stopMillis: 200, maxExecutionSeconds: 0 });
  const pid = engine.pid as number;
  const endlessRead = client.query({ query: 'SELECT sum(sipHash64(number)) FROM numbers(1e15)' });
  const failure = endlessRead.catch((error: unknown) => error);
  const processes = "SELECT count() AS n FROM system.processes WHERE query LIKE '%sipHash64%'";
  await until(async () => (await rowsOf<{ n: number }>(client, processes))[0]?.n === 2);
  await engine.close();
  assert.equal(isAlive(pid), false);
  assert.ok((await failure) instanceof Error);
});
