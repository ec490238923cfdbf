/** A store server that is unavailable in every way: outcome and duration of reads and inserts. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { after, before, beforeEach, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { AppError } from '../../src/model/errors.ts';
import { type Connection, openConnection } from '../../src/store/connection.ts';
import { toInsertError, toReadError } from '../../src/store/failures.ts';
import { until } from '../harness/until.ts';
import { type FaultProxy, openBlackHole, openFaultProxy } from './fault-proxy.ts';

/** Answers each request with one row, once permitted. */
let server: Server;
let proxy: FaultProxy;
let mayAnswer = Promise.resolve();
const asked: string[] = [];

before(async () => {
  server = createServer();
  server.on('request', (request, response) => void respond(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  proxy = await openFaultProxy({ port: (server.address() as { port: number }).port });
});
async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://store');
  const body = Buffer.concat(await request.toArray().catch(() => []));
  if (url.pathname !== '/ping') {
    asked.push(url.searchParams.get('query') ?? body.toString());
    await mayAnswer;
  }
  response.end('["1"]\n');
}
beforeEach(async () => {
  await proxy.pass();
  mayAnswer = Promise.resolve();
  asked.length = 0;
});
after(async () => {
  await proxy.close();
  server.close();
});

interface Opened {
  readonly connection: Connection;
  /** Log lines about the server. */
  readonly said: readonly string[];
}

function open(t: { after(work: () => Promise<void>): void }, url: string): Opened {
  const said: string[] = [];
  const times = {
    readTimeoutMs: 60_000,
    insertTimeoutMs: 60_000,
    housekeepingTimeoutMs: 60_000,
    maxConcurrentReads: 32,
  };
  const connection = openConnection(
    { url, socketPath: undefined, user: 'default', password: '', ...times },
    {
      storeUnreachable: () => said.push('away'),
      storeReachable: () => said.push('back'),
      readBegan: () => undefined,
    },
  );
  t.after(() => connection.close());
  return { connection, said };
}

const proxyUrl = (scheme = 'http') => `${scheme}://127.0.0.1:${proxy.port}`;
const one = { sql: 'SELECT 1', params: {} };
const insertOne = { sql: 'INSERT INTO t FORMAT CSV', params: {}, queryId: undefined };

const asker = { accountId: 'account' };
const read = (connection: Connection) => connection.read(one, asker).then(rows, readFailure);
const insert = (connection: Connection) =>
  connection.insert(insertOne, [Buffer.from('1\n')]).then(
    () => 'stored',
    (error: unknown) => toInsertError(error).failure,
  );

function rows(answer: unknown): unknown {
  return answer;
}

function readFailure(error: unknown): string {
  const { code, retryAfterSeconds = 0 } = toReadError(error);
  return retryAfterSeconds > 0 ? `${code}, try again` : code;
}

test('a server that refuses is unavailable at once, and recovers', async (t) => {
  const { connection, said } = open(t, proxyUrl());
  assert.deepEqual(await read(connection), [['1']]);
  await proxy.refuse();
  assert.equal(await read(connection), 'unavailable, try again');
  assert.equal(await insert(connection), 'unavailable');
  assert.deepEqual(said, ['away']);
  await proxy.pass();
  await until(() => said.length === 2, { what: 'the recovery to be logged' });
  assert.deepEqual(said, ['away', 'back']);
  assert.deepEqual(await read(connection), [['1']]);
});

test('a host that drops packets times out once, then fails fast', async (t) => {
  const hole = await openBlackHole();
  t.after(() => hole.close());
  const { connection, said } = open(t, `http://127.0.0.1:${hole.port}`);
  assert.equal(await insert(connection), 'unavailable');
  assert.deepEqual(said, ['away']);
  await isRefusedAtOnce(connection);
});

test('so does a server that never begins TLS', async (t) => {
  const { connection, said } = open(t, proxyUrl('https'));
  proxy.hold();
  assert.equal(await insert(connection), 'unavailable');
  assert.deepEqual(said, ['away']);
  await isRefusedAtOnce(connection);
});

test('a hanging server is detected by waiting requests, and recovers', async (t) => {
  const { connection, said } = open(t, proxyUrl());
  assert.deepEqual(await read(connection), [['1']]);
  proxy.hold();
  const inserted = insert(connection);
  const reads = await Promise.all([read(connection), read(connection)]);
  assert.deepEqual(reads, ['unavailable, try again', 'unavailable, try again']);
  await isRefusedAtOnce(connection);
  await proxy.pass();
  assert.equal(await inserted, 'stored');
  await until(() => said.length === 2, { what: 'the recovery to be logged' });
  assert.deepEqual(said, ['away', 'back']);
  assert.deepEqual(await read(connection), [['1']]);
});

test('waits for a slow query on a live server', async (t) => {
  const { connection, said } = open(t, proxyUrl());
  const { promise, resolve } = Promise.withResolvers<void>();
  mayAnswer = promise;
  const slow = read(connection);
  // Longer than the detection of a hanging server.
  await sleep(4_000);
  resolve();
  assert.deepEqual(await slow, [['1']]);
  assert.deepEqual(said, []);
});

test('a cut connection leaves an insert unknown', async (t) => {
  const { connection, said } = open(t, proxyUrl());
  await proxy.pass();
  const { promise, resolve } = Promise.withResolvers<void>();
  mayAnswer = promise;
  const inserted = insert(connection);
  await until(() => asked.length === 1, { what: 'the insert to be received' });
  proxy.cut();
  assert.equal(await inserted, 'unknown');
  resolve();
  assert.deepEqual(said, []);
});

/** Asserts that a read and an insert are refused at once, without any bytes sent. */
async function isRefusedAtOnce(connection: Connection): Promise<void> {
  const sent = proxy.passed('up');
  const refused = connection.read(one, asker);
  const first = await Promise.race([
    refused.catch((error: unknown) => error),
    new Promise(setImmediate),
  ]);
  assert.ok(first instanceof AppError, 'the read was not refused at once');
  assert.equal(first.code, 'unavailable');
  assert.equal(await insert(connection), 'unavailable');
  assert.equal(proxy.passed('up'), sent);
}
