/** rsyslog with the configuration of the page about Elasticsearch. */
import assert from 'node:assert/strict';
import { existsSync, globSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { startService, type Service } from '../harness/service.ts';
import { until } from '../harness/until.ts';
import { blocksOf, fillIn, readPages } from './pages.ts';
import { freePort, missing, type Program, startProgram } from './program.ts';

const plugin = globSync('/usr/lib/*/rsyslog/omelasticsearch.so')[0];
const isMissing =
  missing('rsyslogd', 'rsyslog') ||
  (plugin === undefined && 'omelasticsearch is missing: apt-get install rsyslog-elasticsearch');

const manual = readPages().find(({ path }) => path === 'docs/senders/elasticsearch.md')!;
const block = blocksOf(manual).find(({ text }) => text.includes('type="omelasticsearch"'))!;

suite('rsyslog', { skip: isMissing }, () => {
  let service: Service;
  let folder: string;
  let rsyslog: Program;
  let port: number;
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'weir-rsyslog-'));
    service = await startService();
    port = await freePort();
    const { ingestUrl, receivers } = service.quickstart;
    const address = new URL(ingestUrl);
    const config = fillIn(block, service, folder)
      .replace('weir.example.com', address.hostname)
      .replace('"8443"', `"${address.port}"`)
      .replace('"TOKEN"', `"${receivers.http_json.token}"`);
    const file = join(folder, 'rsyslog.conf');
    writeFileSync(
      file,
      [
        `global(workDirectory="${folder}")`,
        'module(load="imtcp")',
        `input(type="imtcp" port="${port}" address="127.0.0.1")`,
        config,
      ].join('\n'),
    );
    rsyslog = startProgram('rsyslogd', ['-n', '-f', file, '-i', join(folder, 'pid')]);
    await until(async () => existsSync(join(folder, 'pid')), { what: 'rsyslog' });
  });
  after(async () => {
    await rsyslog?.stop();
    await service?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  test('sends messages with their fields', async () => {
    const messages = Array.from(
      { length: 500 },
      (_, n) =>
        `<11>2026-11-22T10:00:00.${String(n).padStart(3, '0')}Z web-1 shop: zu "spät" ${n}\n`,
    );
    await write(port, messages.join(''));
    const logs = await until(
      async () => {
        const page = await service.list({ serviceName: 'shop', order: 'asc', limit: 1000 });
        return page.logs.length >= messages.length && page.logs;
      },
      { what: 'all messages' },
    );
    assert.equal(logs.length, messages.length, rsyslog.output());
    const { message, severity, host, timestamp, labels } = logs[7]!;
    assert.deepEqual(
      [message.trim(), severity, host, timestamp, labels['_index']],
      ['zu "spät" 7', 'ERR', 'web-1', '2026-11-22T10:00:00.007Z', 'logs-syslog-default'],
    );
  });
});

/** Tries until rsyslog listens. */
async function write(port: number, text: string): Promise<void> {
  await until(
    () =>
      new Promise<boolean>((resolve) => {
        const socket = connect(port, '127.0.0.1');
        socket.on('error', () => resolve(false));
        socket.on('connect', () => socket.end(text, () => resolve(true)));
      }),
    { what: 'a connection to rsyslog' },
  );
}
