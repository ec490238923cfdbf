/** StatsD over TCP, TLS and UDP: what lines add up to is a series, and a stop stores the rest. */
import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { createReceiver } from '../harness/control.ts';
import { readSamples } from '../harness/metrics.ts';
import { until } from '../harness/until.ts';
import {
  closeOf,
  connectTo,
  sendOnce,
  type CertifiedService,
  startCertifiedService,
} from './socket-service.ts';

let sockets: CertifiedService;
before(async () => {
  sockets = await startCertifiedService([
    '--statsd-tcp',
    '127.0.0.1:0',
    '--statsd-udp',
    '127.0.0.1:0',
    '--statsd-tls',
    '127.0.0.1:0',
    '--statsd-max-series',
    '5',
  ]);
});
after(() => sockets?.stop());

async function sendDatagram(text: string): Promise<void> {
  const socket = createSocket('udp4');
  const send = promisify<Buffer, number, string>(socket.send.bind(socket));
  await send(Buffer.from(text), sockets.port('statsd.udp'), '127.0.0.1');
  socket.close();
}

const dropped = async (): Promise<number> =>
  (await sockets.service.metric('weir_socket_messages_dropped_total')) ?? 0;

test('without a receiver lines are refused', async () => {
  const socket = await connectTo(sockets.port('statsd.tcp'));
  const closed = closeOf(socket);
  socket.write('a:1|c\n');
  await closed;
  await sendDatagram('a:1|c');
  await until(async () => (await dropped()) >= 1, { what: 'the dropped datagram' });
});

test('with a receiver lines become series, and those that cannot are counted', async () => {
  await sockets.restart(({ quickstart }) => [
    '--statsd-receiver',
    quickstart.receivers.prometheus.receiverId,
    '--statsd-flush-ms',
    '200',
  ]);
  const tags = '|#env:prod';
  await sendOnce(
    sockets.port('statsd.tcp'),
    [
      `shop.paid:1|c${tags}`,
      `shop.paid:2|c|@0.5${tags}`,
      'bad',
      `${'x'.repeat(9000)}:1|c`,
      'load:1|g',
      'load:+2|g',
    ].join('\n'),
  );
  await sendDatagram(`shop.paid:5|c${tags}\nduration:250|ms\n`);
  const latest = async (name: string, tag: Record<string, string> = {}) =>
    (await readSamples(sockets.service, { __name__: name, ...tag })).at(-1)?.[1];
  await until(async () => (await latest('shop_paid', { env: 'prod' })) === 10, {
    what: 'the sum of both transports',
  });
  assert.equal(await latest('load'), 3);
  assert.equal(await latest('duration', { quantile: '0.99' }), 0.25);
  assert.equal(await latest('duration_count'), 1);
  await until(async () => (await dropped()) === 2, { what: 'two malformed lines' });
  await sendDatagram(Array.from({ length: 10 }, (_, n) => `many:1|c|#n:${n}`).join('\n'));
  await until(async () => (await dropped()) === 2 + 8, { what: 'lines of too many series' });
});

test('over TLS the client certificate names the receiver', async () => {
  const { receiverId } = await createReceiver(sockets.service, { kind: 'prometheus' });
  await sockets.sendSecure('statsd.tls', 'unknown:1|c\n', {});
  await sockets.sendSecure('statsd.tls', 'secure:3|c\n', sockets.issue(receiverId));
  const sumOf = async (name: string) =>
    (await readSamples(sockets.service, { __name__: name })).at(-1)?.[1];
  await until(async () => (await sumOf('secure')) === 3, { what: 'the sum over TLS' });
  assert.equal(await sumOf('unknown'), undefined);
});

test('what was not flushed at a stop is stored', async () => {
  const receiver = sockets.service.quickstart.receivers.prometheus.receiverId;
  await sockets.restart(() => ['--statsd-receiver', receiver, '--statsd-flush-ms', '600000']);
  await sendOnce(sockets.port('statsd.tcp'), 'last:7|c\n');
  await sockets.restart(() => ['--statsd-receiver', receiver]);
  const samples = await until(
    async () => {
      const found = await readSamples(sockets.service, { __name__: 'last' });
      return found.length > 0 && found;
    },
    { what: 'the sample' },
  );
  assert.deepEqual(
    samples.map(([, value]) => value),
    [7],
  );
});
