/** After a failed write, whose file chDB leaves truncated, the engine restarts and repairs. */
import assert from 'node:assert/strict';
import { readdirSync, renameSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import type { EngineEvents } from '../../src/telemetry/store-events.ts';
import {
  type Cleanup,
  countOf,
  openTestEngine,
  rowsOf,
  silentEvents,
  type TestEngine,
  until,
} from './harness.ts';

/** Always reports ENOSPC. */
const device = '/dev/full';
const millions = 'SELECT number FROM numbers(2000000)';
const table = 'CREATE TABLE t (a UInt64) ENGINE = MergeTree ORDER BY a';

test('does not answer a write that failed, and ends the engine', async (t) => {
  const ends: string[] = [];
  const engineEnded = (_pid: number, how: string) => void ends.push(how);
  const { engine, client } = await openTestEngine(t, {}, { ...silentEvents(), engineEnded });
  await client.command({ query: table });
  await client.command({ query: 'INSERT INTO t SELECT number FROM numbers(1000)' });
  const query = `INSERT INTO FUNCTION file('${device}', 'TSV', 'a UInt64') ${millions}`;
  await assert.rejects(client.command({ query }), /socket hang up|ECONNRESET/);
  await until(() => engine.restarts === 1 && engine.ready());
  assert.deepEqual(ends, ['the disk of the store refused a write']);
  await client.command({ query: 'INSERT INTO t SELECT number FROM numbers(1000)' });
  assert.equal(await countOf(client, 't'), 2_000);
});

/** Of the other tests; each has a table of its own. */
let store: TestEngine;
/** Parts that the engine has removed in this test. */
const removed: string[] = [];

const opened: (() => Promise<void> | void)[] = [];
before(async () => {
  const truncatedPartsRemoved: EngineEvents['truncatedPartsRemoved'] = (paths) =>
    void removed.push(...paths);
  const file: Cleanup = { after: (work) => void opened.unshift(work) };
  store = await openTestEngine(file, {}, { ...silentEvents(), truncatedPartsRemoved });
});
after(async () => {
  for (const close of opened) await close();
});
beforeEach(async () => {
  removed.length = 0;
  await store.client.command({ query: 'DROP TABLE IF EXISTS t SYNC' });
  await store.client.command({ query: table });
});

test('removes a truncated merged part and restores its sources', async () => {
  for (let part = 0; part < 2; part++) {
    await store.client.command({ query: 'INSERT INTO t SELECT number FROM numbers(1000)' });
  }
  await store.client.command({ query: 'OPTIMIZE TABLE t FINAL' });
  const path = await activePart(store);
  await endByFailedWrite(store);
  truncateSync(join(path, 'data.bin'), 100);
  await store.engine.restart('test');
  assert.equal(await countOf(store.client, 't'), 2_000);
  assert.deepEqual(removed.map(nameOf), ['broken-on-start_all_1_2_1']);
  assert.deepEqual(readdirSync(join(dirname(path), 'detached')), []);
});

test('removes the part of an insert without an answer', async () => {
  await store.client.command({ query: 'INSERT INTO t SELECT number FROM numbers(1000)' });
  const path = await activePart(store);
  await endByFailedWrite(store);
  for (const file of readdirSync(path)) truncateSync(join(path, file), 0);
  await store.engine.restart('test');
  assert.equal(await countOf(store.client, 't'), 0);
  assert.deepEqual(removed.map(nameOf), ['broken-on-start_all_1_1_0']);
});

test('keeps a part that broke without a failed write', async () => {
  await store.client.command({ query: 'INSERT INTO t SELECT number FROM numbers(1000)' });
  const path = await activePart(store);
  truncateSync(join(path, 'data.bin'), 10);
  await store.engine.restart('test');
  assert.deepEqual(readdirSync(join(dirname(path), 'detached')), ['broken-on-start_all_1_1_0']);
  assert.deepEqual(removed, []);
});

test('keeps a broken part from long before the failed write', async () => {
  await store.client.command({ query: 'INSERT INTO t SELECT number FROM numbers(1000)' });
  const path = await activePart(store);
  await endByFailedWrite(store);
  truncateSync(join(path, 'data.bin'), 10);
  const hourAgo = Date.now() / 1000 - 3_600;
  for (const file of readdirSync(path)) utimesSync(join(path, file), hourAgo, hourAgo);
  await store.engine.restart('test');
  assert.deepEqual(readdirSync(join(dirname(path), 'detached')), ['broken-on-start_all_1_1_0']);
  assert.deepEqual(removed, []);
});

test('starts with more than a hundred truncated parts', async () => {
  await store.client.command({ query: 'SYSTEM STOP MERGES t' });
  for (let part = 0; part < 105; part++) {
    await store.client.command({ query: 'INSERT INTO t SELECT number FROM numbers(10)' });
  }
  const folder = dirname(await activePart(store));
  await endByFailedWrite(store);
  for (const name of readdirSync(folder).filter((part) => part.startsWith('all_'))) {
    truncateSync(join(folder, name, 'data.bin'), 10);
  }
  await store.engine.restart('test');
  assert.equal(await countOf(store.client, 't'), 0);
  assert.ok(removed.length > 100, String(removed.length));
});

test('starts with an empty mutation file', async () => {
  await store.client.command({ query: 'INSERT INTO t SELECT number FROM numbers(1000)' });
  const path = await activePart(store);
  await store.engine.restart('test');
  const entry = join(dirname(path), 'mutation_7.txt');
  writeFileSync(entry, '');
  await store.engine.restart('test');
  assert.equal(await countOf(store.client, 't'), 1_000);
});

/** Leaves the directory as after a write that failed a moment ago. */
async function endByFailedWrite({ dataDir, engine }: TestEngine): Promise<void> {
  await engine.restart('test');
  renameSync(join(dataDir, 'writes-clean'), join(dataDir, 'writes-failed'));
  const justNow = Date.now() / 1000 - 5;
  utimesSync(join(dataDir, 'writes-failed'), justNow, justNow);
}

async function activePart({ client }: TestEngine): Promise<string> {
  const query = "SELECT path FROM system.parts WHERE active AND table = 't'";
  const [row] = await rowsOf<{ path: string }>(client, query);
  return row!.path;
}

const nameOf = (path: string) => path.split('/').at(-1);
