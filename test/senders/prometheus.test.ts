/**
 * A Prometheus that writes to Weir through outages, and an empty one that reads from it: Weir has
 * everything, and both give the same answers.
 */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { prometheusBaseUrl, readMetrics } from '../harness/metrics.ts';
import { numberOf } from '../harness/proto-wire.ts';
import { toNumber, type SeriesSamples } from '../harness/prompb.ts';
import { startService, type Service } from '../harness/service.ts';
import { until } from '../harness/until.ts';
import { missing } from './program.ts';
import { PrometheusServer } from './prometheus-server.ts';
import { differences } from './same-samples.ts';
import { startScrapeTarget, type ScrapeTarget } from './scrape-target.ts';

suite('Prometheus', { skip: missing('prometheus', 'prometheus') }, () => {
  let service: Service;
  let target: ScrapeTarget;
  let writer: PrometheusServer;
  let metadata: unknown;
  let own: SeriesSamples[];
  let firstMs: number;
  let lastMs: number;

  before(async () => {
    service = await startService({ arePortsKept: true });
    target = await startScrapeTarget();
    writer = await PrometheusServer.start((address) => toWriterConfig(service, target, address));
    await scrapesMore(6);
    await service.kill('SIGTERM');
    await scrapesMore(6);
    await service.start();
    await scrapesMore(4);
    await service.kill('SIGKILL');
    await scrapesMore(6);
    await service.start();
    await scrapesMore(4);
    metadata = await writer.get('/metadata');
    await until(() => isMetadataIn(service, metadata), { what: 'the metadata in Weir' });
    lastMs = await writer.settledMs();
    own = await writer.everything(lastMs);
    const times = own.flatMap(({ samples }) => samples.map(({ timeMs }) => Number(timeMs)));
    firstMs = times.reduce((a, b) => Math.min(a, b));
  });
  after(async () => {
    await writer?.stop();
    await target?.close();
    await service?.stop();
  });

  /** Waits for this many further scrapes. */
  async function scrapesMore(count: number): Promise<void> {
    const wanted = target.scrapes() + count;
    await until(() => target.scrapes() >= wanted, { what: `${count} scrapes` });
  }

  test('Weir has every sample of its storage, once and bit for bit', async () => {
    const count = own.reduce((sum, { samples }) => sum + samples.length, 0);
    assert.ok(own.length > 300 && count > 3000, `only ${count} samples of ${own.length} series`);
    const bits = new Set(own.flatMap(({ samples }) => samples.map((sample) => sample.bits)));
    assert.ok(bits.has(0x7ff0000000000002n), 'there is no stale marker');

    let found: string[] = [];
    const isSame = async () => {
      found = differences(own, await readMetrics(service, [], { fromMs: 0, untilMs: lastMs }));
      return found.length === 0;
    };
    await until(isSame, { what: 'Weir to have the same samples', everyMs: 250 }).catch(
      (error: unknown) => {
        const written = writer.output().split('\n').slice(-20).join('\n');
        throw new Error(`${found.join('\n')}\n${written}`, { cause: error });
      },
    );
  });

  test('labels, label values and series equal those of Prometheus', async () => {
    const start = `${firstMs / 1000}`;
    const end = `${lastMs / 1000}`;
    const asked = { 'match[]': '{__name__=~"app_.*|up"}', start, end };
    for (const path of ['/labels', '/label/job/values', '/label/__name__/values']) {
      assert.deepEqual(await fromWeir(path, asked), await writer.get(path, asked), path);
    }
    const theirs = await writer.get('/series', asked);
    assert.deepEqual(sorted(await fromWeir('/series', asked)), sorted(theirs));
  });

  test('Weir has its native histograms', async () => {
    const range = { fromMs: 0, untilMs: lastMs };
    const [up] = await readMetrics(service, { __name__: 'up', job: 'native' }, range);
    const [native] = await readMetrics(service, { __name__: 'app_native_seconds' }, range);
    const histograms = native?.histograms ?? [];
    assert.ok(histograms.length > 5, `${histograms.length} histograms`);
    assert.deepEqual(
      histograms.map((message) => numberOf(message, 15)),
      up?.samples.map(({ timeMs }) => timeMs),
    );
    assert.deepEqual(
      histograms.map((message) => [numberOf(message, 1), toNumber(numberOf(message, 3))]),
      histograms.map((_, index) => [4n * BigInt(index + 1), 1.5 * (index + 1)]),
    );
  });

  test('Weir has type, unit and help of its metrics', async () => {
    assert.ok(await isMetadataIn(service, metadata));
    const { app_temperature_celsius: mine } = metadata as Record<string, unknown>;
    assert.deepEqual(mine, [{ type: 'gauge', unit: 'celsius', help: 'Temperature.' }]);
  });

  test('Weir has its exemplars', async () => {
    const range = {
      start: `${firstMs / 1000}`,
      end: `${lastMs / 1000}`,
      query: '{__name__=~"app_.*"}',
    };
    const theirs = (await writer.get('/query_exemplars', range)) as { exemplars: unknown[] }[];
    assert.ok(theirs.some(({ exemplars }) => exemplars.length > 5));
    assert.deepEqual(sorted(await fromWeir('/query_exemplars', range)), sorted(theirs));
  });

  test('an empty Prometheus that reads from Weir gives the same answers', async () => {
    const reader = await PrometheusServer.start(() => toReaderConfig(service));
    try {
      for (const query of expressions) {
        for (const [path, parameters] of questions(query, firstMs, lastMs)) {
          const [here, there] = await Promise.all([
            writer.get(path, parameters),
            reader.get(path, parameters),
          ]);
          assert.deepEqual(inOrder(there), inOrder(here), `${query} ${JSON.stringify(parameters)}`);
        }
      }
      assert.equal(await reader.seriesCount(), 0, 'the reader must have no series');
    } finally {
      await reader.stop();
    }
  });

  async function fromWeir(path: string, parameters: Readonly<Record<string, string>>) {
    const answer = await service.read(`/prometheus/api/v1${path}`, parameters);
    assert.equal(answer.status, 200, answer.text);
    return answer.json<{ data: unknown }>().data;
  }
});

/** PromQL with each kind of selector, function and aggregation. */
const expressions = [
  'up',
  'up == 0',
  'count({__name__=~".+", __name__!="app_native_seconds"})',
  'count by (job) ({job=~".+", __name__!="app_native_seconds"})',
  'app_requests_total',
  'app_requests_total{code!="200"}',
  'app_requests_total{code=~"2..|9.*"}',
  'app_requests_total{code!~"2.."}',
  '{__name__=~"app_(special|coming)"}',
  'app_temperature_celsius{room="Küche \\"1\\" 🍳\\n"}',
  'app_temperature_celsius{absent=""}',
  'app_special{value=~".+"}',
  'rate(app_requests_total[5s])',
  'increase(app_requests_total[10s])',
  'irate(app_latency_seconds_count[10s])',
  'sum(rate(app_requests_total[5s]))',
  'sum by (code) (rate(app_requests_total[5s]))',
  'sum without (instance, job) (app_latency_seconds_bucket)',
  'histogram_quantile(0.9, rate(app_latency_seconds_bucket[5s]))',
  'histogram_quantile(0.5, sum by (le) (app_latency_seconds_bucket))',
  'absent(app_missing)',
  'absent(app_coming)',
  'absent_over_time(app_coming[2s])',
  'count_over_time(app_coming[10s])',
  'present_over_time(app_coming[3s])',
  'app_requests_total offset 3s',
  'app_requests_total - app_requests_total offset 2s',
  'app_temperature_celsius @ start()',
  'topk(3, prometheus_http_requests_total)',
  'bottomk(2, app_special)',
  'quantile(0.75, scrape_duration_seconds)',
  'max_over_time(app_temperature_celsius[8s])',
  'stddev_over_time(app_temperature_celsius[8s])',
  'deriv(app_temperature_celsius[8s])',
  'predict_linear(app_temperature_celsius[8s], 60)',
  'changes(app_temperature_celsius[8s])',
  'resets(app_requests_total[8s])',
  'avg_over_time(sum(rate(app_requests_total[3s]))[6s:1s])',
  'label_replace(up, "port", "$1", "instance", ".*:(.*)")',
  'count_values("value", up)',
  'timestamp(app_requests_total)',
  'app_requests_total{code="500"} / on (job, instance) app_build_info',
  'app_requests_total * on (job) group_left (version) app_build_info',
  'process_open_fds{job="prometheus"} and on (instance) up',
  'sort_desc(app_latency_seconds_bucket)',
  'vector(1)',
];

type Question = readonly [path: string, parameters: Readonly<Record<string, string>>];

/** Evaluates at three times, and over the whole range. */
function questions(query: string, firstMs: number, lastMs: number): Question[] {
  const [start, end] = [firstMs / 1000, lastMs / 1000];
  const moments = [start + (end - start) / 3, start + ((end - start) * 2) / 3, end];
  return [
    ...moments.map((time): Question => ['/query', { query, time: time.toFixed(3) }]),
    ['/query_range', { query, start: start.toFixed(3), end: end.toFixed(3), step: '0.7' }],
  ];
}

/** Prometheus does not specify the order of vectors. */
function inOrder(data: unknown): unknown {
  const { resultType, result } = data as { resultType: string; result: unknown };
  return { resultType, result: Array.isArray(result) ? sorted(result) : result };
}

/** By canonical JSON. */
function sorted(list: unknown): unknown[] {
  const toText = (value: unknown) =>
    JSON.stringify(value, (_key, inner: unknown) =>
      typeof inner === 'object' && inner !== null && !Array.isArray(inner)
        ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
        : inner,
    );
  return (list as unknown[])
    .map(toText)
    .sort()
    .map((text) => JSON.parse(text) as unknown);
}

async function isMetadataIn(service: Service, theirs: unknown): Promise<boolean> {
  const answer = await service.read('/prometheus/api/v1/metadata', { limit: '10000' });
  assert.equal(answer.status, 200, answer.text);
  const { data } = answer.json<{ data: Record<string, unknown[]> }>();
  const text = JSON.stringify;
  return Object.entries(theirs as Record<string, unknown[]>).every(([metric, wanted]) => {
    const had = new Set((data[metric] ?? []).map((one) => text(sorted([one]))));
    return wanted.some((one) => had.has(text(sorted([one]))));
  });
}

function toRemoteWrite(service: Service): string {
  const { caFile, receivers } = service.quickstart;
  return `
remote_write:
  - url: ${receivers.prometheus.writeUrl}
    authorization:
      credentials: ${receivers.prometheus.token}
    tls_config:
      ca_file: ${caFile}
    send_exemplars: true
    send_native_histograms: true
    metadata_config:
      send_interval: 1s
    queue_config:
      batch_send_deadline: 500ms
      max_backoff: 500ms
`;
}

function toWriterConfig(service: Service, target: ScrapeTarget, address: string): string {
  return `
global:
  scrape_interval: 500ms
scrape_configs:
  - job_name: prometheus
    static_configs:
      - targets: ['${address}']
  - job_name: app
    static_configs:
      - targets: ['${target.address}']
  - job_name: native
    metrics_path: /native
    static_configs:
      - targets: ['${target.address}']
  - job_name: weir
    static_configs:
      - targets: ['${new URL(service.quickstart.opsUrl).host}']
${toRemoteWrite(service)}`;
}

function toReaderConfig(service: Service): string {
  const { accessToken, accountId, caFile } = service.quickstart;
  const tokenFile = join(service.dataDir, 'reader-token');
  writeFileSync(tokenFile, accessToken, { mode: 0o600 });
  return `
remote_read:
  - url: ${prometheusBaseUrl(service)}/api/v1/read?accountId=${accountId}
    read_recent: true
    authorization:
      credentials_file: ${tokenFile}
    tls_config:
      ca_file: ${caFile}
`;
}
