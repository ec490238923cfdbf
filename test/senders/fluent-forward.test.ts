/** Fluent Forward: the npm client in each mode, the shared key, chunks through kills. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { after, before, suite, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { FluentClient, type FluentClientOptions } from '@fluent-org/logger';
import { decode, encode } from '@msgpack/msgpack';
import { until } from '../harness/until.ts';
import {
  closeOf,
  connectTo,
  type SocketService,
  startSocketService,
} from '../sockets/socket-service.ts';
import { freePort } from './program.ts';

const sharedKey = 'forward secret';
let sockets: SocketService;
let port: number;

before(async () => {
  port = await freePort();
  sockets = await startSocketService(['--forward-tcp', `127.0.0.1:${port}`]);
});
after(() => sockets?.service.stop());

const bound = (...more: string[]) =>
  sockets.restart(({ quickstart }) => [
    '--forward-receiver',
    quickstart.receivers.http_json.receiverId,
    ...more,
  ]);

async function stored(serviceName: string, count: number) {
  return until(
    async () => {
      const { logs } = await sockets.service.list({ serviceName, limit: 1000 });
      return logs.length >= count && logs;
    },
    { what: `${count} logs of ${serviceName}` },
  );
}

async function emitWith(options: FluentClientOptions, service: string): Promise<void> {
  const client = new FluentClient('app', {
    ack: {},
    ...options,
    socket: { port, host: '127.0.0.1' },
  });
  const record = { message: 'größer', level: 'warn', service, http: { status: 500 } };
  try {
    await Promise.all([0, 1, 2].map((n) => client.emit('web', { ...record, n })));
  } finally {
    await client.shutdown();
  }
}

test('a listener without a receiver refuses', async () => {
  const socket = await connectTo(port);
  const closed = closeOf(socket);
  socket.write(encode(['app', 0, { message: 'x' }]));
  await closed;
});

suite('the client acknowledges', () => {
  before(() => bound());

  for (const eventMode of [
    'Message',
    'Forward',
    'PackedForward',
    'CompressedPackedForward',
  ] as const) {
    test(eventMode, async () => {
      await emitWith({ eventMode }, eventMode);
      const logs = await stored(eventMode, 3);
      assert.equal(logs.length, 3);
      const [log] = logs;
      assert.equal(log?.message, 'größer');
      assert.equal(log.severity, 'WARN');
      assert.deepEqual({ ...log.labels, n: '' }, { tag: 'app.web', http: '{"status":500}', n: '' });
      assert.ok(Math.abs(Date.parse(log.timestamp) - Date.now()) < 120_000);
    });
  }

  test('bytes that are no MessagePack close the connection', async () => {
    const socket = await connectTo(port);
    const closed = closeOf(socket);
    socket.write(Buffer.from([0xc1]));
    await closed;
  });

  for (const [name, bytes] of [
    ['bytes that are no MessagePack', Uint8Array.of(0xc1)],
    ['a value that is no message', encode('text')],
  ] as const) {
    test(`a message that arrives with ${name} is stored`, async () => {
      const socket = await connectTo(port);
      const closed = closeOf(socket);
      const service = `before ${name}`;
      socket.write(Buffer.concat([encode(['app', 0, { message: 'kept', service }]), bytes]));
      await closed;
      assert.equal((await stored(service, 1)).length, 1);
    });
  }

  test('fields of an unexpected type are stored', async () => {
    const socket = await connectTo(port);
    const record = { message: 'kept', severity: 7, service: 'odd', host: { ip: '::1' }, labels: 1 };
    socket.write(encode(['app', [[0, record]], { chunk: 'odd' }]));
    await once(socket, 'data');
    socket.destroy();
    const [log] = await stored('odd', 1);
    assert.deepEqual(
      [log?.message, log?.severity, log?.labels],
      ['kept', '7', { tag: 'app', 'host.ip': '::1', labels: '1' }],
    );
  });

  test('a long chunk', async () => {
    const socket = await connectTo(port);
    const chunk = 'c'.repeat(70_000);
    let answer: Buffer = Buffer.alloc(0);
    socket.on('data', (bytes: Buffer) => (answer = Buffer.concat([answer, bytes])));
    socket.write(encode(['app', [[0, { message: 'kept', service: 'long' }]], { chunk }]));
    await until(() => answer.length > chunk.length, { what: 'the acknowledgement' });
    assert.deepEqual(decode(answer), { ack: chunk });
    socket.destroy();
  });

  test('the same records with two tags, whose chunk is one, as of Fluent Bit', async () => {
    const socket = await connectTo(port);
    const entries = [[1_795_341_600, { message: 'same', service: 'tags' }]];
    const chunk = 'c9a1b2c3d4e5f60718293a4b5c6d7e8f';
    for (const tag of ['app', 'copy', 'copy']) {
      socket.write(encode([tag, entries, { chunk }]));
      const [answer] = (await once(socket, 'data')) as [Buffer];
      assert.deepEqual(decode(answer), { ack: chunk });
    }
    socket.destroy();
    const tags = (await stored('tags', 2)).map(({ labels }) => labels['tag']);
    assert.equal(tags.length, 2);
    assert.deepEqual(new Set(tags), new Set(['app', 'copy']));
  });

  test('a message without any valid entry is acknowledged and counted as dropped', async () => {
    const dropped = async () =>
      (await sockets.service.metric('weir_socket_messages_dropped_total')) ?? 0;
    const earlier = await dropped();
    const socket = await connectTo(port);
    const tooMany = Object.fromEntries(Array.from({ length: 5000 }, (_, n) => [`label${n}`, n]));
    socket.write(encode(['app', [[0, tooMany]], { chunk: 'no valid entry' }]));
    const [answer] = (await once(socket, 'data')) as [Buffer];
    assert.deepEqual(decode(answer), { ack: 'no valid entry' });
    socket.destroy();
    assert.equal(await dropped(), earlier + 1);
  });
});

suite('chunks', () => {
  const chunks = 120;
  const perChunk = 5;

  /** Sends each chunk until it is acknowledged, as fluentd does. @param from first number */
  async function sendAll(from: number, onAck: (acked: number) => void): Promise<void> {
    let link: Link | undefined;
    for (let n = from; n < from + chunks; n += 1) {
      const entries = Array.from({ length: perChunk }, (_, i) => [
        1_795_341_600 + n,
        { message: `${n}.${i}`, service: 'chunks' },
      ]);
      const bytes = encode(['app', entries, { chunk: `chunk-number-${n}` }]);
      let answer: Buffer | undefined;
      while (answer === undefined) {
        link ??= await open().catch(() => undefined);
        answer = await link?.ask(bytes).catch(() => undefined);
        if (answer !== undefined) break;
        link?.socket.destroy();
        link = undefined;
        await sleep(50);
      }
      assert.deepEqual(decode(answer), { ack: `chunk-number-${n}` });
      onAck(n - from + 1);
    }
    link?.socket.destroy();
  }

  interface Link {
    readonly socket: Socket;
    ask(bytes: Uint8Array): Promise<Buffer>;
  }

  async function open(): Promise<Link> {
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    const broken = new AbortController();
    socket.on('error', () => {}).once('close', () => broken.abort());
    return {
      socket,
      async ask(bytes) {
        socket.write(bytes);
        const [answer] = (await once(socket, 'data', { signal: broken.signal })) as [Buffer];
        return answer;
      },
    };
  }

  test('are stored once each, though Weir is killed and they are sent again', async () => {
    let acked = 0;
    const sent = sendAll(0, (count) => (acked = count));
    for (const at of [chunks / 4, chunks / 2]) {
      await until(() => acked >= at, { what: `${at} acknowledged chunks` });
      await sockets.service.kill('SIGKILL');
      await sockets.service.start();
    }
    await sent;
    // A chunk whose acknowledgement was lost.
    await sendAll(0, () => {});
    const total = chunks * perChunk;
    const logs = await stored('chunks', total);
    assert.equal(logs.length, total);
    assert.equal(new Set(logs.map(({ message }) => message)).size, total);
  });
});

suite('with a shared key', () => {
  before(() => bound('--forward-shared-key', sharedKey));

  test('a client that knows it may send', async () => {
    const security = { clientHostname: 'client', sharedKey };
    await emitWith({ security }, 'keyed');
    assert.equal((await stored('keyed', 3)).length, 3);
  });

  for (const [name, message] of [
    ['a wrong key', ['PING', 'client', 'salt', 'f'.repeat(128), '', '']],
    ['a message before the key', ['app', 0, { message: 'too early' }]],
  ] as const) {
    test(`${name} closes the connection`, async () => {
      const socket = await connectTo(port);
      const [helo] = (await once(socket, 'data')) as [Buffer];
      const [word] = decode(helo) as [string];
      assert.equal(word, 'HELO');
      const closed = closeOf(socket);
      socket.write(encode(message));
      await closed;
    });
  }
});
