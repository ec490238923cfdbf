/** Metric exporters of the OpenTelemetry SDK against the real service, read back with PromQL. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { prometheusBaseUrl } from '../harness/metrics.ts';
import { startService, type Service } from '../harness/service.ts';
import { until } from '../harness/until.ts';
import { transports } from './otel-exporters.ts';
import { createMetricExporter, MetricSender } from './otel-metric-exporters.ts';

let service: Service;
before(async () => {
  service = await startService();
});
after(() => service.stop());

type Values = Readonly<Record<string, number | undefined>>;

/** The value of an expression that selects one series. */
async function valueOf(query: string): Promise<number | undefined> {
  const { accessToken, accountId } = service.quickstart;
  const headers = { authorization: `Bearer ${accessToken}`, 'x-active-account': accountId };
  const parameters = new URLSearchParams({ query }).toString();
  const url = `${prometheusBaseUrl(service)}/api/v1/query?${parameters}`;
  const answer = await service.http.send(url, { headers });
  assert.equal(answer.status, 200, answer.text);
  const { data } = answer.json<{ data: { result: { value: [number, string] }[] } }>();
  assert.ok(data.result.length <= 1, `${query} has ${data.result.length} series`);
  const [series] = data.result;
  return series && Number(series.value[1]);
}

/** Waits until the expressions have these values. */
async function readsBack(wanted: Values): Promise<void> {
  let read: Values = {};
  const what = 'the values that were sent';
  const isReadable = async () => {
    const values = Object.keys(wanted).map(async (query) => [query, await valueOf(query)]);
    read = Object.fromEntries(await Promise.all(values)) as Values;
    return isDeepStrictEqual(read, wanted);
  };
  await until(isReadable, { what }).catch((error: unknown) => {
    assert.deepEqual(read, wanted, String(error));
  });
}

/** One of each instrument, measured `rounds` times. */
function measure({ meter }: MetricSender, rounds: number): void {
  const orders = meter.createCounter('orders.placed', { description: 'Orders placed.' });
  const queue = meter.createUpDownCounter('queue.length');
  const temperature = meter.createGauge('temperature', { unit: 'Cel' });
  const took = meter.createHistogram('request.duration', {
    unit: 's',
    advice: { explicitBucketBoundaries: [0.25, 1] },
  });
  const sizes = meter.createHistogram('body.exponential', { unit: 'By' });
  for (let round = 0; round < rounds; round += 1) {
    orders.add(3, { region: 'eu' });
    orders.add(4, { region: 'us' });
    queue.add(5);
    queue.add(-2);
    temperature.record(21.5);
    for (const seconds of [0.125, 0.5, 4]) took.record(seconds);
    for (const bytes of [0, 1, 2, 4]) sizes.record(bytes);
  }
}

function valuesOf(job: string, rounds: number): Values {
  const own = `job="${job}"`;
  return {
    [`orders_placed_total{${own},region="eu"}`]: 3 * rounds,
    [`sum(orders_placed_total{${own}})`]: 7 * rounds,
    [`queue_length{${own}}`]: 3 * rounds,
    [`temperature_celsius{${own}}`]: 21.5,
    [`request_duration_seconds_count{${own}}`]: 3 * rounds,
    [`request_duration_seconds_sum{${own}}`]: 4.625 * rounds,
    [`request_duration_seconds_bucket{${own},le="1.0"}`]: 2 * rounds,
    [`request_duration_seconds_bucket{${own},le="+Inf"}`]: 3 * rounds,
    [`histogram_count(body_exponential_bytes{${own}})`]: 4 * rounds,
    [`histogram_sum(body_exponential_bytes{${own}})`]: 7 * rounds,
    [`histogram_quantile(1, body_exponential_bytes{${own}})`]: 4,
    [`target_info{${own},host_name="node-3"}`]: 1,
  };
}

for (const temporality of ['cumulative', 'delta'] as const) {
  suite(`${temporality} temporality`, () => {
    for (const transport of transports) {
      test(`${transport}: each instrument reads back with PromQL`, async () => {
        const job = `${temporality}-${transport}`;
        const resource = { 'service.name': job, 'host.name': 'node-3' };
        const exporter = createMetricExporter(service, transport, { temporality });
        const sender = new MetricSender(exporter, resource);
        measure(sender, 1);
        await sender.flush();
        await readsBack(valuesOf(job, 1));
        measure(sender, 2);
        await sender.flush();
        await readsBack(valuesOf(job, 3));
        await sender.close();
      });
    }
  });
}

test('refusals surface in the SDK', async () => {
  const options = { temporality: 'cumulative', token: `wri_${'A'.repeat(52)}` } as const;
  const sender = new MetricSender(createMetricExporter(service, 'http/protobuf', options), {});
  measure(sender, 1);
  await assert.rejects(sender.flush(), { code: 401 });
  await sender.close();
});
