/** vmalert as its page starts it: queries Weir, notifies, keeps its state in Weir. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json as readJson } from 'node:stream/consumers';
import { after, before, suite, test } from 'node:test';
import { sendPlain } from '../harness/http.ts';
import { pushText, readMetrics, readSamples } from '../harness/metrics.ts';
import { type Service, startService } from '../harness/service.ts';
import { until } from '../harness/until.ts';
import { blocksOf } from './pages.ts';
import { freePort, missing, type Program, startProgram } from './program.ts';

/** An alert as a notifier gets it. */
interface Notified {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly endsAt: string;
}

const path = 'docs/promql.md';
const text = readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const command = blocksOf({ path, text }).find((block) => block.text.startsWith('vmalert '))!.text;

const rules = `groups:
- name: queues
  interval: 1s
  rules:
  - record: queue:length:max
    expr: max by (queue) (queue_length)
  - alert: QueueIsLong
    expr: queue_length > 3
    for: 1s
    labels: { severity: page }
    annotations: { summary: '{{ $labels.queue }} has {{ $value }}' }
`;
const labels = { alertgroup: 'queues', alertname: 'QueueIsLong', queue: 'päid', severity: 'page' };

suite('vmalert', { skip: missing('vmalert', 'victoria-metrics') }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'weir-vmalert-'));
  const notified: Notified[] = [];
  let service: Service;
  let notifier: Server;
  let vmalert: Program;
  let url = '';

  before(async () => {
    notifier = createServer((request, response) => {
      void readJson(request).then((alerts) => {
        notified.push(...(alerts as Notified[]));
        response.writeHead(200).end();
      });
    }).listen(0, '127.0.0.1');
    await once(notifier, 'listening');
    writeFileSync(join(folder, 'rules.yml'), rules);
    service = await startService({ arePortsKept: true });
    await push(5);
    url = `http://127.0.0.1:${await freePort()}`;
    vmalert = startVmalert();
  });
  after(async () => {
    await vmalert?.stop();
    await service?.stop();
    notifier.close();
    rmSync(folder, { recursive: true, force: true });
  });

  function startVmalert(): Program {
    const { streamUrl, ingestUrl, accountId, accessToken, caFile, receivers } = service.quickstart;
    const { port } = notifier.address() as AddressInfo;
    const words = command
      .replaceAll('weir-ca.pem', caFile)
      .replaceAll('rules.yml', join(folder, 'rules.yml'))
      .replaceAll('http://alertmanager:9093', `http://127.0.0.1:${port}`)
      .trimEnd();
    const more = `-httpListenAddr=${new URL(url).host} -remoteWrite.flushInterval=200ms`;
    const variables = {
      STREAM_URL: streamUrl,
      INGEST_URL: ingestUrl,
      ACCOUNT: accountId,
      TOKEN: accessToken,
      RECEIVER_ID: receivers.prometheus.receiverId,
      RECEIVER_TOKEN: receivers.prometheus.token,
    };
    const assigned = Object.entries(variables).map(([name, value]) => `${name}='${value}'\n`);
    return startProgram('bash', ['-e', '-c', `${assigned.join('')}exec ${words} ${more}`]);
  }

  async function push(length: number): Promise<void> {
    const answer = await pushText(service, `queue_length{queue="päid"} ${length}\n`);
    assert.equal(answer.status, 202, answer.text);
  }

  const recorded = () => readSamples(service, { __name__: 'queue:length:max', queue: 'päid' });

  /** Waits for something that vmalert does. */
  const untilItDoes = <T>(what: string, ask: () => T | undefined | false | Promise<T | false>) =>
    until<T>(ask as () => T | false, { what }).catch((error: unknown) => {
      throw new Error(vmalert.output(), { cause: error });
    });

  /** When the alert began, by vmalert's own list. */
  const activeSince = () =>
    untilItDoes('a firing alert', async () => {
      const answer = await sendPlain(`${url}/api/v1/alerts`).catch(() => undefined);
      const list = answer?.json() as { data: { alerts: { state: string; activeAt: string }[] } };
      return list?.data.alerts.find(({ state }) => state === 'firing')?.activeAt ?? false;
    });

  test('notifies of an alert with its labels and texts', async () => {
    const alert = await untilItDoes('an alert', () => notified[0]);
    assert.deepEqual(alert.labels, labels);
    assert.equal(alert.annotations['summary'], 'päid has 5');
  });

  test('stores what its rules record, and its state', async () => {
    const samples = await untilItDoes('recorded samples', async () => {
      const had = await recorded();
      return had.length > 2 && had;
    });
    assert.ok(samples.every(([, value]) => value === 5));
    for (const __name__ of ['ALERTS', 'ALERTS_FOR_STATE']) {
      const series = await untilItDoes(__name__, async () => {
        const had = await readMetrics(service, { __name__, queue: 'päid' });
        return had.length > 0 && had;
      });
      assert.partialDeepStrictEqual(series[0]!.labels, labels);
    }
  });

  test('goes on after a kill of Weir, with each time recorded once', async () => {
    await service.kill('SIGKILL');
    await untilItDoes('vmalert to see it', () => /connection refused/.test(vmalert.output()));
    await service.start();
    const last = (await recorded()).at(-1)?.[0] ?? 0;
    const samples = await untilItDoes('newer samples', async () => {
      const had = await recorded();
      return (had.at(-1)?.[0] ?? 0) > last && had;
    });
    assert.equal(new Set(samples.map(([time]) => time)).size, samples.length);
  });

  test('restores its state from Weir', async () => {
    const since = await activeSince();
    await vmalert.stop();
    vmalert = startVmalert();
    // The state is stored in seconds.
    assert.equal((await activeSince()).slice(0, 19), since.slice(0, 19));
  });

  test('notifies of the end of an alert', async () => {
    notified.length = 0;
    await push(0);
    await untilItDoes('the end', () => notified.some((one) => Date.parse(one.endsAt) < Date.now()));
  });

  test('nothing was refused', () => {
    assert.doesNotMatch(vmalert.output(), /response code 4\d\d|cannot parse|failed to/i);
  });
});
