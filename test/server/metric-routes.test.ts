/**
 * The API of Prometheus on the stream port: its checks in their order, its envelope, its forms and
 * its messages, over a store that a test can steer.
 */
import assert from 'node:assert/strict';
import { after, before, beforeEach, suite, test } from 'node:test';
import { compressSync, uncompressSync } from 'snappy';
import { createMetricsReader } from '../../src/metrics/metrics-reader.ts';
import { createMetricRoutes } from '../../src/metrics/routes.ts';
import { AppError } from '../../src/model/errors.ts';
import type { SamplesPlan, SeriesPlan } from '../../src/model/metric-plan.ts';
import { createFakeMetricStore, type FakeMetricStore } from '../metrics/fake-metric-store.ts';
import { type HeaderList, type Received, transports } from './client.ts';
import { accountId, addToken, type Edge, openEdge, otherAccountId } from './edge.ts';

const nowMs = Date.parse('2026-04-01T00:00:00Z');
const dayMs = 86_400_000;
const streamId = 'b1946ac9-2492-4d23-8f1a-0a7c3d5e6f70';
const stream = {
  streamId,
  accountId,
  name: 'main',
  retentionDays: 30,
  dataDeletedUntil: null,
  createdAt: '',
};
const limits = { maxReadSeries: 5, maxReadSamples: 4, maxExemplars: 3, maxSelectors: 3 };

let edge: Edge;
let store: FakeMetricStore;
before(async () => {
  const routes = createMetricRoutes(
    createMetricsReader(
      {
        store: new Proxy({} as FakeMetricStore['parts'], {
          get: (_, name: keyof FakeMetricStore['parts']) => store.parts[name],
        }),
        grants: { streams: async (account) => (account === accountId ? [stream] : []) },
        now: () => nowMs,
      },
      limits,
    ),
  );
  edge = await openEdge({ parts: { reads: routes } });
  const reader = { type: 'access', receiverId: null } as const;
  addToken(edge.state, 'wra_metrics', { ...reader, scopes: new Set(['metrics:read']) });
  addToken(edge.state, 'wra_logs', { ...reader, scopes: new Set(['logs:read']) });
});
after(() => edge.close());
beforeEach(() => {
  store = createFakeMetricStore();
});

const token = ['Authorization', 'Bearer wra_metrics'] as const;
const account = ['X-Active-Account', accountId] as const;
const formType = ['Content-Type', 'application/x-www-form-urlencoded'] as const;
const messageHeaders: HeaderList = [
  ['Content-Type', 'application/x-protobuf'],
  ['Content-Encoding', 'snappy'],
  ['X-Prometheus-Remote-Read-Version', '0.1.0'],
];

interface Call {
  readonly method?: string;
  readonly headers?: HeaderList;
  readonly body?: string | Buffer;
  readonly transport?: keyof typeof transports;
}

function call(path: string, options: Call = {}): Promise<Received> {
  const { method = 'GET', headers = [], body = '', transport = 'HTTP/1.1' } = options;
  return transports[transport](
    { port: edge.ports.stream, ca: edge.ca },
    {
      method,
      path: `/api/v1/prometheus/api/v1/${path}`,
      headers: [
        ...(headers.some(([name]) => name === 'Authorization') ? [] : [token]),
        ...headers,
      ].concat(headers.some(([name]) => name === 'X-Active-Account') ? [] : [account]),
      body,
    },
  );
}

async function answer(path: string, options: Call = {}): Promise<unknown> {
  const { status, body } = await call(path, options);
  assert.equal(status, 200, body);
  return JSON.parse(body);
}

/** A request for these times and `{__name__="up"}`. */
function readRequest(...ranges: readonly (readonly [number, number])[]): Buffer {
  const matcher = Buffer.concat([Buffer.of(0x12, 8), Buffer.from('__name__'), Buffer.of(0x1a, 2)]);
  const queries = ranges.map(([from, until]) => {
    const fields = Buffer.concat([
      Buffer.of(0x08, from, 0x10, until, 0x1a, matcher.length + 2),
      matcher,
      Buffer.from('up'),
    ]);
    return Buffer.concat([Buffer.of(0x0a, fields.length), fields]);
  });
  return compressSync(Buffer.concat(queries));
}

const sampled = (name: string, ...times: bigint[]) => ({
  labels: [['__name__', name]] as const,
  times: BigInt64Array.from(times),
  values: BigUint64Array.from(times, () => 0x7ff0000000000002n),
  histograms: [],
});

suite('checks, in their order', () => {
  const form = { method: 'POST', headers: [formType] } as const;
  const read = { method: 'POST', headers: messageHeaders } as const;
  const bad = ['Authorization', 'Bearer wra_nobody'] as const;
  const noScope = ['Authorization', 'Bearer wra_logs'] as const;
  const stranger = ['X-Active-Account', otherAccountId] as const;
  const cases: readonly (readonly [string, number, string, string, Call?])[] = [
    ['a read', 200, '', 'labels'],
    ['a form', 200, '', 'labels', form],
    ['a form without a body or a type', 200, '', 'labels', { method: 'POST' }],
    ['HEAD', 200, '', 'labels', { method: 'HEAD' }],
    ['an unknown token', 401, 'unauthorized', 'labels?limit=x', { headers: [bad] }],
    [
      'an unknown token with a strange body',
      401,
      'unauthorized',
      'labels',
      { method: 'POST', headers: [bad, ['Content-Type', 'a']], body: 'x' },
    ],
    [
      'an unknown token with a large body',
      401,
      'unauthorized',
      'read',
      { ...read, headers: [bad, ...messageHeaders], body: Buffer.alloc(2_000_000) },
    ],
    ['no account', 400, 'bad_data', 'labels', { headers: [['X-Active-Account', '']] }],
    ['an account of others', 403, 'forbidden', 'labels', { headers: [stranger] }],
    ['a scope that is missing', 403, 'forbidden', 'labels?limit=x', { headers: [noScope] }],
    [
      'a scope that is missing for a message',
      403,
      'forbidden',
      'read',
      { ...read, headers: [noScope], body: 'x' },
    ],
    ['a wrong limit', 400, 'bad_data', 'labels?limit=x'],
    ['a wrong time', 400, 'bad_data', 'labels?start=yesterday'],
    ['a wrong selector', 400, 'bad_data', 'labels?match[]=%7B'],
    ['a range that runs backwards', 400, 'bad_data', 'labels?start=2&end=1'],
    ['too many selectors', 400, 'bad_data', 'labels?match[]=a&match[]=b&match[]=c&match[]=d'],
    ['too many matchers', 400, 'bad_data', `labels?match[]=%7B${'a%3D%22b%22,'.repeat(1001)}%7D`],
    ['a start given twice', 400, 'bad_data', 'labels?start=1&start=2'],
    ['series without a selector', 400, 'bad_data', 'series'],
    ['exemplars without a query', 400, 'bad_data', 'query_exemplars'],
    ['exemplars of more than a selector', 400, 'bad_data', 'query_exemplars?query=rate(a[1m])'],
    ['a stream of others', 404, 'not_found', `labels?streamId=${otherAccountId}`],
    [
      'a form as JSON',
      415,
      'bad_data',
      'labels',
      { method: 'POST', headers: [['Content-Type', 'application/json']], body: '{}' },
    ],
    [
      'a form with gzip',
      415,
      'bad_data',
      'labels',
      { method: 'POST', headers: [formType, ['Content-Encoding', 'gzip']], body: 'x' },
    ],
    ['a large form', 413, 'execution', 'labels', { ...form, body: `a=${'b'.repeat(1_100_000)}` }],
    ['a message without a type', 415, 'bad_data', 'read', { method: 'POST', body: 'x' }],
    [
      'a message that is text',
      415,
      'bad_data',
      'read',
      {
        method: 'POST',
        headers: [
          ['Content-Type', 'text/plain'],
          ['Content-Encoding', 'snappy'],
        ],
        body: 'x',
      },
    ],
    [
      'a message without snappy',
      415,
      'bad_data',
      'read',
      { method: 'POST', headers: [['Content-Type', 'application/x-protobuf']], body: 'x' },
    ],
    ['a message that is not there', 400, 'bad_data', 'read', read],
    ['a message that is no snappy', 400, 'bad_data', 'read', { ...read, body: Buffer.of(5, 255) }],
    [
      'a message that is no protobuf',
      400,
      'bad_data',
      'read',
      { ...read, body: compressSync('x') },
    ],
    [
      'a message that would be large',
      413,
      'execution',
      'read',
      { ...read, body: compressSync(Buffer.alloc(1_100_000)) },
    ],
    [
      'too many queries',
      400,
      'bad_data',
      'read',
      { ...read, body: readRequest([1, 2], [1, 2], [1, 2], [1, 2]) },
    ],
    ['PromQL', 404, 'not_found', 'query?query=1%2B1'],
    ['PromQL as a form', 404, 'not_found', 'query_range', { ...form, body: 'query=up' }],
  ];
  for (const [name, status, errorType, path, options] of cases) {
    for (const transport of ['HTTP/1.1', 'HTTP/2'] as const) {
      test(`${transport}: ${name} is ${status}`, async () => {
        const received = await call(path, { ...options, transport });
        assert.equal(received.status, status, received.body);
        assert.equal(received.headers['cache-control'], 'private, no-store');
        assert.equal(received.headers['vary'], 'Authorization, X-Active-Account');
        assert.match(String(received.headers['content-type']), /^application\/json/);
        if (status === 200) return;
        const body = JSON.parse(received.body) as Record<string, string>;
        assert.equal(body['status'], 'error');
        assert.equal(body['errorType'], errorType);
        assert.match(String(body['error']), /^cannot /);
        assert.equal(body['detail'], body['error']);
        assert.match(String(body['type']), /^urn:weir:problem:/);
        assert.equal(status === 401, received.headers['www-authenticate'] !== undefined);
        assert.deepEqual(store.plans, []);
      });
    }
  }

  test('a store that is away is 503, and says when to come again', async () => {
    store.fault = new AppError('unavailable', 'cannot read', { retryAfterSeconds: 2 });
    const { status, headers, body } = await call('labels');
    assert.equal(status, 503);
    assert.equal(headers['retry-after'], '2');
    assert.equal((JSON.parse(body) as { errorType: string }).errorType, 'unavailable');
  });

  test('a bug is 500 and shows nothing of itself', async () => {
    store.fault = new Error('SELECT secret');
    const { status, body } = await call('labels');
    assert.equal(status, 500);
    assert.doesNotMatch(body, /secret/);
    edge.state.logged.length = 0;
  });

  test('other methods are told which ones there are', async () => {
    const allowed = async (path: string) => {
      const { status, headers } = await call(path, { method: 'DELETE' });
      assert.equal(status, 405);
      return headers['allow'];
    };
    assert.equal(await allowed('labels'), 'GET, HEAD, OPTIONS, POST');
    assert.equal(await allowed('label/job/values'), 'GET, HEAD, OPTIONS, POST');
    assert.equal(await allowed('read'), 'OPTIONS, POST');
    assert.equal(await allowed('status/buildinfo'), 'GET, HEAD, OPTIONS');
  });
});

suite('the account, for clients that can send no header of their own', () => {
  const named = async (query: string, headers: HeaderList) => {
    const target = { port: edge.ports.stream, ca: edge.ca };
    const path = `/api/v1/prometheus/api/v1/labels${query}`;
    const sent = { method: 'GET', path, headers: [token, ...headers], body: '' };
    return (await transports['HTTP/1.1'](target, sent)).status;
  };

  test('stands in the URL, once', async () => {
    assert.equal(await named(`?accountId=${accountId}`, []), 200);
    assert.equal(await named(`?accountId=${otherAccountId}`, []), 403);
    assert.equal(await named('?accountId=me', []), 400);
    assert.equal(await named('', []), 400);
    assert.equal(await named(`?accountId=${accountId}&accountId=${accountId}`, []), 400);
    assert.equal(await named(`?accountId=${accountId}`, [account]), 400);
  });

  test('a form is not looked at for it', async () => {
    const body = `accountId=${otherAccountId}`;
    assert.equal((await call('labels', { method: 'POST', headers: [formType], body })).status, 200);
  });
});

suite('what the store is asked', () => {
  const last = () => store.plans.at(-1) as SeriesPlan;

  test('the last day of all streams, where nothing is said', async () => {
    await answer('labels');
    assert.deepEqual(last(), {
      accountId,
      streams: [{ streamId, receivedFromNanos: BigInt(nowMs - 30 * dayMs) * 1_000_000n }],
      selectors: [],
      fromMs: BigInt(nowMs - dayMs),
      untilMs: BigInt(nowMs),
      limit: 6,
    });
  });

  test('a day before the end that was given', async () => {
    await answer('labels?end=1000000000.5');
    assert.deepEqual([last().fromMs, last().untilMs], [999_913_600_500n, 1_000_000_000_500n]);
    await answer('labels?end=-1e300');
    assert.deepEqual([last().fromMs, last().untilMs], [-(2n ** 63n), -(2n ** 63n)]);
  });

  test('the range, the selectors and the stream that were given', async () => {
    const selectors = [
      [{ name: '__name__', type: 'equal', value: 'up' }],
      [{ name: 'a', type: 'matches', value: 'b|c' }],
    ];
    const query =
      'start=1&end=2026-03-01T00:00:00Z&match[]=up&match[]=%7Ba%3D~%22b%7Cc%22%7D&limit=2' +
      `&streamId=${streamId.toUpperCase()}&nocache=1`;
    await answer(`labels?${query}`);
    const { fromMs, untilMs, selectors: asked, limit, streams } = last();
    assert.deepEqual([fromMs, untilMs], [1000n, BigInt(Date.parse('2026-03-01T00:00:00Z'))]);
    assert.deepEqual(asked, selectors);
    assert.equal(limit, 3);
    assert.equal(streams.length, 1);
    const ofUrl = last();
    await answer('labels', { method: 'POST', headers: [formType], body: query });
    assert.deepEqual(last(), ofUrl);
    await answer(`labels?${query.slice(0, 8)}`, {
      method: 'POST',
      headers: [['Content-Type', 'application/x-www-form-urlencoded; charset=UTF-8']],
      body: query.slice(8),
    });
    assert.deepEqual(last(), ofUrl);
  });

  test('labels by names of any kind', async () => {
    for (const name of ['job', 'U__k8s_2e_pod', 'k8s.pod', '%C3%A9', 'a%2Fb', 'a%20b']) {
      await answer(`label/${name}/values`);
    }
    assert.deepEqual(store.askedNames, ['job', 'k8s.pod', 'k8s.pod', 'é', 'a/b', 'a b']);
    await answer(`label/${'a'.repeat(5000)}/values`);
    assert.equal(store.askedNames.at(-1)?.length, 5000);
  });

  test('each query of a remote read, except those for no time at all', async () => {
    store.samples = [sampled('up', 1n)];
    const body = readRequest([1, 5], [5, 1], [2, 3]);
    const { status } = await call('read', { method: 'POST', headers: messageHeaders, body });
    assert.equal(status, 200);
    assert.deepEqual(
      store.plans.map((plan) => [(plan as SamplesPlan).fromMs, (plan as SamplesPlan).untilMs]),
      [
        [1n, 5n],
        [2n, 3n],
      ],
    );
    const { selectors, maxSeries, maxSamples } = store.plans[0] as SamplesPlan;
    assert.deepEqual(selectors, [[{ name: '__name__', type: 'equal', value: 'up' }]]);
    assert.deepEqual([maxSeries, maxSamples], [5, 4]);
  });
});

suite('answers', () => {
  test('names, whole or cut to the limit that was asked for', async () => {
    store.names = ['a', 'b', 'c'];
    const whole = { status: 'success', data: ['a', 'b', 'c'] };
    assert.deepEqual(await answer('labels'), whole);
    assert.deepEqual(await answer('labels?limit=3'), whole);
    assert.deepEqual(await answer('labels?limit=0'), whole);
    assert.deepEqual(await answer('label/a/values?limit=2'), {
      status: 'success',
      data: ['a', 'b'],
      warnings: ['results truncated due to limit'],
    });
  });

  test('never short of anything without a word', async () => {
    store.names = ['a', 'b', 'c', 'd', 'e', 'f'];
    const { status, body } = await call('labels');
    assert.equal(status, 503);
    assert.match(body, /more than 5 .* raise metrics.maxReadSeries/);
    const cut = (await answer('labels?limit=100')) as { data: string[]; warnings: string[] };
    assert.equal(cut.data.length, 5);
    assert.equal(cut.warnings.length, 1);
  });

  test('series, whatever their labels are called', async () => {
    store.series = [
      [
        ['__name__', 'up'],
        ['__proto__', 'x'],
      ],
      [['__name__', 'down']],
    ];
    const { body } = await call('series?match[]=up');
    assert.equal(
      body,
      '{"status":"success","data":[{"__name__":"up","__proto__":"x"},{"__name__":"down"}]}',
    );
  });

  test('metadata by metric', async () => {
    const entry = { type: 'counter', unit: '', help: 'h' };
    store.metadata = [
      { name: 'a', ...entry },
      { name: 'a', ...entry, help: 'other' },
      { name: 'b', ...entry },
    ];
    assert.deepEqual(await answer('metadata'), {
      status: 'success',
      data: { a: [entry, { ...entry, help: 'other' }], b: [entry] },
    });
    assert.deepEqual(await answer('metadata?limit=1&limit_per_metric=1&metric=a'), {
      status: 'success',
      data: { a: [entry] },
      warnings: ['results truncated due to limit'],
    });
    assert.equal((store.plans.at(-1) as { metric?: string }).metric, 'a');
  });

  test('exemplars by series', async () => {
    const seriesLabels = [['__name__', 'up']] as const;
    const labels = [['trace_id', 'abc']] as const;
    store.exemplars = [
      { seriesLabels, labels, timeMs: 1_600_096_945_479n, value: 6 },
      { seriesLabels, labels: [], timeMs: 1_600_096_945_480n, value: -Infinity },
      { seriesLabels: [['__name__', 'z']], labels, timeMs: 0n, value: Number.NaN },
    ];
    assert.deepEqual(await answer('query_exemplars?query=%7B__name__%3D~%22.%2B%22%7D'), {
      status: 'success',
      data: [
        {
          seriesLabels: { __name__: 'up' },
          exemplars: [
            { labels: { trace_id: 'abc' }, value: '6', timestamp: 1_600_096_945.479 },
            { labels: {}, value: '-Inf', timestamp: 1_600_096_945.48 },
          ],
        },
        {
          seriesLabels: { __name__: 'z' },
          exemplars: [{ labels: { trace_id: 'abc' }, value: 'NaN', timestamp: 0 }],
        },
      ],
    });
  });

  test('the version of the API', async () => {
    const { data } = (await answer('status/buildinfo')) as { data: Record<string, string> };
    assert.deepEqual([data['application'], data['version']], ['Weir', '3.0.0']);
  });

  for (const transport of ['HTTP/1.1', 'HTTP/2'] as const) {
    test(`${transport}: samples, bit by bit, of each query`, async () => {
      store.samples = [sampled('up', 1n)];
      const { status, headers, bytes } = await call('read', {
        method: 'POST',
        headers: messageHeaders,
        body: readRequest([1, 5], [5, 1]),
        transport,
      });
      assert.equal(status, 200);
      assert.equal(headers['content-type'], 'application/x-protobuf');
      assert.equal(headers['content-encoding'], 'snappy');
      assert.equal(headers['cache-control'], 'private, no-store');
      const label = Buffer.concat([
        Buffer.of(0x0a, 14, 0x0a, 8),
        Buffer.from('__name__'),
        Buffer.of(0x12, 2),
        Buffer.from('up'),
      ]);
      const sample = Buffer.of(0x12, 11, 0x09, 2, 0, 0, 0, 0, 0, 0xf0, 0x7f, 0x10, 1);
      const expected = Buffer.concat([
        Buffer.of(0x0a, 31, 0x0a, 29),
        label,
        sample,
        Buffer.of(0x0a, 0),
      ]);
      assert.deepEqual(uncompressSync(bytes), expected);
    });
  }

  test('more samples than one read may have are refused, over all its queries', async () => {
    store.samples = [sampled('up', 1n, 2n, 3n)];
    const read = (body: Buffer) => call('read', { method: 'POST', headers: messageHeaders, body });
    assert.equal((await read(readRequest([1, 2]))).status, 200);
    const { status, body } = await read(readRequest([1, 2], [1, 2]));
    assert.equal(status, 503);
    assert.match(body, /more than 4 samples: .* raise metrics.maxReadSamples/);
  });
});
