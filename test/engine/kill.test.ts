/** `KILL QUERY … SYNC` fences inserts: once it answers, no selected insert can take effect. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type IncomingMessage, request as openRequest } from 'node:http';
import { before, test } from 'node:test';
import type { ClickHouseError } from '@clickhouse/client';
import { countOf, openTestEngine, rowsOf, type TestEngine, until } from './harness.ts';

let at: TestEngine;
before(async (t) => {
  at = await openTestEngine(t as never);
  await at.client.command({ query: 'CREATE TABLE t (a UInt64) ENGINE = MergeTree ORDER BY a' });
});

interface Killed {
  readonly kill_status: string;
  readonly query_id: string;
  readonly query: string;
}

const kill = (condition: string) => rowsOf<Killed>(at.client, `KILL QUERY WHERE ${condition}`);
const running = (id: string) => kill(`query_id = '${id}' TEST`);

function insertRows(id: string, rows: number): Promise<unknown> {
  const query = `INSERT INTO t SELECT sipHash64(number) FROM numbers(${rows})`;
  return at.client.command({ query, query_id: id }).then(
    () => 'stored',
    (error: unknown) => (error as ClickHouseError).code,
  );
}

test('a killed insert has ended when the kill answers', async () => {
  const insert = insertRows('run-1', 10_000_000_000);
  await until(async () => (await countOf(at.client, 't')) > 0);
  const killed = await kill("startsWith(query_id, 'run-') SYNC");
  assert.deepEqual(
    killed.map(({ kill_status, query_id }) => [kill_status, query_id]),
    [['finished', 'run-1']],
  );
  const count = await countOf(at.client, 't');
  assert.equal(await insert, '394');
  assert.equal(await countOf(at.client, 't'), count);
  assert.deepEqual(await running('run-1'), []);
  const listed = 'SELECT query FROM system.processes WHERE is_cancelled';
  assert.deepEqual(await rowsOf(at.client, listed), []);
});

test('kills an insert that chDB has just received', async () => {
  for (let round = 0; round < 20; round++) {
    const insert = insertRows(`new-${round}`, 10_000_000_000);
    await until(async () => (await running(`new-${round}`)).length === 1);
    await kill(`query_id = 'new-${round}' SYNC`);
    assert.equal(await insert, '394');
  }
});

test('does not run a killed insert that waited', async () => {
  const first = insertRows('turn-1', 10_000_000_000);
  await until(async () => (await running('turn-1')).length === 1);
  const second = insertRows('turn-2', 1);
  await until(async () => (await running('turn-2')).length === 1);
  const [killed] = await kill("query_id = 'turn-2' SYNC");
  assert.equal(killed?.query, 'INSERT INTO t SELECT sipHash64(number) FROM numbers(1)');
  assert.equal(await second, '394');
  await kill("query_id = 'turn-1' SYNC");
  assert.equal(await first, '394');
});

test('does not start a killed insert whose data still arrive', async () => {
  await at.client.command({ query: 'TRUNCATE TABLE t' });
  const query = encodeURIComponent('INSERT INTO t FORMAT CSV');
  const path = `/?query_id=late-1&query=${query}`;
  const { socketPath } = at.engine;
  const sent = openRequest({ socketPath, path, method: 'POST', agent: false });
  sent.write('1\n');
  await until(async () => (await running('late-1')).length === 1);
  const killed = await kill("query_id = 'late-1' SYNC");
  assert.equal(killed.length, 1);
  sent.end('2\n');
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  const body = Buffer.concat(await response.toArray());
  assert.match(body.toString(), /^Code: 394\./);
  assert.equal(await countOf(at.client, 't'), 0);
});

test('selects by log_comment, and does not match its own text', async () => {
  const query = 'INSERT INTO t SELECT sipHash64(number) FROM numbers(10000000000)';
  const settings = { log_comment: "shard's 1" };
  const insert = at.client.command({ query, clickhouse_settings: settings }).catch(String);
  const named = "Settings['log_comment'] = 'shard\\'s 1'";
  await until(async () => (await kill(`${named} TEST`)).length === 1);
  assert.deepEqual(await kill("query LIKE '%nothing like it%' SYNC"), []);
  assert.equal((await kill(`${named} SYNC`)).length, 1);
  await insert;
});

test('answers nothing when nothing matches, and rejects unknown columns', async () => {
  assert.deepEqual(await kill("query_id = 'none' SYNC"), []);
  await assert.rejects(kill('nothing = 1 OR elapsed > 0 OR 1 SYNC'), { code: '47' });
});
