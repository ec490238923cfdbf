/** Acknowledgements of Fluent Forward that their sender does not read: they do not fill memory. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { test, type TestContext } from 'node:test';
import { encode } from '@msgpack/msgpack';
import { configSchema } from '../../src/config/schema.ts';
import { chunkOf } from '../../src/protocols/json-logs/forward/entries.ts';
import { createForward } from '../../src/protocols/json-logs/forward/forward.ts';
import { answerPing, encodeHelo } from '../../src/protocols/json-logs/forward/handshake.ts';
import {
  encode as encodeReply,
  MessageReader,
} from '../../src/protocols/json-logs/forward/msgpack.ts';
import type { DeliveryParts } from '../../src/sockets/deliver.ts';
import { HeldMemory } from '../../src/sockets/held-bytes.ts';
import { serveForward } from '../../src/sockets/serve-forward.ts';
import { until } from '../harness/until.ts';

const chunk = 'c'.repeat(50_000);
const message = encode(['app', [], { chunk }]);
const ackBytes = encodeReply({ ack: chunk }).length;
/** More than the kernel buffers. */
const messages = 1000;
const maxHeldBytes = 2 * ackBytes;

/** A sender that has sent all messages and reads nothing, and the connection that is served. */
async function openPair(t: TestContext, messageTimeoutMs: number) {
  const server = createServer({ pauseOnConnect: true });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const accepted = once(server, 'connection') as Promise<[Socket]>;
  const sender = connect((server.address() as { port: number }).port, '127.0.0.1');
  sender.on('error', () => {});
  const [served] = await accepted;
  served.on('error', () => {});
  const stop = new AbortController();
  t.after(() => {
    stop.abort();
    sender.destroy();
    served.destroy();
    server.close();
  });
  const cuts: string[] = [];
  let stored = 0;
  const parts = {
    ingest: { ingest: () => Promise.resolve(void (stored += 1)) },
    events: { connectionCut: (_listener: string, reason: string) => cuts.push(reason) },
    partials: new HeldMemory(Infinity),
    ahead: new HeldMemory(Infinity),
    signal: stop.signal,
  } as unknown as DeliveryParts;
  const format = {
    open: () => new MessageReader(1024 * 1024),
    encodeHelo,
    answerPing,
    chunkOf,
    encodeAck: (sent: string) => encodeReply({ ack: sent }),
  };
  const delivery = {
    listener: 'forward_tcp',
    protocol: createForward(configSchema.parse({})),
    binding: { receiverId: 'r' },
    peerAddress: '',
    waitsForQuota: true,
  };
  const options = { format, delivery, sharedKey: undefined, messageTimeoutMs };
  const ended = serveForward(served, stop.signal, options, parts).catch(() => {});
  for (let left = messages; left > 0; left -= 1) sender.write(message);
  return { sender, served, cuts, stop, ended, stored: () => stored };
}

async function isStalled(served: Socket): Promise<void> {
  await until(() => served.writableNeedDrain, { what: 'acknowledgements that are not read' });
}

test('a connection is read no further than its acknowledgements', async (t) => {
  const { sender, served, stored } = await openPair(t, 60_000);
  await isStalled(served);
  assert.ok(stored() < messages, `${stored()} messages`);
  let received = 0;
  sender.on('data', ({ length }: Buffer) => {
    received += length;
    assert.ok(served.writableLength <= maxHeldBytes, `${served.writableLength} bytes`);
  });
  await until(() => received === messages * ackBytes, { what: 'all acknowledgements' });
  assert.equal(stored(), messages);
});

test('a sender that reads none of them in time is cut off', async (t) => {
  const { served, cuts, ended } = await openPair(t, 100);
  await ended;
  assert.ok(served.destroyed);
  assert.deepEqual(cuts, ['timeout']);
});

test('a stop does not wait for a sender that reads none of them', async (t) => {
  const { served, stop, ended } = await openPair(t, 60_000);
  await isStalled(served);
  stop.abort();
  await ended;
});
