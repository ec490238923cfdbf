/**
 * The queries of the public PromQL compliance tester have the same answers in Weir and in a
 * Prometheus. PROMQL_COMPLIANCE is its list: promql/promql-test-queries.yml of
 * prometheus/compliance. The Prometheus is the first in PATH.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, suite, test } from 'node:test';
import { parse } from 'yaml';
import { prometheusBaseUrl, readMetrics, remoteWrite } from '../harness/metrics.ts';
import { encodeWriteRequest } from '../harness/prompb.ts';
import { type Service, startService } from '../harness/service.ts';
import { until } from '../harness/until.ts';
import { demoSeries } from '../promql/demo-series.ts';
import { missing } from './program.ts';
import { PrometheusServer } from './prometheus-server.ts';
import { type Answer, differenceOf } from './same-answers.ts';

const { PROMQL_COMPLIANCE: file } = process.env;
const skip =
  file === undefined ? 'PROMQL_COMPLIANCE is not set' : missing('prometheus', 'prometheus');
const endMs = Math.floor(Date.now() / 60_000) * 60_000;

interface Listed {
  readonly query: string;
  readonly variant_args?: readonly string[];
}

const comparisons = ['==', '!=', '<', '>', '<=', '>='];
const arithmetic = ['+', '-', '*', '/', '%', '^'];
const aggregations = ['sum', 'avg', 'max', 'min', 'count', 'stddev', 'stdvar'];
const dates = ['day_of_month', 'day_of_week', 'days_in_month', 'hour', 'minute', 'month', 'year'];
const maths = ['abs', 'ceil', 'floor', 'exp', 'sqrt', 'ln', 'log2', 'log10', 'round'];

/** What the list leaves open. */
const variants: Readonly<Record<string, readonly string[]>> = {
  range: ['1s', '15s', '1m', '5m', '15m', '1h'],
  offset: ['1m', '5m', '10m'],
  simpleAggrOp: aggregations,
  simpleTimeAggrOp: [...aggregations, 'absent', 'last'],
  topBottomOp: ['topk', 'bottomk'],
  quantile: ['-0.5', '0.1', '0.5', '0.75', '0.9', '0.99', '1', '1.5'],
  arithBinOp: arithmetic,
  compBinOp: comparisons,
  binOp: [...arithmetic, ...comparisons],
  simpleMathFunc: maths,
  extrapolatedRateFunc: ['delta', 'rate', 'increase'],
  clampFunc: ['clamp_min', 'clamp_max'],
  instantRateFunc: ['idelta', 'irate'],
  dateFunc: dates,
};

suite('queries of the compliance tester', { skip }, () => {
  let service: Service;
  let prometheus: PrometheusServer;

  before(async () => {
    service = await startService();
    prometheus = await PrometheusServer.start(() => 'global: {}\n');
    const series = demoSeries(1, endMs, 360);
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

  async function ask(parameters: Readonly<Record<string, string>>): Promise<Answer> {
    const { accessToken, accountId } = service.quickstart;
    const headers = { authorization: `Bearer ${accessToken}`, 'x-active-account': accountId };
    const query = new URLSearchParams(parameters).toString();
    const url = `${prometheusBaseUrl(service)}/api/v1/query_range?${query}`;
    return (await service.http.send(url, { headers })).json<Answer>();
  }

  test('have the same answers', async (t) => {
    const { test_cases: listed } = parse(readFileSync(file!, 'utf8')) as { test_cases: Listed[] };
    // Never a step of a subquery, whose first one only versions before 3 count.
    const end = endMs / 1000 - 127;
    const { version } = (await prometheus.get('/status/buildinfo')) as { version: string };
    const times = { start: String(end - 600), end: String(end), step: '10' };
    const differences: string[] = [];
    let asked = 0;
    for (const { query: form, variant_args: open = [] } of listed) {
      // Names of labels that versions before 3 refuse.
      if (version.startsWith('2.') && form.includes('~invalid')) continue;
      for (const query of formsOf(form, open)) {
        asked += 1;
        const parameters = { query, ...times };
        const [own, other] = await Promise.all([
          ask(parameters),
          prometheus.ask<Answer>('/query_range', parameters),
        ]);
        const difference = differenceOf(own, other);
        if (difference !== '') differences.push(`${query}: ${difference}`);
      }
    }
    t.diagnostic(`${asked} queries, Prometheus ${version}`);
    assert.deepEqual(differences, []);
    assert.ok(asked > 500, `${asked} queries`);
  });
});

function formsOf(form: string, open: readonly string[]): string[] {
  const [name, ...others] = open;
  if (name === undefined) return [form];
  const values = variants[name];
  assert.ok(values, `unknown variant ${name}`);
  return values.flatMap((value) => formsOf(form.replaceAll(`{{.${name}}}`, value), others));
}
