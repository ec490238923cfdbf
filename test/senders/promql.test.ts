/**
 * Random queries over the same samples in Weir and in a Prometheus have the same answers.
 * PROMQL_SEED repeats a run, PROMQL_QUERIES sets their number.
 */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { prometheusBaseUrl, readMetrics, remoteWrite } from '../harness/metrics.ts';
import { encodeWriteRequest } from '../harness/prompb.ts';
import { createRandom } from '../harness/random.ts';
import { type Service, startService } from '../harness/service.ts';
import { until } from '../harness/until.ts';
import { agreementSeries, randomQuery } from '../promql/random-query.ts';
import { missing } from './program.ts';
import { PrometheusServer } from './prometheus-server.ts';

const seed = Number(process.env['PROMQL_SEED'] ?? 1);
const queries = Number(process.env['PROMQL_QUERIES'] ?? 300);
const samples = 240;
const endMs = Math.floor(Date.now() / 60_000) * 60_000;

interface Answer {
  readonly status: string;
  readonly error?: string;
  readonly data?: { readonly resultType: string; readonly result: readonly Found[] };
}

interface Found {
  readonly metric: Readonly<Record<string, string>>;
  readonly value?: readonly [number, string];
  readonly values?: readonly (readonly [number, string])[];
}

suite('PromQL', { skip: missing('prometheus', 'prometheus') }, () => {
  let service: Service;
  let prometheus: PrometheusServer;

  before(async () => {
    service = await startService();
    prometheus = await PrometheusServer.start(() => 'global: {}\n');
    const series = agreementSeries(seed, endMs, samples);
    await prometheus.write(encodeWriteRequest(series, []));
    const { status, text } = await remoteWrite(service, series);
    assert.equal(status, 204, text);
    const isThere = async () => (await readMetrics(service)).length === series.length;
    await until(isThere, { what: 'every series' });
  });
  after(async () => {
    await prometheus?.stop();
    await service?.stop();
  });

  async function ask(path: string, parameters: Readonly<Record<string, string>>): Promise<Answer> {
    const { accessToken, accountId } = service.quickstart;
    const headers = { authorization: `Bearer ${accessToken}`, 'x-active-account': accountId };
    const url = `${prometheusBaseUrl(service)}/api/v1${path}?${new URLSearchParams(parameters).toString()}`;
    return (await service.http.send(url, { headers })).json<Answer>();
  }

  test(`${queries} random queries have the same answers (seed ${seed})`, async () => {
    const random = createRandom(seed);
    const differences: string[] = [];
    let answered = 0;
    for (let i = 0; i < queries; i++) {
      const query = randomQuery(random);
      // Never a step of a subquery, whose first one only older versions count.
      const end = endMs / 1000 - random.integer(0, 100) * 15 - 7;
      const step = random.pick([15, 30, 60, 120]);
      const start = end - step * random.integer(1, 30);
      const isInstant = random.next() < 0.3;
      const path = isInstant ? '/query' : '/query_range';
      const times = isInstant ? { time: end } : { start, end, step };
      const entries = Object.entries({ query, ...times }).map(([name, value]) => [
        name,
        String(value),
      ]);
      const parameters = Object.fromEntries(entries) as Record<string, string>;
      const [own, other] = await Promise.all([
        ask(path, parameters),
        prometheus.ask<Answer>(path, parameters),
      ]);
      if (own.status === 'success') answered += 1;
      const difference = differenceOf(own, other);
      if (difference !== '') differences.push(`${query} ${JSON.stringify(times)}: ${difference}`);
    }
    assert.deepEqual(differences, []);
    assert.ok(answered > queries / 2, `${answered} of ${queries} queries have an answer`);
  });
});

function differenceOf(own: Answer, other: Answer): string {
  if (own.status !== other.status) {
    return `${own.error ?? 'answered'} / ${other.error ?? 'answered'}`;
  }
  if (own.data === undefined || other.data === undefined) return '';
  const [left, right] = [byMetric(own), byMetric(other)];
  for (const [metric, points] of right) {
    const ownPoints = left.get(metric);
    if (ownPoints === undefined) return `lacks ${metric}`;
    if (ownPoints.length !== points.length) {
      return `${ownPoints.length} instead of ${points.length} points of ${metric}`;
    }
    for (const [i, [time, value]] of points.entries()) {
      const [ownTime, ownValue] = ownPoints[i]!;
      if (ownTime !== time || !nearlyEqual(Number(ownValue), Number(value))) {
        return `${ownValue} instead of ${value} at ${time} of ${metric}`;
      }
    }
  }
  return left.size === right.size ? '' : `${left.size} instead of ${right.size} series`;
}

function byMetric({ data }: Answer): Map<string, readonly (readonly [number, string])[]> {
  return new Map(
    data!.result.map(({ metric, value, values }) => [
      JSON.stringify(Object.entries(metric).sort(([a], [b]) => (a < b ? -1 : 1))),
      values ?? [value!],
    ]),
  );
}

/** Texts such as +Inf are equal or not. */
function nearlyEqual(own: number, other: number): boolean {
  if (Object.is(own, other) || own === other) return true;
  const scale = Math.max(Math.abs(own), Math.abs(other), 1e-3);
  return Math.abs(own - other) <= 1e-9 * scale;
}
