/**
 * rsyslog sends as its page says: over TLS with a certificate or a token, over UDP. So do logger
 * and Python.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, suite, test } from 'node:test';
import { promisify } from 'node:util';
import { type ClientAuthority, createClientAuthority } from '../harness/client-authority.ts';
import { until } from '../harness/until.ts';
import { type SocketService, startSocketService } from '../sockets/socket-service.ts';
import { blocksOf, readPages } from './pages.ts';
import { findProgram, freePort, missing, type Program, startProgram } from './program.ts';

const run = promisify(execFile);
const count = 300;

const page = readPages().find(({ path }) => path === 'docs/senders/syslog.md');
assert.ok(page);
const blocks = blocksOf(page);
const configs = blocks.filter(({ language }) => language === 'rsyslog').map(({ text }) => text);
const loggers = blocks.filter(({ text }) => text.startsWith('logger ')).map(({ text }) => text);

let sockets: SocketService;
let folder: string;
let authority: ClientAuthority;
let ports: Readonly<Record<'tls' | 'tcp' | 'udp', number>>;

suite('rsyslog', { skip: missing('rsyslogd', 'rsyslog-openssl') }, () => {
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'weir-rsyslog-'));
    authority = createClientAuthority(folder);
    ports = { tls: await freePort(), tcp: await freePort(), udp: await freePort() };
    sockets = await startSocketService(
      Object.entries(ports).flatMap(([name, port]) => [`--syslog-${name}`, `127.0.0.1:${port}`]),
    );
  });
  after(async () => {
    rmSync(folder, { recursive: true, force: true });
    await sockets?.service.stop();
  });

  /** Starts rsyslog with an action of the page, and a socket for `logger`. */
  async function startRsyslog(name: string, config: string): Promise<Program & { file: string }> {
    const { quickstart } = sockets.service;
    const { receiverId, token } = quickstart.receivers.http_json;
    const own = join(folder, name);
    mkdirSync(own);
    const { certFile, keyFile } = authority.issue(receiverId);
    const action = config
      .replaceAll('weir.example.com', 'localhost')
      .replaceAll('"6514"', `"${ports.tls}"`)
      .replaceAll('"514"', `"${ports.udp}"`)
      .replaceAll('/var/spool/rsyslog', own)
      .replaceAll('/etc/weir/ca.pem', quickstart.caFile)
      .replaceAll('/etc/weir/client.pem', certFile)
      .replaceAll('/etc/weir/client-key.pem', keyFile)
      .replaceAll('TOKEN', token);
    const socket = join(own, 'log');
    const file = join(own, 'rsyslog.conf');
    writeFileSync(
      file,
      'module(load="imuxsock" SysSock.Use="off")\n' +
        `input(type="imuxsock" Socket="${socket}" RateLimit.Interval="0")\n${action}`,
    );
    const program = startProgram('rsyslogd', ['-n', '-f', file, '-i', join(own, 'pid')]);
    running.push(program);
    // What is logged while rsyslog starts may be lost in it.
    await until(
      async () => {
        await run('logger', ['--socket', socket, '--tag', `${name}-begins`, 'x']).catch(() => {});
        const serviceName = `${name}-begins`;
        return (await sockets.service.facet('service', { serviceName })).total > 0;
      },
      { what: `rsyslog to send: ${program.output()}` },
    );
    return { ...program, file: socket };
  }

  async function write(socket: string, name: string, from: number): Promise<void> {
    const file = join(folder, `${name}.txt`);
    writeFileSync(file, Array.from({ length: count }, (_, i) => `größer ${from + i}\n`).join(''));
    const options = ['--socket', socket, '--tag', name, '--id=7', '--priority', 'daemon.warning'];
    await run('logger', [...options, '--file', file]);
  }

  async function storedOf(name: string, wanted: number, sender?: Program) {
    await until(
      async () => (await sockets.service.facet('service', { serviceName: name })).total >= wanted,
      { what: `${wanted} logs of ${name}` },
    ).catch((error: unknown) => {
      throw new Error(sender?.output(), { cause: error });
    });
    return (await sockets.service.list({ serviceName: name, limit: 1000 })).logs;
  }

  const running: Program[] = [];
  afterEach(async () => {
    for (const program of running.splice(0)) await program.stop();
  });

  async function survivesOutage(name: string, config = ''): Promise<void> {
    const rsyslog = await startRsyslog(name, config);
    await write(rsyslog.file, name, 0);
    await storedOf(name, count, rsyslog);
    await sockets.service.kill('SIGTERM');
    // Syslog over TCP loses what it sends until it learns that the connection is closed.
    await until(
      async () => {
        await run('logger', ['--socket', rsyslog.file, '--tag', `${name}-lost`, 'x']);
        return rsyslog.output().includes('cannot connect');
      },
      { what: 'rsyslog to see the outage' },
    );
    await write(rsyslog.file, name, count);
    await sockets.service.start();
    const logs = await storedOf(name, 2 * count, rsyslog);
    assert.deepEqual(
      logs.map(({ message }) => message).toSorted(),
      Array.from({ length: 2 * count }, (_, i) => `größer ${i}`).toSorted(),
    );
    const { host, severity, labels } = logs.find(({ message }) => message === 'größer 0')!;
    const expected = { severity: 'WARNING', labels: { facility: 'daemon', procid: '7' } };
    assert.deepEqual({ severity, labels }, expected);
    assert.ok(host.length > 0);
  }

  test('over TLS with a token; what it logs while Weir is away arrives too', () =>
    survivesOutage('token', configs[1]));

  suite('with an authority of client certificates', () => {
    before(() => sockets.restart(() => ['--tls-client-ca-file', authority.caFile]));

    test('over TLS with a certificate; what it logs while Weir is away arrives too', () =>
      survivesOutage('certificate', configs[0]));
  });

  suite('with a receiver of the listener', () => {
    before(() =>
      sockets.restart(({ quickstart }) => [
        '--syslog-receiver',
        quickstart.receivers.http_json.receiverId,
      ]),
    );

    test('over UDP', async () => {
      const config = configs[2];
      assert.ok(config);
      const rsyslog = await startRsyslog('udp', config);
      await write(rsyslog.file, 'udp', 0);
      const logs = await storedOf('udp', count, rsyslog);
      assert.ok(logs.every(({ labels }) => labels['procid'] === '7'));
    });

    test('logger over TCP', {
      skip: findProgram('logger') === undefined && 'no logger',
    }, async () => {
      assert.equal(loggers.length, 1);
      const command = loggers[0]!
        .replaceAll('weir.example.com', '127.0.0.1')
        .replaceAll(' 601 ', ` ${ports.tcp} `);
      await run('bash', ['-e', '-c', command]);
      const [log] = await storedOf('backup', 1);
      assert.equal(log?.message, 'backup finished');
      assert.equal(log.severity, 'NOTICE');
    });

    test('Python, with a stack', { skip: missing('python3', 'python3') }, async () => {
      const example = blocks.find(({ language }) => language === 'python');
      assert.ok(example);
      const program = [
        example.text.replace('"weir.example.com", 601', `"127.0.0.1", ${ports.tcp}`),
        'for i in range(3): logging.warning("größer %d", i)',
        'try: 1 / 0',
        'except ZeroDivisionError: logging.exception("failed")',
      ];
      await run('python3', ['-c', program.join('\n')]);
      const logs = (await storedOf('shop', 4)).toReversed();
      assert.deepEqual(
        logs.map(({ severity }) => severity),
        ['WARNING', 'WARNING', 'WARNING', 'ERR'],
      );
      assert.equal(logs[2]?.message, 'größer 2');
      assert.match(logs[3]?.message ?? '', /^failed\nTraceback[^]+\nZeroDivisionError: [^\n\0]+$/);
      assert.ok(logs.every(({ host, labels }) => host !== '' && labels['procid'] !== undefined));
    });
  });
});
