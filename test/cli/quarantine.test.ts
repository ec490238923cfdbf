/** `weir quarantine` on the data directory of a real service: quarantined, retried, stored once. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { text as readText } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import { run } from '../../src/cli/program.ts';
import { type Service, startService } from '../harness/service.ts';
import { until } from '../harness/until.ts';
import { captureTerminal } from './captured-terminal.ts';

let service: Service;
before(async () => {
  service = await startService({
    expectedErrors: [/drain quarantined a batch/, /insert/],
  });
});
after(() => service.stop());

async function weir(...argv: readonly string[]) {
  const terminal = captureTerminal();
  const code = await run(['quarantine', ...argv, '--data', service.dataDir], terminal);
  return { code, out: terminal.out(), error: terminal.error() };
}

interface Listed {
  readonly id: string;
  readonly rows: number;
  readonly receiverId: string;
  readonly retry: string;
  readonly reason: string;
}

async function list(): Promise<Listed[]> {
  const { code, out, error } = await weir('list', '--json');
  assert.equal(code, 0, error);
  return (JSON.parse(out) as { batches: Listed[] }).batches;
}

/** Runs a statement in the service's engine. @returns its answer */
async function sql(statement: string): Promise<string> {
  const socketPath = join(service.dataDir, 'engine', 'engine.sock');
  const asked = request({ socketPath, method: 'POST', path: '/' }).end(statement);
  const [answer] = (await once(asked, 'response')) as [IncomingMessage];
  const body = await readText(answer);
  assert.equal(answer.statusCode, 200, body);
  return body;
}

const messages = async () => (await service.list()).logs.map(({ message }) => message).sort();

/** A request of two logs that the store refuses while `refuseBad` is set. */
async function sendBad(name: string): Promise<void> {
  const events = [`${name} bad`, `${name} with it`].map((message) => ({ message }));
  assert.equal((await service.postLogs(events)).status, 202);
}

/** Changes the table, so that a text cannot be converted to a number. */
const refuseBad = () =>
  sql(
    "ALTER TABLE weir.logs ADD COLUMN Probe UInt8 DEFAULT toUInt8(if(Body LIKE '% bad', 'x', '1'))",
  );
const takeBad = () => sql('ALTER TABLE weir.logs DROP COLUMN Probe');

/** Simulates a store that kept the first log of a refused batch. */
async function landFirstRow(id: string): Promise<void> {
  const [writer, sequence] = id.split('-') as [string, string];
  const batch = (BigInt(`0x${writer}`) << 64n) | BigInt(sequence);
  const { accountId, streamId } = service.quickstart;
  await sql(`INSERT INTO weir.logs (Timestamp, ReceivedAt, AccountId, StreamId, Batch, Row, Body)
SELECT now64(9), now64(9), '${accountId}', '${streamId}', toUInt128('${batch}'), 0, 'first bad'`);
  // Its service learns of it at the next start.
  assert.equal(await sql('SELECT Body FROM weir.logs FORMAT TSV'), 'first bad\n');
}

test('lists a refused batch; the next start stores it unless dropped', async () => {
  assert.deepEqual(await list(), []);
  await refuseBad();
  for (const [index, name] of ['first', 'second'].entries()) {
    await sendBad(name);
    const isAside = async () => (await list()).length === index + 1;
    await until(isAside, { what: `the ${name} batch to be quarantined` });
  }
  const [first, second] = (await list()) as [Listed, Listed];
  assert.equal(first.rows, 2);
  assert.equal(first.receiverId, service.quickstart.receivers.http_json.receiverId);
  assert.match(first.reason, /cannot store these rows: the store returned 6 /);
  assert.deepEqual(await messages(), []);
  await takeBad();
  await landFirstRow(first.id);
  for (const change of ['retry', 'drop']) {
    const { code, error } = await weir(change, '--all');
    assert.equal(code, 1);
    assert.match(
      error,
      /cannot change the quarantine while a service or a backup works on it: .*stop it/,
    );
  }

  await service.kill('SIGKILL');
  const wrong = await weir('drop', 'nothing-1');
  assert.deepEqual([wrong.code, /cannot find nothing-1/.test(wrong.error)], [1, true]);
  assert.match((await weir('drop', second.id)).out, new RegExp(`dropped ${second.id}`));
  assert.match(
    (await weir('retry', '--all')).out,
    /retried .*\nthey are stored when the service starts/,
  );
  assert.deepEqual(
    (await list()).map(({ id, retry }) => [id, retry]),
    [[first.id, 'next start']],
  );
  await service.start();
  await until(async () => (await list()).length === 0, { what: 'the quarantine to be empty' });
  assert.deepEqual(await messages(), ['first bad', 'first with it']);
  assert.equal(await service.metric('weir_queue_quarantined_batches'), 0);
});

test('without an id, --all or a data directory it names the missing option', async () => {
  assert.deepEqual(await weir('retry').then(({ code, error }) => [code, /--all/.test(error)]), [
    2,
    true,
  ]);
  assert.equal((await weir('drop', '--all', 'some-id')).code, 2);
  const terminal = captureTerminal();
  assert.equal(await run(['quarantine', 'list', '--data', '/nowhere'], terminal), 1);
  assert.match(terminal.error(), /cannot find \/nowhere/);
});
