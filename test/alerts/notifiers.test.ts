/** Alerts from rules to webhooks and Alertmanager, while these are down and over a restart. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as readText } from 'node:stream/consumers';
import { after, before, suite, test } from 'node:test';
import { pushText } from '../harness/metrics.ts';
import { type Service, startService } from '../harness/service.ts';
import { until } from '../harness/until.ts';
import { applyRules } from '../harness/control.ts';

interface SentAlert {
  readonly status?: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly endsAt: string;
  readonly sampleLogs?: readonly Readonly<Record<'message' | 'url' | 'apiUrl', string>>[];
}

interface Call {
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

const secret = 's3cret';
let service: Service;
let receiver: Server;
let status = 200;
const calls: Call[] = [];

before(async () => {
  receiver = createServer((request, response) => {
    const { url = '', headers } = request;
    void readText(request).then((text) => {
      if (status === 200) calls.push({ url, headers, text });
      response.writeHead(status).end();
    });
  }).listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  service = await startService({ env: { WEIR_ALERTS_ALLOWED_NETWORKS: '127.0.0.0/8' } });
  const { port } = receiver.address() as AddressInfo;
  const base = `http://127.0.0.1:${port}`;
  const hook = { name: 'hook', kind: 'webhook', url: `${base}/hook`, secret };
  for (const body of [hook, { name: 'manager', kind: 'alertmanager', url: base }]) {
    const answer = await service.admin('POST', '/notifiers', body);
    assert.equal(answer.status, 201, answer.text);
    assert.ok(!answer.text.includes(secret));
  }
});
after(async () => {
  await service.stop();
  receiver.close();
});

const hooks = () => calls.filter(({ url }) => url === '/hook');

function alertsOf({ url, text }: Call): readonly SentAlert[] {
  if (url !== '/hook') return JSON.parse(text) as SentAlert[];
  return (JSON.parse(text) as { alerts: SentAlert[] }).alerts;
}

/** @returns the first alert of this name in a webhook. */
function told(name: string, wanted: string): Promise<SentAlert> {
  return until(
    () =>
      hooks()
        .flatMap(alertsOf)
        .find((one) => one.labels['alertname'] === name && one.status === wanted),
    { what: `a webhook that ${name} is ${wanted}` },
  );
}

type Deliveries = Readonly<
  Record<'lastSuccessAt' | 'lastFailureAt' | 'lastFailure', string | null>
>;

/** @returns all notifiers, once each of them matches. */
function notifiersBy(isMatch: (notifier: Deliveries) => boolean): Promise<readonly Deliveries[]> {
  return until(
    async () => {
      const { text } = await service.admin('GET', '/notifiers');
      const { notifiers } = JSON.parse(text) as { notifiers: readonly Deliveries[] };
      return notifiers.every(isMatch) ? notifiers : undefined;
    },
    { what: 'outcomes of deliveries' },
  );
}

suite('notifiers', () => {
  test('are refused with an address that they do not reach', async () => {
    const url = 'http://10.0.0.1/hook';
    const answer = await service.admin('POST', '/notifiers', { name: 'no', kind: 'webhook', url });
    assert.equal(answer.status, 400);
    assert.match(answer.text, /cannot notify 10\.0\.0\.1: .* alerts\.allowedNetworks/);
  });

  test('get an alert once they are up, and once more when it resolves', async () => {
    status = 503;
    assert.equal((await pushText(service, 'broken 1\n')).status, 202);
    await applyRules(
      service,
      `
groups:
- name: metrics
  interval: 1s
  rules:
  - { alert: Broken, expr: broken > 0 }
`,
    );
    await until(async () => ((await service.metric('weir_rules_notifications_total')) ?? 0) >= 2, {
      what: 'failed notifications',
    });
    assert.deepEqual(calls, []);
    const failing = await notifiersBy(({ lastFailure }) => lastFailure !== null);
    for (const notifier of failing) {
      assert.equal(notifier.lastSuccessAt, null);
      assert.match(String(notifier.lastFailure), /^cannot notify http:.* it answered 503$/);
      assert.match(String(notifier.lastFailureAt), /^\d{4}-.*Z$/);
    }
    status = 200;
    await told('Broken', 'firing');
    const working = await notifiersBy(({ lastSuccessAt }) => lastSuccessAt !== null);
    for (const { lastSuccessAt, lastFailure, lastFailureAt } of working) {
      assert.match(String(lastFailure), /503/);
      assert.ok(lastSuccessAt! > lastFailureAt!);
    }
    const { headers, text } = hooks()[0]!;
    const signature = String(headers['x-weir-signature']);
    const [, seconds = '', digest] = /^t=(\d+),v1=([0-9a-f]+)$/.exec(signature) ?? [];
    const hmac = createHmac('sha256', secret).update(`${seconds}.${text}`);
    assert.equal(digest, hmac.digest('hex'));

    // Long enough that the acknowledgement is saved: the next evaluation does it.
    const seen = (await service.metric('weir_rules_evaluations_total')) ?? 0;
    await until(
      async () => ((await service.metric('weir_rules_evaluations_total')) ?? 0) > seen + 1,
      {
        what: 'two more evaluations',
      },
    );
    await service.kill('SIGKILL');
    await service.start();
    assert.equal((await pushText(service, 'broken 0\n')).status, 202);
    await told('Broken', 'resolved');
    assert.equal(hooks().length, 2, 'a restart repeats nothing');

    const managed = () => calls.filter(({ url }) => url === '/api/v2/alerts').flatMap(alertsOf);
    await until(() => managed().some(({ endsAt }) => Date.parse(endsAt) <= Date.now()), {
      what: 'Alertmanager to learn of the end',
    });
    assert.ok(Date.parse(managed()[0]?.endsAt ?? '') > Date.now());
  });

  test('a webhook of a rule on logs has sample logs of its group', async () => {
    const events = ['a', 'b', 'c', 'd'].map((name) => ({
      message: `failed ${name}`,
      severity: 'ERROR',
      service_name: 'checkout',
    }));
    const other = { message: 'of another service', severity: 'ERROR', service_name: 'search' };
    assert.equal((await service.postLogs([...events, other])).status, 202);
    await applyRules(
      service,
      `
groups:
- name: logs
  type: logs
  interval: 1s
  rules:
  - { alert: Errors, query: severity>=error, window: 10m, by: service, condition: '> 3' }
`,
    );
    const { sampleLogs = [], labels } = await told('Errors', 'firing');
    assert.equal(labels['service'], 'checkout');
    assert.equal(sampleLogs.length, 3);
    for (const { message, url, apiUrl } of sampleLogs) {
      assert.match(message, /^failed [a-d]$/);
      assert.match(url, /\/explore\/logs\?log=[^&]+&account=[^&]+$/);
      assert.match(apiUrl, /\/api\/v1\/logs\//);
    }
  });

  test('a webhook of a new pattern has its logs', async () => {
    const events = ['queue 1 is stuck', 'queue 2 is stuck', 'lease lost'].map((message) => ({
      message,
      service_name: 'worker',
    }));
    assert.equal((await service.postLogs(events)).status, 202);
    await applyRules(
      service,
      `
groups:
- name: patterns
  type: logs
  interval: 1s
  rules:
  - alert: NewPattern
    query: service:worker
    stat: new_patterns
    window: 10m
    condition: '== 2'
`,
    );
    const { sampleLogs = [] } = await told('NewPattern', 'firing');
    assert.deepEqual(sampleLogs.map(({ message }) => message).sort(), [
      'queue 1 is stuck',
      'queue 2 is stuck',
    ]);
  });
});
