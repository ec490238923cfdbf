/** The order of the checks of metric reads, and the format of their failures. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, suite, test } from 'node:test';
import { compressSync } from 'snappy';
import { AppError } from '../../src/model/errors.ts';
import { type HeaderList, transports } from './client.ts';
import { accountId, otherAccountId } from './edge.ts';
import {
  type Call,
  formType,
  messageHeaders,
  type MetricEdge,
  openMetricEdge,
  readRequest,
} from './metric-edge.ts';

let opened: MetricEdge;
before(async () => {
  opened = await openMetricEdge();
});
after(() => opened.edge.close());
beforeEach(() => opened.store.reset());

suite('checks, in order', () => {
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
    ['a negative limit of metadata', 200, '', 'metadata?limit=-1&limit_per_metric=-1'],
    ['a negative limit of names', 400, 'bad_data', 'labels?limit=-1'],
    ['a wrong time', 400, 'bad_data', 'labels?start=yesterday'],
    ['a wrong selector', 400, 'bad_data', 'labels?match[]=%7B'],
    [
      'exemplars of a range that runs backwards',
      400,
      'bad_data',
      'query_exemplars?query=a&start=2&end=1',
    ],
    ['too many selectors', 400, 'bad_data', 'labels?match[]=a&match[]=b&match[]=c&match[]=d'],
    ['too many matchers', 400, 'bad_data', `labels?match[]=%7B${'a%3D%22b%22,'.repeat(1001)}%7D`],
    ['a start given twice', 400, 'bad_data', 'labels?start=1&start=2'],
    ['series without a selector', 400, 'bad_data', 'series'],
    ['values of no label', 400, 'bad_data', 'label/U__/values'],
    ['exemplars without a query', 400, 'bad_data', 'query_exemplars'],
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
    ['PromQL', 200, '', 'query?query=1%2B1'],
    ['PromQL without a step', 400, 'bad_data', 'query_range', { ...form, body: 'query=up' }],
  ];
  for (const [name, status, errorType, path, options] of cases) {
    for (const transport of ['HTTP/1.1', 'HTTP/2'] as const) {
      test(`${transport}: ${name} is ${status}`, async () => {
        const received = await opened.call(path, { ...options, transport });
        assert.equal(received.status, status, received.body);
        assert.equal(received.headers['cache-control'], 'private, no-store');
        assert.equal(
          received.headers['vary'],
          'Authorization, X-Active-Account, Cookie, Accept-Encoding',
        );
        assert.match(String(received.headers['content-type']), /^application\/json/);
        if (status === 200) return;
        const body = JSON.parse(received.body) as Record<string, string>;
        assert.equal(body['status'], 'error');
        assert.equal(body['errorType'], errorType);
        assert.match(String(body['error']), /^(?:cannot |invalid parameter "match\[\]": )/);
        assert.equal(body['detail'], body['error']);
        assert.match(String(body['type']), /^urn:weir:problem:/);
        assert.equal(status === 401, received.headers['www-authenticate'] !== undefined);
        assert.deepEqual(opened.store.plans, []);
      });
    }
  }

  test('answers 503 with Retry-After while the store is unreachable', async () => {
    opened.store.fault = new AppError('unavailable', 'cannot read', { retryAfterSeconds: 2 });
    const { status, headers, body } = await opened.call('labels');
    assert.equal(status, 503);
    assert.match(String(headers['retry-after']), /^[12]$/);
    assert.equal((JSON.parse(body) as { errorType: string }).errorType, 'unavailable');
  });

  test('answers 503 to a query without time, as Prometheus', async () => {
    for (const timeout of ['0', '-1', '0s']) {
      const { status, body } = await opened.call(`query?query=1&timeout=${timeout}`);
      assert.equal(status, 503, body);
      assert.match(body, /"errorType":"timeout","error":"query timed out in query queue"/);
    }
  });

  test('answers a bug with 500 and no details', async () => {
    opened.store.fault = new Error('SELECT secret');
    const { status, body } = await opened.call('labels');
    assert.equal(status, 500);
    assert.doesNotMatch(body, /secret/);
    opened.edge.state.logged.length = 0;
  });

  test('answers 405 with Allow to other methods', async () => {
    const allowed = async (path: string) => {
      const { status, headers } = await opened.call(path, { method: 'DELETE' });
      assert.equal(status, 405);
      return headers['allow'];
    };
    assert.equal(await allowed('labels'), 'GET, HEAD, OPTIONS, POST');
    assert.equal(await allowed('label/job/values'), 'GET, HEAD, OPTIONS');
    assert.equal(await allowed('read'), 'OPTIONS, POST');
    assert.equal(await allowed('status/buildinfo'), 'GET, HEAD, OPTIONS');
  });
});

suite('the account, for clients that cannot send headers', () => {
  const token = ['Authorization', 'Bearer wra_metrics'] as const;
  const account = ['X-Active-Account', accountId] as const;
  const named = async (query: string, headers: HeaderList) => {
    const target = { port: opened.edge.ports.stream, ca: opened.edge.ca };
    const path = `/api/v1/prometheus/api/v1/labels${query}`;
    const sent = { method: 'GET', path, headers: [token, ...headers], body: '' };
    return (await transports['HTTP/1.1'](target, sent)).status;
  };

  test('may be in the URL, once', async () => {
    assert.equal(await named(`?accountId=${accountId}`, []), 200);
    assert.equal(await named(`?accountId=${otherAccountId}`, []), 403);
    assert.equal(await named('?accountId=me', []), 400);
    assert.equal(await named('', []), 400);
    assert.equal(await named(`?accountId=${accountId}&accountId=${accountId}`, []), 400);
    assert.equal(await named(`?accountId=${accountId}`, [account]), 400);
  });

  test('is not read from a form', async () => {
    const body = `accountId=${otherAccountId}`;
    assert.equal(
      (await opened.call('labels', { method: 'POST', headers: [formType], body })).status,
      200,
    );
  });
});
