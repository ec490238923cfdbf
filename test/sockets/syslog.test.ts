/** Syslog over TCP, TLS and UDP: what arrives, to which receiver, and what is refused. */
import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { after, before, suite, test } from 'node:test';
import type { LogRecord } from '../../src/model/plan.ts';
import { createIngestToken, createReceiver } from '../harness/control.ts';
import { until } from '../harness/until.ts';
import {
  closeOf,
  connectTo,
  sendOnce,
  type CertifiedService,
  startCertifiedService,
} from './socket-service.ts';

const address = '127.0.0.1:0';
const maxMessageBytes = 2000;
let sockets: CertifiedService;

before(async () => {
  sockets = await startCertifiedService([
    '--syslog-tcp',
    address,
    '--syslog-udp',
    address,
    '--syslog-tls',
    address,
    '--syslog-max-message-bytes',
    String(maxMessageBytes),
    '--ingest-body-timeout-ms',
    '500',
    '--syslog-time-zone',
    'Europe/Berlin',
  ]);
});
after(() => sockets?.stop());

function stored(search: string, count: number): Promise<readonly LogRecord[]> {
  return until(
    async () => {
      const { logs } = await sockets.service.list({ search });
      assert.ok(logs.length <= count, `${logs.length} logs`);
      return logs.length === count && logs;
    },
    { what: `${count} logs with ${search}` },
  );
}

const dropped = async () =>
  (await sockets.service.metric('weir_socket_messages_dropped_total')) ?? 0;
const cut = async () => (await sockets.service.metric('weir_socket_connections_cut_total')) ?? 0;

suite('a listener without a receiver', () => {
  /** The first run's token, in structured data. */
  const withToken = () => `[weir token="${sockets.service.quickstart.receivers.http_json.token}"]`;

  test('takes the token from the structured data, and stores the rest', async () => {
    const line =
      `<165>1 2026-11-20T10:00:00.123456+01:00 web-1 shop 42 ID47 ` +
      `[a@32473 x="1" y="\\"q\\]"]${withToken()} \ufeffby token, größer`;
    const bytes = Buffer.from(line);
    await sendOnce(
      sockets.port('syslog.tcp'),
      Buffer.concat([Buffer.from(`${bytes.length} `), bytes]),
    );
    const [log] = await stored('"by token"', 1);
    assert.ok(log);
    assert.equal(log.message, 'by token, größer');
    assert.equal(log.severity, 'NOTICE');
    assert.equal(log.host, 'web-1');
    assert.equal(log.serviceName, 'shop');
    assert.equal(log.timestampNanos, '1795165200123456000');
    assert.deepEqual(log.labels, {
      facility: 'local4',
      procid: '42',
      msgid: 'ID47',
      'a@32473.x': '1',
      'a@32473.y': '"q]',
    });
  });

  test('each message names its receiver', async () => {
    const { receiverId } = await createReceiver(sockets.service, { kind: 'http_json' });
    const { token } = await createIngestToken(sockets.service, receiverId);
    const lines = [withToken(), `[weir@32473 token="${token}"]`, withToken()].map(
      (data) => `<14>1 - - - - - ${data} several receivers\n`,
    );
    await sendOnce(sockets.port('syslog.tcp'), lines.join(''));
    const logs = await stored('"several receivers"', 3);
    assert.equal(logs.filter((log) => log.receiverId === receiverId).length, 1);
  });

  for (const [name, line] of [
    ['no token', '<14>1 - - - - - - refused\n'],
    ['a wrong token', '<14>1 - - - - - [weir token="wri_wrong"] refused\n'],
  ] as const) {
    test(`closes a connection with ${name}`, async () => {
      const earlier = await cut();
      await sendOnce(sockets.port('syslog.tcp'), line);
      assert.equal(await cut(), earlier + 1);
      assert.deepEqual((await sockets.service.list({ search: 'refused' })).logs, []);
    });

    test(`drops a datagram with ${name}`, async () => {
      const earlier = await dropped();
      await sendDatagrams([line]);
      await until(async () => (await dropped()) === earlier + 1, { what: 'a counted drop' });
    });
  }
});

async function sendDatagrams(messages: readonly string[]): Promise<void> {
  const socket = createSocket('udp4');
  for (const message of messages) {
    await new Promise((resolve) => {
      socket.send(message, sockets.port('syslog.udp'), '127.0.0.1', resolve);
    });
  }
  socket.close();
}

suite('a client certificate', () => {
  const sendSecure = (line: string, certificate: object) =>
    sockets.sendSecure('syslog.tls', line, certificate);

  test('with the id of a receiver as common name binds it', async () => {
    const { receiverId } = await createReceiver(sockets.service, { kind: 'http_json' });
    await sendSecure('<14>Nov 20 10:00:00 h a: in tls\n', sockets.issue(receiverId));
    const [log] = await stored('"in tls"', 1);
    assert.equal(log?.receiverId, receiverId);
  });

  test('is required once there is an authority', async () => {
    await sendSecure('<14>1 - - - - - - no certificate\n', {});
    await sendSecure('<14>1 - - - - - - other name\n', sockets.issue('web-1'));
    const { logs } = await sockets.service.list({ search: '"no certificate"' });
    assert.deepEqual(
      [...logs, ...(await sockets.service.list({ search: '"other name"' })).logs],
      [],
    );
  });
});

suite('a listener with a receiver', () => {
  before(() =>
    sockets.restart(({ quickstart }) => [
      '--syslog-receiver',
      quickstart.receivers.http_json.receiverId,
      '--tls-client-receivers',
      `web-2=${quickstart.receivers.http_json.receiverId}`,
    ]),
  );

  test('stores lines and counted messages, in order', async () => {
    const lines = Array.from({ length: 3000 }, (_, i) => {
      const line = `<13>1 2026-11-20T10:00:00.${String(i).padStart(6, '0')}Z h ordered - - - n${i}`;
      return i % 3 === 0 ? `${line.length} ${line}` : `${line}\n`;
    });
    await sendOnce(sockets.port('syslog.tcp'), lines.join(''));
    const parameters = { serviceName: 'ordered' };
    await until(async () => (await sockets.service.facet('service', parameters)).total === 3000, {
      what: '3000 logs',
    });
    const { logs } = await sockets.service.list({ ...parameters, limit: 1000 });
    assert.deepEqual(
      logs.map(({ message }) => message),
      Array.from({ length: 1000 }, (_, i) => `n${2999 - i}`),
    );
  });

  test('a time without a zone is of the configured one', async () => {
    const now = new Date();
    const local = now.toLocaleString('en-US', {
      timeZone: 'Europe/Berlin',
      month: 'short',
      day: 'numeric',
      hourCycle: 'h23',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
    });
    const [, month = '', day = '', clock = ''] = /^(\w+) (\d+), (.+)$/.exec(local) ?? [];
    await sendOnce(
      sockets.port('syslog.tcp'),
      `<11>${month} ${day.padStart(2)} ${clock} h a[7]: zoned`,
    );
    const [log] = await stored('zoned', 1);
    const seconds = Math.floor(now.getTime() / 1000) * 1000;
    assert.equal(log?.timestamp, new Date(seconds).toISOString());
    assert.deepEqual([log.host, log.serviceName, log.severity], ['h', 'a', 'ERR']);
    assert.deepEqual(log.labels, { facility: 'user', procid: '7' });
  });

  test('text without a header is kept, with a warning', async () => {
    const warnings = async () => (await sockets.service.metric('weir_ingest_warnings_total')) ?? 0;
    const earlier = await warnings();
    await sendOnce(sockets.port('syslog.tcp'), 'plain text\n12 monkeys\n<999>plain priority\n');
    const [log] = await stored('"plain text"', 1);
    assert.equal(log?.message, 'plain text');
    assert.equal((await stored('"12 monkeys"', 1))[0]?.message, '12 monkeys');
    assert.equal((await stored('"plain priority"', 1))[0]?.message, '<999>plain priority');
    assert.equal(await warnings(), earlier + 3);
  });

  test('a long message is cut, and the next one is whole', async () => {
    const long = `<13>1 - - cut - - - ${'x'.repeat(3 * maxMessageBytes)}`;
    const next = '<13>1 - - cut - - - next';
    await sendOnce(
      sockets.port('syslog.tcp'),
      `${long}\n${next}\n${long.length} ${long}${next.length} ${next}`,
    );
    const logs = await until(
      async () => {
        const page = await sockets.service.list({ serviceName: 'cut' });
        return page.logs.length === 4 && page.logs;
      },
      { what: '4 logs' },
    );
    assert.deepEqual(
      logs.map(({ message }) => message.length).toSorted((a, b) => a - b),
      [4, 4, 1980, 1980],
    );
  });

  test('datagrams are messages', async () => {
    await sendDatagrams(Array.from({ length: 50 }, (_, i) => `<13>Nov 20 10:00:00 u: udp ${i}`));
    const logs = await stored('udp', 50);
    assert.ok(logs.every(({ serviceName, host }) => serviceName === 'u' && host === ''));
  });

  test('datagrams that the kernel drops are counted', async () => {
    const sent = 20_000;
    const earlier = await dropped();
    const socket = createSocket('udp4');
    const text = Buffer.from(`<13>Oct 11 22:14:15 flood: ${'x'.repeat(1000)}`);
    const { pid } = sockets.service.process;
    process.kill(pid, 'SIGSTOP');
    try {
      await Promise.all(
        Array.from({ length: sent }, () => {
          const { promise, resolve, reject } = Promise.withResolvers<void>();
          socket.send(text, sockets.port('syslog.udp'), '127.0.0.1', (error) =>
            error === null ? resolve() : reject(error),
          );
          return promise;
        }),
      );
    } finally {
      process.kill(pid, 'SIGCONT');
      socket.close();
    }
    const inStore = async () =>
      (await sockets.service.facet('service', { serviceName: 'flood' })).total;
    await until(async () => (await inStore()) + (await dropped()) - earlier === sent, {
      what: 'each datagram to be stored or counted',
    });
    assert.ok((await dropped()) > earlier);
  });

  test('a message that never ends does not hold its connection', async () => {
    const earlier = await cut();
    const socket = await connectTo(sockets.port('syslog.tcp'));
    const closed = closeOf(socket);
    socket.write('<13>begun');
    await closed;
    assert.equal(await cut(), earlier + 1);
  });
});
