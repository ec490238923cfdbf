/** What is read of a connection while nothing is stored. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { test, type TestContext } from 'node:test';
import { maxAheadBytes, readAhead } from '../../src/sockets/read-ahead.ts';
import { until } from '../harness/until.ts';

/** More than the kernel buffers. */
const sentBytes = 32 * 1024 * 1024;
const readBytes = 64 * 1024;

async function openPair(t: TestContext): Promise<{ sender: Socket; receiver: Socket }> {
  const server = createServer({ pauseOnConnect: true });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const accepted = once(server, 'connection') as Promise<[Socket]>;
  const { port } = server.address() as { port: number };
  const sender = connect(port, '127.0.0.1').on('error', () => {});
  const [receiver] = await accepted;
  receiver.on('error', () => {});
  t.after(() => {
    sender.destroy();
    receiver.destroy();
  });
  return { sender, receiver };
}

function open(receiver: Socket, maxBytes = Infinity) {
  const closing = new AbortController();
  const held = {
    bytes: 0,
    hold(bytes: number) {
      held.bytes = bytes;
      return bytes <= maxBytes;
    },
    release: () => void held.hold(0),
  };
  return { chunks: readAhead(receiver, closing.signal, held), held, closing };
}

for (const [name, maxBytes, bound] of [
  ['stays within its bound', Infinity, maxAheadBytes],
  ['is a single read when memory has no room', 0, 1],
] as const) {
  test(`what is read ahead ${name}, and nothing is lost`, async (t) => {
    const { sender, receiver } = await openPair(t);
    const { chunks, held } = open(receiver, maxBytes);
    sender.end(Buffer.alloc(sentBytes, 'x'));
    let received = (await chunks.next()).value?.length ?? 0;
    await until(() => held.bytes >= bound, { what: 'what is read ahead' });
    assert.ok(receiver.isPaused());
    assert.ok(held.bytes < bound + readBytes, `${held.bytes} bytes`);
    for await (const { length } of chunks) received += length;
    assert.equal(received, sentBytes);
    assert.equal(held.bytes, 0);
  });
}

test('a stop ends it with what was read before', async (t) => {
  const { sender, receiver } = await openPair(t);
  const { chunks, held, closing } = open(receiver);
  sender.write('first');
  assert.equal(String((await chunks.next()).value), 'first');
  sender.write('second');
  await until(() => held.bytes > 0, { what: 'what is read ahead' });
  closing.abort();
  assert.equal(String((await chunks.next()).value), 'second');
  assert.equal((await chunks.next()).done, true);
});

test('a stop ends it while nothing arrives', async (t) => {
  const { receiver } = await openPair(t);
  const { chunks, closing } = open(receiver);
  const next = chunks.next();
  closing.abort();
  assert.equal((await next).done, true);
});

test('a connection that breaks is an error, after what has arrived', async (t) => {
  const { sender, receiver } = await openPair(t);
  const { chunks, held } = open(receiver);
  sender.write('first');
  assert.equal(String((await chunks.next()).value), 'first');
  sender.write('second');
  await until(() => held.bytes > 0, { what: 'what is read ahead' });
  sender.resetAndDestroy();
  await until(() => receiver.closed, { what: 'the reset' });
  assert.equal(String((await chunks.next()).value), 'second');
  await assert.rejects(chunks.next(), /the connection broke/);
});
