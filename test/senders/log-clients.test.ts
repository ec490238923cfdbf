/** Client libraries of other log systems against the real service. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { after, before, suite, test } from 'node:test';
import { promisify } from 'node:util';
import { Client } from '@elastic/elasticsearch';
import { Logger } from 'splunk-logging';
import Log2gelf from 'winston-log2gelf';
import type { LogRecord } from '../../src/model/plan.ts';
import { startService, type Service } from '../harness/service.ts';
import { until } from '../harness/until.ts';

let service: Service;
let ca: string;
before(async () => {
  service = await startService();
  ca = readFileSync(service.quickstart.caFile, 'utf8');
});
after(() => service.stop());

/** The logs of a service, once there are this many; the oldest first. */
async function logsOf(serviceName: string, count: number): Promise<readonly LogRecord[]> {
  return until(
    async () => {
      const { logs } = await service.list({ serviceName, order: 'asc', limit: 1000 });
      return logs.length >= count && logs;
    },
    { what: `${count} logs of ${serviceName}` },
  );
}

test('winston-log2gelf', async () => {
  const { receiverId, token } = service.quickstart.receivers.http_json;
  const { hostname, port } = new URL(service.quickstart.ingestUrl);
  const transport = new Log2gelf({
    protocol: 'https',
    host: hostname,
    port,
    hostname: 'web-1',
    service: 'gelf-shop',
    keepAlive: -1,
    protocolOptions: {
      path: `/v1/receivers/${receiverId}/gelf`,
      headers: { Authorization: `Bearer ${token}` },
      ca,
      rejectUnauthorized: true,
    },
  });
  const messages = ['päid 1', 'paid 2\nat a', 'paid 3'];
  for (const [n, message] of messages.entries()) {
    transport.log({ level: 'verbose', message, order: n, user: { id: 7 } }, () => undefined);
    await logsOf('gelf-shop', n + 1);
  }
  const logs = await logsOf('gelf-shop', messages.length);
  assert.deepEqual(
    logs.map(({ message, severity, host, labels }) => [
      [message, severity, host],
      [labels['full_message'], labels['order'], labels['user']],
    ]),
    messages.map((message, n) => [
      [message.split('\n')[0], 'ERR', 'web-1'],
      [message, String(n), '{"id":7}'],
    ]),
  );
});

suite('@elastic/elasticsearch', () => {
  const documents = Array.from({ length: 2500 }, (_, n) => ({
    '@timestamp': new Date(1_795_341_600_000 + n).toISOString(),
    message: `bulk ${n}`,
    service: { name: 'bulk-shop' },
    log: { level: n % 2 === 0 ? 'info' : 'error' },
  }));

  test('stores each document once, over the address of the receiver', async () => {
    const { receiverId, token } = service.quickstart.receivers.http_json;
    const node = `${service.quickstart.ingestUrl}/v1/receivers/${receiverId}/elasticsearch`;
    const client = new Client({ node, auth: { apiKey: token }, tls: { ca }, compression: true });
    const { version } = await client.info();
    assert.match(version.number, /^8\./);
    const { total, failed, successful } = await client.helpers.bulk({
      datasource: documents,
      flushBytes: 100_000,
      onDocument: () => ({ create: { _index: 'logs-shop-default' } }),
    });
    assert.deepEqual({ total, failed, successful }, { total: 2500, failed: 0, successful: 2500 });
    const found = await until(
      async () => {
        const facet = await service.facet('severity', { serviceName: 'bulk-shop' });
        return facet.total >= documents.length && facet;
      },
      { what: 'all documents' },
    );
    assert.deepEqual(
      new Set(found.values.map(({ value, count }) => `${value} ${count}`)),
      new Set(['INFO 1250', 'ERROR 1250']),
    );
    const [first] = (await service.list({ serviceName: 'bulk-shop', order: 'asc', limit: 1 })).logs;
    assert.deepEqual(
      [first?.message, first?.timestamp, first?.labels['_index']],
      ['bulk 0', documents[0]?.['@timestamp'], 'logs-shop-default'],
    );
    await client.close();
  });

  test('learns which documents were not stored, over the address of all', async () => {
    const { token } = service.quickstart.receivers.http_json;
    const auth = { username: 'weir', password: token };
    const client = new Client({ node: service.quickstart.ingestUrl, auth, tls: { ca } });
    assert.equal(await client.ping(), true);
    assert.equal(await client.indices.existsIndexTemplate({ name: 'logs' }), true);
    assert.equal((await client.cluster.health()).status, 'green');
    const { errors, items } = await client.bulk({
      index: 'app',
      operations: [
        { index: { _id: '1' } },
        { message: 'kept', 'service.name': 'bulk-parts' },
        { update: { _id: '1' } },
        { doc: { message: 'changed' } },
        { delete: { _id: '1' } },
      ],
    });
    assert.equal(errors, true);
    assert.deepEqual(
      items.map((item) => Object.values(item).map(({ status, _id }) => [status, _id])),
      [[[201, '1']], [[400, '1']], [[400, '1']]],
    );
    const [log] = await logsOf('bulk-parts', 1);
    assert.deepEqual([log?.message, log?.labels], ['kept', { _index: 'app', _id: '1' }]);
    await client.close();
  });

  test('is refused with a wrong token', async () => {
    const node = service.quickstart.ingestUrl;
    const client = new Client({ node, auth: { apiKey: 'wri_wrong' }, tls: { ca } });
    await assert.rejects(client.info(), { message: /security_exception/ });
    await client.close();
  });
});

test('splunk-logging', async () => {
  const { token } = service.quickstart.receivers.http_json;
  const logger = new Logger({ url: service.quickstart.ingestUrl, token, maxBatchCount: 0 });
  Object.assign(logger.requestOptions, { ca, strictSSL: true });
  logger.eventFormatter = (message, severity) => ({ message, severity, service: 'hec-shop' });
  const metadata = { host: 'web-1', source: 'shop', sourcetype: 'app', index: 'main' };
  for (const message of ['päid 1', 'paid 2', 'paid 3']) {
    logger.send({ message, severity: 'error', metadata }, () => undefined);
  }
  const flushed = Promise.withResolvers<unknown>();
  logger.flush((error, _answer, body) => (error ? flushed.reject(error) : flushed.resolve(body)));
  const { text, code } = (await flushed.promise) as { text: string; code: number };
  assert.deepEqual({ text, code }, { text: 'Success', code: 0 });
  const logs = await logsOf('hec-shop', 3);
  assert.deepEqual(
    new Set(logs.map(({ message }) => message)),
    new Set(['päid 1', 'paid 2', 'paid 3']),
  );
  const { severity, host, labels } = logs[0]!;
  assert.deepEqual(
    { severity, host, labels },
    {
      severity: 'ERROR',
      host: 'web-1',
      labels: { source: 'shop', sourcetype: 'app', index: 'main' },
    },
  );
});

/** Its requests trust only authorities that Node knows when it starts. */
const pinoLoki = `
  import pino from 'pino';
  const [host, password] = process.argv.slice(1);
  const transport = pino.transport({
    target: 'pino-loki',
    options: {
      host,
      basicAuth: { username: 'loki', password },
      labels: { app: 'loki-shop' },
      propsToLabels: ['user'],
    },
  });
  const logger = pino({ level: 'debug', base: { hostname: 'web-1' } }, transport);
  for (let n = 0; n < 500; n += 1) logger.error({ user: 'zoë', meta: { n } }, 'päid ' + n);
`;

test('pino-loki', async () => {
  const { quickstart } = service;
  const { stderr } = await promisify(execFile)(
    process.execPath,
    [
      '--input-type=module',
      '--eval',
      pinoLoki,
      quickstart.ingestUrl,
      quickstart.receivers.http_json.token,
    ],
    { env: { ...process.env, NODE_EXTRA_CA_CERTS: quickstart.caFile } },
  );
  assert.equal(stderr, '');
  const logs = await logsOf('loki-shop', 500);
  assert.equal(logs.length, 500);
  const seen = logs.map(
    ({ message, labels }) => [(JSON.parse(message) as { msg: string }).msg, labels['n']] as const,
  );
  assert.deepEqual(
    new Map(seen),
    new Map(Array.from({ length: 500 }, (_, n) => [`päid ${n}`, `${n}`])),
  );
  const { severity, host, labels } = logs[0]!;
  assert.deepEqual([severity, host, labels['user']], ['ERROR', 'web-1', 'zoë']);
});
