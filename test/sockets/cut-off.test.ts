/** Senders that are cut off within a message: what was whole is stored once, the rest is not. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { after, before, test } from 'node:test';
import { decode, encode } from '@msgpack/msgpack';
import { until } from '../harness/until.ts';
import { closeOf, connectTo, type SocketService, startSocketService } from './socket-service.ts';

const address = '127.0.0.1:0';
const rounds = 60;

let sockets: SocketService;
before(async () => {
  sockets = await startSocketService(['--syslog-tcp', address, '--forward-tcp', address]);
  await sockets.restart(({ quickstart }) =>
    ['syslog', 'forward'].flatMap((section) => [
      `--${section}-receiver`,
      quickstart.receivers.http_json.receiverId,
    ]),
  );
});
after(() => sockets?.service.stop());

/** Destroys the connection once the bytes are sent. */
async function cutOff(socket: Socket, bytes: Uint8Array | string): Promise<void> {
  const closed = closeOf(socket);
  socket.write(bytes, () => socket.destroy());
  await closed;
}

async function messagesOf(serviceName: string, count: number): Promise<string[]> {
  await until(
    async () => (await sockets.service.facet('service', { serviceName })).total >= count,
    { what: `${count} logs of ${serviceName}` },
  );
  const { logs } = await sockets.service.list({ serviceName, limit: 1000 });
  return logs.map(({ message }) => message).toSorted();
}

test('syslog', async () => {
  const frameOf = (text: string) => {
    const message = `<13>1 - - cut - - - ${text}`;
    return `${message.length} ${message}`;
  };
  const expected: string[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const texts = [0, 1, 2].map((n) => `${round}.${n}`);
    expected.push(...texts);
    const next = frameOf(`${round}.partial`);
    const part = next.slice(0, 1 + (round % (next.length - 1)));
    await cutOff(await connectTo(sockets.port('syslog.tcp')), texts.map(frameOf).join('') + part);
  }
  assert.deepEqual(await messagesOf('cut', expected.length), expected.toSorted());
});

test('Fluent Forward', async () => {
  const expected: string[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const chunk = `cut-off-chunk-${round}`;
    const texts = [0, 1, 2].map((n) => `${round}.${n}`);
    expected.push(...texts);
    const entries = texts.map((message) => [1_795_341_600, { message, service: 'chunked' }]);
    const bytes = encode(['app', entries, { chunk }]);
    const part = bytes.subarray(0, 1 + (round % (bytes.length - 1)));
    await cutOff(await connectTo(sockets.port('forward.tcp')), part);
    // Whole, but its acknowledgement may be lost.
    await cutOff(await connectTo(sockets.port('forward.tcp')), bytes);
    const socket = await connectTo(sockets.port('forward.tcp'));
    socket.write(bytes);
    const [answer] = (await once(socket, 'data')) as [Buffer];
    assert.deepEqual(decode(answer), { ack: chunk });
    await cutOff(socket, part);
  }
  assert.deepEqual(await messagesOf('chunked', expected.length), expected.toSorted());
});
