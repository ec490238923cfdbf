/** Debian's Alertmanager gets alerts, passes them on, and sees them end. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text as readText } from 'node:stream/consumers';
import { after, before, suite, test } from 'node:test';
import { sendPlain } from '../harness/http.ts';
import { pushText } from '../harness/metrics.ts';
import { type Service, startService } from '../harness/service.ts';
import { until } from '../harness/until.ts';
import { freePort, missing, type Program, startProgram } from './program.ts';

/** An alert in Alertmanager's webhook. */
interface Passed {
  readonly status: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

const program = 'prometheus-alertmanager';

suite('Alertmanager', { skip: missing(program, program) }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'weir-alertmanager-'));
  const passed: Passed[] = [];
  let service: Service;
  let receiver: Server;
  let alertmanager: Program;
  let url = '';

  before(async () => {
    receiver = createServer((request, response) => {
      void readText(request).then((text) => {
        passed.push(...(JSON.parse(text) as { alerts: Passed[] }).alerts);
        response.writeHead(200).end();
      });
    }).listen(0, '127.0.0.1');
    await once(receiver, 'listening');
    const { port } = receiver.address() as AddressInfo;
    const config = join(folder, 'alertmanager.yml');
    writeFileSync(
      config,
      `route: { receiver: hook, group_wait: 100ms, group_interval: 1s, group_by: [alertname] }
receivers: [{ name: hook, webhook_configs: [{ url: 'http://127.0.0.1:${port}' }] }]
`,
    );
    const address = `127.0.0.1:${await freePort()}`;
    url = `http://${address}`;
    alertmanager = startProgram(program, [
      `--config.file=${config}`,
      `--storage.path=${join(folder, 'data')}`,
      `--web.listen-address=${address}`,
      '--cluster.listen-address=',
    ]);
    const isReady = async () => {
      assert.equal(alertmanager.exit(), undefined, alertmanager.output());
      return (await sendPlain(`${url}/-/ready`).catch(() => undefined))?.status === 200;
    };
    await until(isReady, { what: 'Alertmanager to be ready' });
    service = await startService({ env: { WEIR_ALERTS_ALLOWED_NETWORKS: '127.0.0.0/8' } });
    const notifier = { name: 'manager', kind: 'alertmanager', url };
    const answer = await service.admin('POST', '/notifiers', notifier);
    assert.equal(answer.status, 201, answer.text);
  });
  after(async () => {
    await service?.stop();
    await alertmanager?.stop();
    receiver.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const sent = (status: string) =>
    until(() => passed.find((one) => one.status === status), {
      what: `an alert that is ${status}`,
    });

  test('passes on an alert with its labels and texts, and its end', async () => {
    assert.equal((await pushText(service, 'broken{part="a"} 3\n')).status, 202);
    const { streamId } = service.quickstart;
    const rules = `groups:
- name: parts
  interval: 1s
  rules:
  - alert: Broken
    expr: broken > 0
    labels: { severity: page }
    annotations: { summary: '{{ $labels.part }} is at {{ $value }}' }
`;
    const applied = await service.admin('PUT', `/streams/${streamId}/rule-groups`, { rules });
    assert.equal(applied.status, 200, applied.text);
    const { labels, annotations } = await sent('firing');
    assert.partialDeepStrictEqual(labels, { alertname: 'Broken', part: 'a', severity: 'page' });
    assert.equal(annotations['summary'], 'a is at 3');
    const listed = await sendPlain(`${url}/api/v2/alerts?active=true`);
    assert.partialDeepStrictEqual(listed.json(), [{ labels, status: { state: 'active' } }]);

    assert.equal((await pushText(service, 'broken{part="a"} 0\n')).status, 202);
    assert.deepEqual((await sent('resolved')).labels, labels);
  });
});
