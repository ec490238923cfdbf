/** The fault proxy injects the faults that it claims, and repairs them. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { after, before, beforeEach, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../harness/until.ts';
import { type FaultProxy, openBlackHole, openFaultProxy } from './fault-proxy.ts';

let server: Server;
let proxy: FaultProxy;
/** Bytes received by the server. */
let heard = '';

before(async () => {
  server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => {
      heard += chunk.toString();
      socket.write(chunk);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  proxy = await openFaultProxy({ port: (server.address() as { port: number }).port });
});
beforeEach(async () => {
  await proxy.pass();
  heard = '';
});
after(async () => {
  await proxy.close();
  server.close();
});

interface Client {
  readonly socket: Socket;
  answer(): string;
  /** Error code, or how it ended. */
  readonly ended: Promise<string>;
}

function open(port = proxy.port): Client {
  const socket = connect(port, '127.0.0.1');
  let answer = '';
  socket.on('data', (chunk) => (answer += chunk.toString()));
  const ended = new Promise<string>((resolve) => {
    socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    socket.on('close', () => resolve('closed'));
  });
  return { socket, answer: () => answer, ended };
}

test('passes data and the end of stream', async () => {
  const client = open();
  client.socket.end('hello');
  assert.equal(await client.ended, 'closed');
  assert.equal(client.answer(), 'hello');
  await until(() => proxy.connections() === 0, { what: 'the connection to close' });
});

test('holds back one direction and releases it', async () => {
  proxy.hold('down');
  const client = open();
  client.socket.write('hello');
  await until(() => heard === 'hello', { what: 'the server to receive data' });
  proxy.hold('up');
  client.socket.write(' again');
  await sleep(50);
  assert.deepEqual([client.answer(), heard], ['', 'hello']);
  await proxy.pass();
  await until(() => client.answer() === 'hello again', { what: 'all of the answer' });
  client.socket.destroy();
});

test('resets a connection in the middle of data, once', async () => {
  const cut = proxy.cutAfter(3, 'up');
  const client = open();
  client.socket.write('hello');
  assert.equal(await client.ended, 'ECONNRESET');
  await cut;
  await until(() => heard === 'hel', { what: 'the first part to arrive' });
  const next = open();
  next.socket.write('hello');
  await until(() => next.answer() === 'hello', { what: 'the next connection to pass' });
  next.socket.destroy();
});

test('resets open connections, refuses new ones, and comes back on its port', async () => {
  const client = open();
  client.socket.write('hello');
  await until(() => client.answer() === 'hello', { what: 'an answer' });
  await proxy.refuse();
  assert.equal(await client.ended, 'ECONNRESET');
  assert.equal(await open().ended, 'ECONNREFUSED');
  await proxy.pass();
  const next = open();
  next.socket.write('hello');
  await until(() => next.answer() === 'hello', { what: 'another answer' });
  next.socket.destroy();
});

test('resets a connection whose end it is forwarding', async () => {
  const bye = createServer((socket) => socket.on('error', () => undefined).end());
  await once(bye.listen(0, '127.0.0.1'), 'listening');
  const own = await openFaultProxy({ port: (bye.address() as { port: number }).port });
  own.hold('down');
  const socket = connect({ port: own.port, host: '127.0.0.1', allowHalfOpen: true });
  let refused: NodeJS.ErrnoException | undefined;
  socket.resume().on('error', (error) => (refused = error));
  await once(socket, 'connect');
  // Until the end has arrived and is held back.
  await sleep(50);
  await own.pass();
  own.cut();
  const isRefused = () => {
    socket.write('still there?');
    return refused !== undefined;
  };
  await until(isRefused, { what: 'requests to be refused', timeoutMs: 5_000 });
  await own.close();
  bye.close();
});

test('delays between request and response', async () => {
  proxy.delay(40);
  const client = open();
  const began = performance.now();
  client.socket.write('hello');
  await until(() => client.answer() === 'hello', { what: 'an answer', everyMs: 1 });
  assert.ok(performance.now() - began >= 79);
  client.socket.destroy();
});

test('connecting to a black hole times out', async () => {
  const hole = await openBlackHole();
  const client = open(hole.port);
  const ended = await Promise.race([client.ended, sleep(500, 'still connecting')]);
  assert.deepEqual([ended, client.socket.connecting], ['still connecting', true]);
  client.socket.destroy();
  await hole.close();
});
