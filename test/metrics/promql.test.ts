/** PromQL over HTTP, from remote write to the answer. */
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
const now = nowMs / 1000;
const staleMarker = 0x7ff0000000000002n;

before(async () => {
  service = await joinService();
  const counter = (job: string, perMinute: number) => ({
    labels: { __name__: 'requests_total', job },
    samples: Array.from({ length: 11 }, (_, i) =>
      toSample(nowMs - (10 - i) * 60_000, i * perMinute),
    ),
  });
  const gone = {
    labels: { __name__: 'gone' },
    samples: [toSample(nowMs - 60_000, 1), { timeMs: BigInt(nowMs), bits: staleMarker }],
  };
  const { status, text } = await remoteWrite(service, [
    counter('api', 60),
    counter('web', 120),
    gone,
  ]);
  assert.equal(status, 204, text);
  await until(async () => (await readMetrics(service)).length === 3, { what: 'three series' });
});
after(() => service.stop());

interface Reply {
  readonly status: number;
  readonly body: {
    readonly status: string;
    readonly data: {
      readonly resultType: string;
      readonly result: unknown;
      readonly stats?: unknown;
    };
    readonly errorType?: string;
    readonly error?: string;
    readonly infos?: readonly string[];
    readonly warnings?: readonly string[];
  };
}

async function ask(
  path: string,
  parameters: Readonly<Record<string, string | number>>,
  method: 'GET' | 'POST' = 'GET',
): Promise<Reply> {
  const { accessToken, accountId } = service.quickstart;
  const headers = { authorization: `Bearer ${accessToken}`, 'x-active-account': accountId };
  const entries = Object.entries(parameters).map(([name, value]) => [name, String(value)]);
  const form = new URLSearchParams(entries).toString();
  const url = `${prometheusBaseUrl(service)}/api/v1/${path}`;
  const answer =
    method === 'GET'
      ? await service.http.send(`${url}?${form}`, { headers })
      : await service.http.send(url, {
          method,
          body: form,
          headers: { ...headers, 'content-type': 'application/x-www-form-urlencoded' },
        });
  return { status: answer.status, body: JSON.parse(answer.text) as Reply['body'] };
}

suite('PromQL over HTTP', () => {
  for (const method of ['GET', 'POST'] as const) {
    test(`${method}: a rate at one time`, async () => {
      const query = 'sum by (job) (rate(requests_total[5m]))';
      const { status, body } = await ask('query', { query, time: now }, method);
      assert.equal(status, 200);
      assert.deepEqual(body, {
        status: 'success',
        data: {
          resultType: 'vector',
          result: [
            { metric: { job: 'api' }, value: [now, '1'] },
            { metric: { job: 'web' }, value: [now, '2'] },
          ],
        },
      });
    });
  }

  const restored: [selector: string, range: string, found: number][] = [
    ['requests_total{job="api"}', '3600s', 1],
    ['requests_total{job="api"}', '600s', 0],
    ['gone{}', '3600s', 0],
  ];
  for (const [selector, range, found] of restored) {
    test(`the state that vmalert 1.150 restores: ${selector} of ${range}`, async () => {
      const query = `default_rollup(${selector}[${range}])`;
      const { status, body } = await ask('query', { query, time: now + 1200, step: '300s' });
      assert.equal(status, 200);
      assert.equal((body.data.result as object[]).length, found);
    });
  }

  test('values at each step of a range', async () => {
    const { body } = await ask('query_range', {
      query: 'requests_total{job="api"} * 2',
      start: now - 120,
      end: now,
      step: '1m',
    });
    assert.deepEqual(body.data, {
      resultType: 'matrix',
      result: [
        {
          metric: { job: 'api' },
          values: [
            [now - 120, '960'],
            [now - 60, '1080'],
            [now, '1200'],
          ],
        },
      ],
    });
  });

  test('a stale marker ends a series', async () => {
    const at = async (time: number) =>
      (await ask('query', { query: 'gone', time })).body.data.result;
    assert.equal(((await at(now - 60)) as unknown[]).length, 1);
    assert.deepEqual(await at(now), []);
  });

  test('a lookback, of which 0 is the default', async () => {
    const time = now + 240;
    const found = async (lookback_delta: number | string) => {
      const { body } = await ask('query', { query: 'requests_total', time, lookback_delta });
      return (body.data.result as object[]).length;
    };
    assert.deepEqual(await Promise.all(['1m', 0, -1, '5m'].map(found)), [0, 2, 2, 2]);
  });

  test('scalars, strings and ranges', async () => {
    const data = async (query: string) => (await ask('query', { query, time: now })).body.data;
    assert.deepEqual(await data('1 / 0'), { resultType: 'scalar', result: [now, '+Inf'] });
    assert.deepEqual(await data('"a"'), { resultType: 'string', result: [now, 'a'] });
    assert.deepEqual(await data('requests_total{job="web"}[90s]'), {
      resultType: 'matrix',
      result: [
        {
          metric: { __name__: 'requests_total', job: 'web' },
          values: [
            [now - 60, '1080'],
            [now, '1200'],
          ],
        },
      ],
    });
  });

  test('infos, a limit and statistics', async () => {
    const { body } = await ask('query', { query: 'rate(gone[5m])', time: now });
    assert.equal(body.infos, undefined);
    const cut = await ask('query', { query: 'requests_total', time: now, limit: 1, stats: 'all' });
    assert.deepEqual(cut.body.warnings, ['results truncated due to limit']);
    assert.equal((cut.body.data.result as unknown[]).length, 1);
    const { samples } = cut.body.data.stats as { samples: Record<string, unknown> };
    assert.equal(samples['totalQueryableSamples'], 2);
    assert.deepEqual(samples['totalQueryableSamplesPerStep'], [[now, 2]]);
  });

  const failures: readonly (readonly [
    string,
    Record<string, string | number>,
    number,
    string,
    RegExp,
  ])[] = [
    ['query', { query: 'sum(' }, 400, 'bad_data', /^invalid parameter "query": 1:5: parse error: /],
    ['query', { query: 'nosuch(a)' }, 400, 'bad_data', /unknown function with name "nosuch"/],
    ['query', { query: 'up', time: 'x' }, 400, 'bad_data', /parameter time "x"/],
    ['query', {}, 400, 'bad_data', /without parameter query/],
    [
      'query',
      { query: 'requests_total / on() requests_total', time: now },
      422,
      'execution',
      /^found duplicate series for the match group \{\} on the right hand-side/,
    ],
    [
      'query_range',
      { query: 'up', start: 0, end: 100_000, step: 1 },
      400,
      'bad_data',
      /^exceeded maximum resolution of 11,000 points per timeseries/,
    ],
    [
      'query_range',
      { query: 'up[5m]', start: 0, end: 1, step: 1 },
      400,
      'bad_data',
      /^invalid parameter "query": invalid expression type "range vector" for range query/,
    ],
    ['query_range', { query: 'up', start: 1, end: 0, step: 1 }, 400, 'bad_data', /end timestamp/],
    [
      'query_range',
      { query: 'up', start: 0, end: 1, step: 0 },
      400,
      'bad_data',
      /zero or negative/,
    ],
  ];
  for (const [path, parameters, status, errorType, message] of failures) {
    test(`${path} ${JSON.stringify(parameters)} fails`, async () => {
      const { status: got, body } = await ask(path, parameters);
      assert.deepEqual([got, body.status, body.errorType], [status, 'error', errorType]);
      assert.match(body.error ?? '', message);
    });
  }

  test('formats and parses', async () => {
    const formatted = await ask('format_query', { query: 'sum(rate(a{b="c"}[5m]))by(d)>1' });
    assert.equal(formatted.body.data, 'sum by (d) (rate(a{b="c"}[5m])) > 1');
    const { body } = await ask('parse_query', { query: '-a' });
    assert.partialDeepStrictEqual(body.data, {
      type: 'unaryExpr',
      op: '-',
      expr: { type: 'vectorSelector', name: 'a' },
    });
  });

  test('rules, alerts and status of an account without any', async () => {
    assert.deepEqual((await ask('rules', {})).body.data, { groups: [] });
    assert.deepEqual((await ask('alerts', {})).body.data, { alerts: [] });
    assert.deepEqual((await ask('status/config', {})).body.data, { yaml: '' });
    assert.partialDeepStrictEqual((await ask('status/flags', {})).body.data, {
      'query.lookback-delta': '5m',
    });
    assert.partialDeepStrictEqual((await ask('status/runtimeinfo', {})).body.data, {
      storageRetention: '30d',
    });
    assert.partialDeepStrictEqual((await ask('status/tsdb', { limit: '1' })).body.data, {
      headStats: { chunkCount: 0 },
    });
  });
});
