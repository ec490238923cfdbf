/** GELF over TCP and UDP, and senders that are cut off within a message. */
import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { after, before, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { decode, encode } from '@msgpack/msgpack';
import { until } from '../harness/until.ts';
import {
  closeOf,
  connectTo,
  sendOnce,
  type SocketService,
  startSocketService,
} from './socket-service.ts';

const address = '127.0.0.1:0';
const rounds = 60;

let sockets: SocketService;
before(async () => {
  const listeners = ['gelf-tcp', 'gelf-udp', 'syslog-tcp', 'forward-tcp'];
  sockets = await startSocketService(listeners.flatMap((name) => [`--${name}`, address]));
  await sockets.restart(({ quickstart }) =>
    ['gelf', 'syslog', 'forward'].flatMap((section) => [
      `--${section}-receiver`,
      quickstart.receivers.http_json.receiverId,
    ]),
  );
});
after(() => sockets?.service.stop());

function gelf(message: string, more: object = {}): string {
  const head = { version: '1.1', host: 'web-1', short_message: message, level: 4 };
  return JSON.stringify({ ...head, _service: 'shop', _user: 7, ...more });
}

function stored(search: string, count: number) {
  return until(
    async () => {
      const { logs } = await sockets.service.list({ search, limit: 1000 });
      return logs.length === count && logs;
    },
    { what: `${count} logs with ${search}` },
  );
}

const dropped = async () =>
  (await sockets.service.metric('weir_socket_messages_dropped_total')) ?? 0;

test('messages end with NUL', async () => {
  const messages = Array.from({ length: 200 }, (_, i) => `${gelf(`over tcp ${i}`)}\0`);
  await sendOnce(sockets.port('gelf.tcp'), messages.join(''));
  const [log] = await stored('"over tcp"', 200);
  assert.ok(log);
  const { severity, host, serviceName, labels } = log;
  assert.deepEqual(
    { severity, host, serviceName, labels },
    { severity: 'WARNING', host: 'web-1', serviceName: 'shop', labels: { user: '7' } },
  );
});

test('one that is no JSON is dropped alone, also beside others', async () => {
  const earlier = await dropped();
  await sendOnce(sockets.port('gelf.tcp'), 'broken\0');
  assert.equal(await dropped(), earlier + 1);
  await sendOnce(sockets.port('gelf.tcp'), `broken\0${gelf('beside a broken one')}\0`);
  await stored('"beside a broken one"', 1);
});

test('datagrams: plain, in gzip, in parts', async () => {
  const whole = gzipSync(gelf('in a datagram of parts', { _long: 'x'.repeat(500) }));
  const parts = [0, 1].map((number) => {
    const head = Buffer.from([0x1e, 0x0f, 1, 2, 3, 4, 5, 6, 7, 8, number, 2]);
    return Buffer.concat([head, number === 0 ? whole.subarray(0, 50) : whole.subarray(50)]);
  });
  const odd = [
    [1, 2],
    [5, 6],
  ].map((place) => Buffer.from([0x1e, 0x0f, 9, 9, 9, 9, 9, 9, 9, 9, ...place, 0x7b]));
  const datagrams = [
    // Parts of one id with two counts.
    ...odd,
    Buffer.from(gelf('in a datagram, plain')),
    gzipSync(gelf('in a datagram of gzip')),
    parts[1]!,
    parts[0]!,
  ];
  const socket = createSocket('udp4');
  for (const datagram of datagrams) {
    await new Promise((resolve) => {
      socket.send(datagram, sockets.port('gelf.udp'), '127.0.0.1', resolve);
    });
  }
  socket.close();
  await stored('"in a datagram"', 3);
});

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

test('syslog: what was whole is stored once after a cut-off, the rest is not', async () => {
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

test('Fluent Forward: what was whole is stored once after a cut-off, the rest is not', async () => {
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
