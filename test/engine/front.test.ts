/**
 * The engine over TCP: forwards requests and responses unchanged, and a truncated response never
 * looks complete.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import {
  Agent,
  createServer,
  type IncomingMessage,
  request as openRequest,
  type ServerResponse,
} from 'node:http';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { ClickHouseError, ClickHouseLogLevel, createClient } from '@clickhouse/client';
import {
  type EngineFront,
  type EngineFrontOptions,
  openEngineFront,
} from '../../src/engine/front.ts';
import { toInsertError, toReadError } from '../../src/store/failures.ts';
import {
  createEngineFrontEvents,
  type EngineFrontOutcome,
} from '../../src/telemetry/store-events.ts';
import { createInstruments } from '../../src/telemetry/instruments.ts';
import { type Cleanup, openTestEngine, rowsOf, temporaryFolder, until } from './harness.ts';

const secret = { user: 'weir', password: 'secret' };
const local: EngineFrontOptions = { host: '127.0.0.1', port: 0, ...secret };

interface Opened {
  readonly front: EngineFront;
  readonly outcomes: readonly EngineFrontOutcome[];
}

async function openFront(
  t: Cleanup,
  engine: Parameters<typeof openEngineFront>[0],
  options = local,
): Promise<Opened> {
  const outcomes: EngineFrontOutcome[] = [];
  const events = {
    ...createEngineFrontEvents(createInstruments('silent')),
    served: (outcome: EngineFrontOutcome) => void outcomes.push(outcome),
  };
  const front = await openEngineFront(engine, options, events);
  t.after(() => front.close());
  return { front, outcomes };
}

function clientOn(t: Cleanup, { port }: EngineFront, access = secret) {
  const client = createClient({
    url: `http://127.0.0.1:${port}`,
    username: access.user,
    password: access.password,
    use_multipart_params_auto: true,
    http_headers: { 'X-Weir-Pool': 'insert' },
    log: { level: ClickHouseLogLevel.OFF },
  });
  t.after(() => client.close());
  return client;
}

type Handler = (request: IncomingMessage, response: ServerResponse) => unknown;

/** A fake engine on the engine's socket. */
async function openFakeEngine(t: Cleanup, handler: Handler) {
  const socketPath = join(await temporaryFolder(t), 'engine.sock');
  const server = createServer({ maxHeaderSize: 8 * 2 ** 20 });
  server.on('request', handler).listen(socketPath);
  await once(server, 'listening');
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  return { socketPath, ready: () => true, server };
}

function post({ port }: EngineFront, path = '/') {
  const authorization = `Basic ${Buffer.from('weir:secret').toString('base64')}`;
  const headers = { authorization, 'x-weir-pool': 'insert' };
  return openRequest({ port, host: '127.0.0.1', path, method: 'POST', agent: false, headers });
}

test('forwards queries, rows and parameters to a real engine', async (t) => {
  const { engine } = await openTestEngine(t);
  const { front } = await openFront(t, engine);
  const client = clientOn(t, front);
  await client.command({ query: 'CREATE TABLE t (a UInt64) ENGINE = MergeTree ORDER BY a' });
  const rows = Array.from({ length: 20_000 }, (_, a) => ({ a }));
  await client.insert({ table: 't', values: Readable.from(rows), format: 'JSONEachRow' });
  assert.deepEqual(await rowsOf(client, 'SELECT count() AS n FROM t'), [{ n: 20_000 }]);
  const long = Array.from({ length: 100_000 }, (_, index) => index);
  const answer = await client.query({
    query: 'SELECT count() AS n FROM t WHERE a IN {long:Array(UInt64)}',
    query_params: { long },
    format: 'JSONEachRow',
  });
  assert.deepEqual(await answer.json(), [{ n: 20_000 }]);
  assert.deepEqual(await client.ping(), { success: true });
  await assert.rejects(client.command({ query: 'SELECT nothing' }), { code: '47' });
});

test('forwards headers, body and answer unchanged', async (t) => {
  const seen: { url: string; pool: unknown; password: unknown; body: string }[] = [];
  const engine = await openFakeEngine(t, async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString();
    const { authorization, 'x-weir-pool': pool } = request.headers;
    seen.push({ url: request.url ?? '', pool, password: authorization, body });
    response.writeHead(418, { 'X-ClickHouse-Summary': '{}' }).end('answer');
  });
  const { front } = await openFront(t, engine);
  const url = `/?query=SELECT+1&param_long=${'x'.repeat(2 ** 20)}`;
  const sent = post(front, url);
  sent.write('one ');
  sent.end('two');
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  assert.equal(answer.statusCode, 418);
  assert.equal(answer.headers['x-clickhouse-summary'], '{}');
  assert.equal(Buffer.concat(await answer.toArray()).toString(), 'answer');
  assert.deepEqual(seen, [{ url, pool: 'insert', password: undefined, body: 'one two' }]);
});

test('applies back-pressure in both directions', async (t) => {
  const bytes = 64 * 2 ** 20;
  const chunk = Buffer.alloc(2 ** 20, 'x');
  let written = 0;
  const engine = await openFakeEngine(t, (_request, response) => {
    const source = Readable.from(
      (function* () {
        for (; written < bytes; written += chunk.length) yield chunk;
      })(),
      { highWaterMark: 1 },
    );
    source.pipe(response);
  });
  const { front } = await openFront(t, engine);
  const sent = post(front);
  sent.end();
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  let last = -1;
  await until(() => written > 0 && last === (last = written));
  assert.ok(written < bytes, `all ${bytes} bytes are buffered`);
  let read = 0;
  for await (const part of answer) read += (part as Buffer).length;
  assert.equal(read, bytes);
});

test('disconnects from the engine when the client disconnects', async (t) => {
  const closed = Promise.withResolvers<void>();
  const arrived = Promise.withResolvers<void>();
  const engine = await openFakeEngine(t, (request, response) => {
    request.resume();
    arrived.resolve();
    response.on('close', () => closed.resolve());
  });
  const { front, outcomes } = await openFront(t, engine);
  const sent = post(front);
  sent.on('error', () => undefined).end();
  await arrived.promise;
  sent.destroy();
  await closed.promise;
  await until(() => outcomes.length === 1);
  assert.deepEqual(outcomes, ['left']);
});

test('does not complete the body of a client that disconnects', async (t) => {
  const failed = Promise.withResolvers<string>();
  const engine = await openFakeEngine(t, (request) => {
    request.on('error', (error: NodeJS.ErrnoException) => failed.resolve(error.code ?? ''));
    request.on('end', () => failed.resolve('ended well'));
    request.once('data', () => sent.destroy());
  });
  const { front } = await openFront(t, engine);
  const sent = post(front);
  sent.on('error', () => undefined).write('half a row');
  assert.equal(await failed.promise, 'ECONNRESET');
});

for (const [name, handler] of Object.entries({
  'before the answer': (request) => request.socket.destroy(),
  'in the middle of it': (request, response) => {
    response.write('half an answer', () => request.socket.destroy());
  },
} satisfies Record<string, Handler>)) {
  test(`an engine that dies ${name} breaks the connection`, async (t) => {
    const engine = await openFakeEngine(t, handler);
    const { front, outcomes } = await openFront(t, engine);
    const client = clientOn(t, front);
    const insert = client.exec({ query: 'INSERT INTO t VALUES (1)' });
    const error: unknown = await insert.then(
      ({ stream }) => stream.toArray().then(unexpected, (broken: unknown) => broken),
      (broken: unknown) => broken,
    );
    assert.ok(!(error instanceof ClickHouseError), String(error));
    assert.equal(toInsertError(error).failure, 'unknown');
    await until(() => outcomes.length === 1);
    assert.deepEqual(outcomes, ['broken']);
  });
}

test('answers 503 while the engine starts', async (t) => {
  const socketPath = join(await temporaryFolder(t), 'nothing.sock');
  for (const isReady of [false, true]) {
    const { front } = await openFront(t, { socketPath, ready: () => isReady });
    const client = clientOn(t, front);
    const values = Readable.from([Buffer.alloc(2 ** 20)], { objectMode: false });
    const insert = client.exec({ query: 'INSERT INTO t FORMAT Native', values });
    const error: unknown = await insert.then(unexpected, (refused: unknown) => refused);
    assert.ok(error instanceof ClickHouseError, String(error));
    assert.equal(toInsertError(error).failure, 'unavailable');
    assert.equal(toReadError(error).code, 'unavailable');
    const { success } = await client.ping();
    assert.equal(success, false);
  }
});

test('authenticates before it forwards anything', async (t) => {
  const engine = await openFakeEngine(t, () => assert.fail('passed on'));
  const { front, outcomes } = await openFront(t, engine);
  const client = clientOn(t, front, { user: 'weir', password: 'guess' });
  await assert.rejects(client.command({ query: 'SELECT 1' }), { code: '516' });
  assert.deepEqual(outcomes, ['denied']);
  for (const path of ['/heartbeat', '/play', '//']) {
    const sent = post(front, path);
    sent.end();
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    assert.equal(answer.resume().statusCode, 404);
  }
});

test('requires a password for any address but loopback', async () => {
  const engine = { socketPath: '/nowhere', ready: () => false };
  const events = createEngineFrontEvents(createInstruments('silent'));
  const open = openEngineFront(engine, { ...local, host: '', password: '' }, events);
  await assert.rejects(open, /^Error: cannot serve the engine on all addresses .*store\.password/);
});

test('explains a port that is in use', async (t) => {
  const engine = { socketPath: '/nowhere', ready: () => false };
  const { front } = await openFront(t, engine);
  const events = createEngineFrontEvents(createInstruments('silent'));
  const open = openEngineFront(engine, { ...local, port: front.port }, events);
  await assert.rejects(open, /cannot serve the engine on 127\.0\.0\.1:\d+: EADDRINUSE; set engine/);
});

test('answers running requests and refuses new ones while it closes', async (t) => {
  const running = Promise.withResolvers<ServerResponse>();
  const engine = await openFakeEngine(t, (_request, response) => running.resolve(response));
  const { front } = await openFront(t, engine);
  const agent = new Agent({ keepAlive: true });
  t.after(() => agent.destroy());
  const sent = openRequest({ ...requestOptions(front), agent });
  sent.end();
  const response = await running.promise;
  const closed = front.close();
  const late = post(front);
  late.end();
  const [error] = (await once(late, 'error')) as [NodeJS.ErrnoException];
  assert.equal(error.code, 'ECONNREFUSED');
  response.end('done');
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  assert.equal(Buffer.concat(await answer.toArray()).toString(), 'done');
  await closed;
});

function unexpected(): never {
  assert.fail('it was answered');
}

function requestOptions({ port }: EngineFront) {
  const headers = { 'x-clickhouse-user': 'weir', 'x-clickhouse-key': 'secret' };
  return { port, host: '127.0.0.1', path: '/?query=SELECT+1', headers };
}
