/** Messages without an end, on the listeners of protocols without HTTP: memory stays bounded. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { until } from '../harness/until.ts';
import {
  closeOf,
  connectTo,
  type SocketService,
  startSocketService,
} from '../sockets/socket-service.ts';
import { memoryBytes, watch } from './watch.ts';

const address = '127.0.0.1:0';
const mebibyte = 1024 * 1024;
const chunk = (text: string) => Buffer.alloc(mebibyte, text);
/** Endless messages are cut: more is sent than memory may grow. Short ones cost time. */
const sentBytes = { long: 512 * mebibyte, short: 16 * mebibyte };
const connections = 4;
/** Of all connections: what is in flight of each, and garbage of them until it is collected. */
const maxGrowthBytes = 256 * mebibyte;

interface Flood {
  readonly name: string;
  readonly setting: string;
  readonly head: Buffer;
  readonly body: Buffer;
  readonly isShort?: true;
}

const str32 = Buffer.from([0x93, 0xa1, 0x61, 0xdb, 0xff, 0xff, 0xff, 0xff]);

const floods: readonly Flood[] = [
  { name: 'a line of syslog', setting: 'syslog.tcp', head: Buffer.from('<13>'), body: chunk('x') },
  {
    name: 'a message of syslog that says 999 MB',
    setting: 'syslog.tcp',
    head: Buffer.from('999999999 <13>'),
    body: chunk('x'),
  },
  {
    name: 'empty lines of syslog',
    setting: 'syslog.tcp',
    head: Buffer.alloc(0),
    body: chunk('\n'),
    isShort: true,
  },
  { name: 'a message of GELF', setting: 'gelf.tcp', head: Buffer.from('{"a":"'), body: chunk('x') },
  {
    name: 'empty messages of GELF',
    setting: 'gelf.tcp',
    head: Buffer.alloc(0),
    body: chunk('\0'),
    isShort: true,
  },
  { name: 'a line of StatsD', setting: 'statsd.tcp', head: Buffer.from('a:'), body: chunk('1') },
  {
    name: 'lines of StatsD',
    setting: 'statsd.tcp',
    head: Buffer.alloc(0),
    body: chunk('a:1|c\n'),
    isShort: true,
  },
  { name: 'a text of Forward', setting: 'forward.tcp', head: str32, body: chunk('x') },
  {
    name: 'an array of Forward of arrays',
    setting: 'forward.tcp',
    head: Buffer.alloc(0),
    body: chunk('\x91'),
  },
];

suite('messages without an end', { skip: process.platform !== 'linux' && 'it needs /proc' }, () => {
  let sockets: SocketService;
  let idleBytes = 0;
  before(async () => {
    const sections = ['syslog', 'gelf', 'forward', 'statsd'];
    sockets = await startSocketService(sections.flatMap((name) => [`--${name}-tcp`, address]));
    await sockets.restart(({ quickstart: { receivers } }) =>
      sections.flatMap((name) => {
        const kind = name === 'statsd' ? 'prometheus' : 'http_json';
        return [`--${name}-receiver`, receivers[kind].receiverId];
      }),
    );
    idleBytes = residentBytes();
  });
  after(() => sockets?.service.stop());

  const residentBytes = () => memoryBytes(sockets.service.process.pid, 'VmRSS');

  /** Ends when all is sent, or when Weir closes the connection. */
  async function send({ setting, head, body, isShort }: Flood): Promise<void> {
    const socket = await connectTo(sockets.port(setting));
    let isClosed = false;
    const closed = closeOf(socket).then(() => (isClosed = true));
    socket.write(head);
    const bytes = sentBytes[isShort ? 'short' : 'long'] / connections;
    for (let sent = 0; sent < bytes && !isClosed; sent += body.length) {
      const written = new Promise((resolve) => socket.write(body, resolve));
      await Promise.race([written, closed]);
    }
    socket.destroy();
    await closed;
  }

  for (const flood of floods) {
    test(flood.name, async () => {
      const beforeBytes = residentBytes();
      const { peakBytes, pings } = await watch(sockets.service, () =>
        Promise.all(Array.from({ length: connections }, () => send(flood))),
      );
      assert.deepEqual([...pings.keys()], [202], 'each small request must be accepted');
      const growth = peakBytes - beforeBytes;
      assert.ok(growth <= maxGrowthBytes, `memory grew by ${growth} bytes`);
      await until(async () => (await sockets.service.metric('weir_socket_connections')) === 0, {
        what: 'the connections to be closed',
      });
    });
  }

  test('memory is released', async () => {
    await until(
      async () => {
        // Garbage is collected only under some load.
        await sockets.service.postLogs({ message: 'ping' });
        return residentBytes() - idleBytes <= maxGrowthBytes;
      },
      { what: 'memory to be released' },
    );
  });
});
