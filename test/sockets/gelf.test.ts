/** GELF over TCP and UDP: what arrives, and what is dropped. */
import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { after, before, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { until } from '../harness/until.ts';
import { sendOnce, type SocketService, startSocketService } from './socket-service.ts';

const address = '127.0.0.1:0';
let sockets: SocketService;
before(async () => {
  sockets = await startSocketService(['--gelf-tcp', address, '--gelf-udp', address]);
  await sockets.restart(({ quickstart }) => [
    '--gelf-receiver',
    quickstart.receivers.http_json.receiverId,
  ]);
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
