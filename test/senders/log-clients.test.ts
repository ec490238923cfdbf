/** Client libraries of other log systems against the real service. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
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
