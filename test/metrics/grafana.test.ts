/**
 * The requests of Grafana's Prometheus data source and of its Infinity data source, as in
 * github.com/grafana/grafana (pkg/promlib, packages/grafana-prometheus) and the plugin's pages.
 */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { joinService } from '../harness/joined-service.ts';
import { prometheusBaseUrl, readMetrics, remoteWrite } from '../harness/metrics.ts';
import { toSample } from '../harness/prompb.ts';
import type { Service } from '../harness/service.ts';
import { until } from '../harness/until.ts';

let service: Service;
/** On a minute. */
const nowMs = Math.floor(Date.now() / 60_000) * 60_000;
const [start, end] = [nowMs / 1000 - 600, nowMs / 1000].map(String) as [string, string];

before(async () => {
  service = await joinService();
  const series = ['api', 'web'].map((job) => ({
    labels: { __name__: 'requests_total', job, 'host.name': 'a' },
    samples: Array.from({ length: 11 }, (_, i) => toSample(nowMs - (10 - i) * 60_000, i * 60)),
  }));
  const metadata = [{ name: 'requests_total', type: 1, help: 'Requests', unit: '' }];
  const { status, text } = await remoteWrite(service, series, metadata);
  assert.equal(status, 204, text);
  await service.postLogs([{ message: 'shown in Grafana', severity: 'ERROR', service_name: 'api' }]);
  await until(async () => (await readMetrics(service)).length === 2, { what: 'two series' });
});
after(() => service.stop());

type Parameters = Readonly<Record<string, string>>;

/** The account is a custom query parameter of the data source, the token a header. */
function send(path: string, parameters: Parameters, method: 'GET' | 'POST') {
  const { accessToken, accountId } = service.quickstart;
  const form = new URLSearchParams(parameters).toString();
  const url = `${prometheusBaseUrl(service)}/${path}?accountId=${accountId}`;
  const authorization = `Bearer ${accessToken}`;
  if (method === 'GET') return service.http.send(`${url}&${form}`, { headers: { authorization } });
  const headers = { authorization, 'content-type': 'application/x-www-form-urlencoded' };
  return service.http.send(url, { method, body: form, headers });
}

async function ask<Data>(
  path: string,
  parameters: Parameters = {},
  method: 'GET' | 'POST' = 'POST',
): Promise<Data> {
  const answer = await send(path, parameters, method);
  assert.equal(answer.status, 200, answer.text);
  const { status, data } = answer.json<{ status: string; data: Data }>();
  assert.equal(status, 'success');
  return data;
}

suite('the Prometheus data source', () => {
  test('saves and tests: the sum at a fixed time, then the version', async () => {
    for (const method of ['GET', 'POST'] as const) {
      const sum = { query: '1+1', time: '4', timeout: '60s' };
      assert.deepEqual(await ask('api/v1/query', sum, method), {
        resultType: 'scalar',
        result: [4, '2'],
      });
    }
    const build = await ask<{ version: string; features?: object }>(
      'api/v1/status/buildinfo',
      {},
      'GET',
    );
    assert.match(build.version, /^3\./);
    // With features Grafana would take it for Mimir and ask for its ruler.
    assert.equal(build.features, undefined);
  });

  test('draws a panel: steps in seconds, times with fractions', async () => {
    const query = 'sum by (job) (rate(requests_total[5m]))';
    const range = { query, start: `${start}.5`, end: `${end}.5`, step: '15', timeout: '60s' };
    for (const method of ['GET', 'POST'] as const) {
      const { resultType, result } = await ask<{ resultType: string; result: unknown[] }>(
        'api/v1/query_range',
        range,
        method,
      );
      assert.deepEqual([resultType, result.length], ['matrix', 2]);
    }
  });

  test('tells the fault of a query as Prometheus does', async () => {
    const answer = await send(
      'api/v1/query_range',
      { query: 'sum(', start, end, step: '15' },
      'POST',
    );
    assert.equal(answer.status, 400);
    assert.partialDeepStrictEqual(answer.json(), { status: 'error', errorType: 'bad_data' });
  });

  test('offers metrics, labels and values', async () => {
    const range = { start, end, limit: '40000' };
    const names = await ask('api/v1/label/__name__/values', range, 'GET');
    assert.deepEqual(names, ['requests_total']);
    const labels = { ...range, 'match[]': 'requests_total' };
    assert.deepEqual(await ask('api/v1/labels', labels), ['__name__', 'host.name', 'job']);
    const matched = { ...range, 'match[]': '{__name__="requests_total"}' };
    assert.deepEqual(await ask('api/v1/label/job/values', matched, 'GET'), ['api', 'web']);
    assert.deepEqual(await ask('api/v1/label/U__host_2e_name/values', range, 'GET'), ['a']);
    const backwards = { ...matched, start: range.end, end: range.start };
    assert.deepEqual(await ask('api/v1/labels', backwards), []);
    assert.deepEqual(await ask('api/v1/label/job/values', backwards, 'GET'), []);
    assert.deepEqual(await ask('api/v1/series', backwards), []);
    const every = { ...range, 'match[]': '{__name__!=""}' };
    assert.equal((await ask<unknown[]>('api/v1/series', every)).length, 2);
    assert.deepEqual(await ask('api/v1/metadata', { limit: '40000' }, 'GET'), {
      requests_total: [{ type: 'counter', help: 'Requests', unit: '' }],
    });
  });

  for (const path of ['metadata', 'label/job/values', 'rules']) {
    test(`may not POST ${path}, as with Prometheus`, async () => {
      assert.equal((await send(`api/v1/${path}`, {}, 'POST')).status, 405);
    });
  }

  test('is asked for its health without a token, as promtool does', async () => {
    for (const path of ['-/healthy', '-/ready']) {
      const answer = await service.http.send(`${prometheusBaseUrl(service)}/${path}`);
      assert.equal(answer.status, 200, answer.text);
    }
  });

  test('asks for exemplars, rules and alerts', async () => {
    const range = { query: 'requests_total', start, end };
    assert.deepEqual(await ask('api/v1/query_exemplars', range), []);
    assert.deepEqual(await ask('api/v1/rules', {}, 'GET'), { groups: [] });
    assert.deepEqual(await ask('api/v1/alerts', {}, 'GET'), { alerts: [] });
  });

  test('formats and explains a query', async () => {
    const formatted = await ask('api/v1/format_query', { query: 'sum(a)by(b)' });
    assert.equal(formatted, 'sum by (b) (a)');
    const { type } = await ask<{ type: string }>('api/v1/parse_query', { query: 'sum(a)' });
    assert.equal(type, 'aggregation');
  });
});

suite('the Infinity data source', () => {
  const read = async (path: string, parameters: Parameters) => {
    const { accessToken, accountId, streamUrl } = service.quickstart;
    const form = new URLSearchParams(parameters).toString();
    const answer = await service.http.send(`${streamUrl}${path}?${form}`, {
      headers: { authorization: `Bearer ${accessToken}`, 'x-active-account': accountId },
    });
    assert.equal(answer.status, 200, answer.text);
    return answer;
  };
  /** `${__from}` and `${__to}` are Unix ms. */
  const range = { sinceTime: String(nowMs - 3_600_000), untilTime: String(nowMs + 3_600_000) };

  test('reads logs with the selectors of the page', async () => {
    const query = 'service:api severity>=error';
    const { logs } = await until(
      async () => {
        const answer = await read('/api/v1/logs', { ...range, query, limit: '1000' });
        const body = answer.json<{ logs: Record<string, string>[] }>();
        return body.logs.length > 0 && body;
      },
      { what: 'the log' },
    );
    assert.partialDeepStrictEqual(logs, [
      { message: 'shown in Grafana', severity: 'ERROR', serviceName: 'api', host: '' },
    ]);
    assert.ok(Date.parse(logs[0]!['timestamp']!) > 0);
    assert.match(logs[0]!['logId']!, /^[\da-f-]{36}$/);
  });

  test('reads statistics over time', async () => {
    const answer = await read('/api/v1/stats', {
      ...range,
      stat: 'count',
      by: 'service',
      step: '1m',
    });
    assert.partialDeepStrictEqual(answer.json(), {
      rows: [{ by: { service: 'api' }, values: { count: 1 } }],
    });
  });
});
