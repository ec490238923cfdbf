/** The stream port: the order of its checks, its privacy headers, and the control API's bodies. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { z } from 'zod';
import type { AdminContext } from '../../src/admin/context.ts';
import { defineAccountRoute, defineRoute } from '../../src/admin/routes.ts';
import { AppError } from '../../src/model/errors.ts';
import { jsonResponse, type ReadRoute } from '../../src/model/read-route.ts';
import { type HeaderList, type Received, transports } from './client.ts';
import { accountId, addToken, type Edge, openEdge, otherAccountId } from './edge.ts';

const reads: readonly ReadRoute[] = (['logs:read', 'analytics:read'] as const).map((scope) => ({
  method: 'GET',
  path: scope === 'logs:read' ? '/api/v1/logs' : '/api/v1/histogram',
  operationId: scope,
  summary: scope,
  scope,
  query: z.strictObject({ limit: z.string().optional() }),
  response: jsonResponse(z.object({})),
  read: async ({ accountId: account, search }) => {
    const sent = [...search];
    const fault = sent.find(([name]) => name === 'fault')?.[1];
    if (fault === 'bug') throw new Error('SELECT secret FROM table');
    if (fault !== undefined) {
      throw new AppError(fault as 'malformed', 'cannot', { parameter: 'fault' });
    }
    return { account, labels: sent.flatMap(([name, value]) => (name === 'label' ? [value] : [])) };
  },
}));

const admin = [
  defineAccountRoute({
    endpoint: 'POST /things/:id',
    operationId: 'createThing',
    summary: 'Make a thing',
    scope: 'admin',
    params: z.object({ id: z.string() }),
    body: z.strictObject({ name: z.string() }),
    response: z.object({ id: z.string() }),
    successStatus: 201,
    handle: async ({ params, body, accountId: account }) => ({ ...params, ...body, account }),
  }),
  defineRoute({
    endpoint: 'DELETE /things/:id',
    operationId: 'deleteThing',
    summary: 'Delete a thing',
    scope: 'operator',
    params: z.object({ id: z.string() }),
    response: undefined,
    successStatus: 204,
    handle: async () => undefined,
  }),
].map((route) => route({} as AdminContext));

let edge: Edge;
before(async () => {
  edge = await openEdge({ parts: { reads, admin } });
  addToken(edge.state, 'wra_gone', { type: 'access', receiverId: null, revoked: true });
  const operator = { type: 'access', receiverId: null, accountIds: [] } as const;
  const scopes = new Set(['operator', 'logs:read'] as const);
  addToken(edge.state, 'wra_all', { ...operator, scopes, allAccounts: true });
  addToken(edge.state, 'wra_none', { ...operator, scopes });
});
after(() => edge.close());

const reader = ['Authorization', 'Bearer wra_reader'] as const;
const account = ['X-Active-Account', accountId] as const;
const json = ['Content-Type', 'application/json'] as const;

interface Case {
  readonly name: string;
  readonly status: number;
  readonly method?: string;
  readonly path?: string;
  readonly headers: HeaderList;
  readonly body?: string;
}

const things = '/api/v1/admin/things/7';
const cases: readonly Case[] = [
  { name: 'a read', status: 200, headers: [reader, account] },
  {
    name: 'account in upper case',
    status: 200,
    headers: [reader, [account[0], accountId.toUpperCase()]],
  },
  {
    name: 'a token over all accounts',
    status: 200,
    headers: [['Authorization', 'Bearer wra_all'], account],
  },
  {
    name: 'an operator token without accounts',
    status: 403,
    headers: [['Authorization', 'Bearer wra_none'], account],
  },
  { name: 'unknown route', status: 404, path: '/api/v1/log', headers: [] },
  {
    name: 'unknown route with a strange body',
    status: 404,
    method: 'POST',
    path: '/api/v1/log',
    headers: [['Content-Type', 'a']],
    body: 'x',
  },
  { name: 'no token', status: 401, headers: [account] },
  { name: 'two tokens', status: 401, headers: [reader, reader, account] },
  { name: 'unknown token', status: 401, headers: [['Authorization', 'Bearer wra_x'], account] },
  { name: 'revoked token', status: 401, headers: [['Authorization', 'Bearer wra_gone'], account] },
  { name: 'ingest token', status: 401, headers: [['Authorization', 'Bearer wri_good'], account] },
  { name: 'token before account', status: 401, headers: [] },
  { name: 'no account', status: 400, headers: [reader] },
  { name: 'two accounts', status: 400, headers: [reader, account, account] },
  { name: 'an account that is no UUID', status: 400, headers: [reader, [account[0], 'me']] },
  {
    name: 'account header before scope',
    status: 400,
    path: '/api/v1/histogram',
    headers: [reader],
  },
  { name: 'an account of others', status: 403, headers: [reader, [account[0], otherAccountId]] },
  {
    name: 'a scope that is missing',
    status: 403,
    path: '/api/v1/histogram',
    headers: [reader, account],
  },
  {
    name: 'scope before parameters',
    status: 403,
    path: '/api/v1/histogram?fault=malformed',
    headers: [reader, account],
  },
  {
    name: 'a wrong parameter',
    status: 400,
    path: '/api/v1/logs?fault=malformed',
    headers: [reader, account],
  },
  {
    name: 'an unknown stream',
    status: 404,
    path: '/api/v1/logs?fault=not_found',
    headers: [reader, account],
  },
  {
    name: 'an engine that is away',
    status: 503,
    path: '/api/v1/logs?fault=unavailable',
    headers: [reader, account],
  },
  {
    name: 'another method',
    status: 405,
    method: 'POST',
    headers: [reader, account, json],
    body: '{',
  },
  { name: 'QUERY', status: 405, method: 'QUERY', headers: [reader, account] },
  { name: 'OPTIONS', status: 204, method: 'OPTIONS', headers: [] },
  { name: 'HEAD', status: 200, method: 'HEAD', headers: [reader, account] },
  {
    name: 'admin',
    status: 201,
    method: 'POST',
    path: things,
    headers: [reader, account, json],
    body: '{"name":"a"}',
  },
  {
    name: 'admin without a token',
    status: 401,
    method: 'POST',
    path: things,
    headers: [account, json],
    body: '{',
  },
  {
    name: 'admin of another account',
    status: 403,
    method: 'POST',
    path: things,
    headers: [reader, [account[0], otherAccountId], json],
    body: '{',
  },
  {
    name: 'admin without its scope',
    status: 403,
    method: 'DELETE',
    path: things,
    headers: [reader],
  },
  {
    name: 'admin with a broken body',
    status: 400,
    method: 'POST',
    path: things,
    headers: [reader, account, json],
    body: '{',
  },
  {
    name: 'admin with another field',
    status: 400,
    method: 'POST',
    path: things,
    headers: [reader, account, json],
    body: '{"name":"a","id":1}',
  },
  {
    name: 'admin with a prototype',
    status: 400,
    method: 'POST',
    path: things,
    headers: [reader, account, json],
    body: '{"name":"a","__proto__":{}}',
  },
  {
    name: 'admin with text',
    status: 415,
    method: 'POST',
    path: things,
    headers: [reader, account, ['Content-Type', 'text/plain']],
    body: 'a',
  },
  {
    name: 'admin with a huge body',
    status: 413,
    method: 'POST',
    path: things,
    headers: [reader, account, json],
    body: JSON.stringify({ name: 'a'.repeat(70_000) }),
  },
  {
    name: 'admin with a body that the route does not take',
    status: 400,
    method: 'DELETE',
    path: things,
    headers: [['Authorization', 'Bearer wra_all'], json],
    body: '{"name":"a"}',
  },
  {
    name: 'admin with gzip',
    status: 415,
    method: 'POST',
    path: things,
    headers: [reader, account, json, ['Content-Encoding', 'gzip']],
    body: '{"name":"a"}',
  },
  {
    name: 'admin without an answer',
    status: 204,
    method: 'DELETE',
    path: things,
    headers: [['Authorization', 'Bearer wra_all']],
  },
];

for (const [transport, send] of Object.entries(transports)) {
  for (const { name, status, method = 'GET', path = '/api/v1/logs', headers, body = '' } of cases) {
    test(`${transport}: ${name} is ${status}`, async () => {
      const target = { port: edge.ports.stream, ca: edge.ca };
      const answer = await send(target, { method, path, headers, body });
      assert.equal(answer.status, status, answer.body);
      assertPrivate(answer);
      assert.equal(answer.headers['www-authenticate'] !== undefined, status === 401);
      assert.equal(answer.headers['retry-after'] !== undefined, status === 503);
      if (status === 405) assert.equal(answer.headers['allow'], 'GET, HEAD, OPTIONS');
      if (status < 400 || answer.body === '') return;
      assert.match(String(answer.headers['content-type']), /^application\/problem\+json/);
      assert.equal((JSON.parse(answer.body) as { status: number }).status, status);
    });
  }

  test(`${transport}: answers a bug with 500 and no details`, async () => {
    const target = { port: edge.ports.stream, ca: edge.ca };
    const path = '/api/v1/logs?fault=bug';
    const answer = await send(target, {
      method: 'GET',
      path,
      headers: [reader, account],
      body: '',
    });
    assert.equal(answer.status, 500);
    assert.doesNotMatch(answer.body, /SELECT/);
    assertPrivate(answer);
    assert.match(edge.state.logged.pop() ?? '', /SELECT secret/);
    assert.deepEqual(edge.state.logged, []);
  });
}

test('answers 408 to a slow body of the control API', async (t) => {
  const bodyPace = { timeoutMs: 200, graceMs: 100, minBytesPerSecond: 1000 };
  const hasty = await openEdge({ parts: { admin }, admission: { bodyPace } });
  t.after(() => hasty.close());
  const target = { port: hasty.ports.stream, ca: hasty.ca };
  const headers: HeaderList = [reader, account, json, ['Content-Length', '20']];
  const sent = { method: 'POST', path: things, headers, body: undefined };
  assert.equal((await transports['HTTP/1.1'](target, sent)).status, 408);
});

test('passes repeated parameters to the read as sent', async () => {
  const target = { port: edge.ports.stream, ca: edge.ca };
  const path = '/api/v1/logs?label=a%3A1&label=b:2%2C3';
  const sent = { method: 'GET', path, headers: [reader, account], body: '' };
  const answer = await transports['HTTP/1.1'](target, sent);
  assert.deepEqual(JSON.parse(answer.body), { account: accountId, labels: ['a:1', 'b:2,3'] });
});

test('lists the missing parts in /readyz on each port', async () => {
  edge.state.missing.push('queue');
  const ops = await fetch(`http://127.0.0.1:${edge.ports.ops}/readyz`);
  const target = { port: edge.ports.ingest, ca: edge.ca };
  const sent = { method: 'GET', path: '/readyz', headers: [], body: '' };
  const ingest = await transports['HTTP/1.1'](target, sent);
  edge.state.missing.pop();
  assert.deepEqual([ops.status, ingest.status], [503, 503]);
  assert.deepEqual(((await ops.json()) as { missing: string[] }).missing, ['queue']);
  assert.equal((await fetch(`http://127.0.0.1:${edge.ports.ops}/readyz`)).status, 200);
});

function assertPrivate({ headers }: Received): void {
  assert.equal(headers['cache-control'], 'private, no-store');
  assert.equal(headers['vary'], 'Authorization, X-Active-Account, Cookie, Accept-Encoding');
  assert.equal(headers['x-content-type-options'], 'nosniff');
  assert.equal(headers['access-control-allow-origin'], undefined);
}
