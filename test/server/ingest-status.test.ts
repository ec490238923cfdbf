/** Every status of the ingest route, and the order of its checks, over both transports. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { AppError } from '../../src/model/errors.ts';
import { type HeaderList, type Received, type Send, transports } from './client.ts';
import { accountId, addReceiver, addToken, type Edge, openEdge, otherAccountId } from './edge.ts';

const limited = { eventsPerSecond: 1, burstEvents: 1, maxBodyBytes: null };
const json = ['Content-Type', 'application/json'] as const;
const good = ['Authorization', 'Bearer wri_good'] as const;

let edge: Edge;
before(async () => {
  edge = await openEdge({ admission: { trustedProxies: ['127.0.0.1'] } });
  const { state } = edge;
  addReceiver(state, 'rcv_b', {});
  addToken(state, 'wri_expired', { expiresAtMs: 1 });
  addToken(state, 'wri_revoked', { revoked: true });
  addToken(state, 'wri_mute', { scopes: new Set() });
  const ofReceiver = (receiverId: string, change: Parameters<typeof addReceiver>[2]) => {
    addReceiver(state, receiverId, change);
    addToken(state, `wri_${receiverId}`, { receiverId });
  };
  ofReceiver('rcv_idle', { active: false });
  ofReceiver('rcv_otlp', { kind: 'otlp' });
  ofReceiver('rcv_far', { accountId: otherAccountId });
  ofReceiver('rcv_net', { allowedCidrs: ['10.0.0.0/8'] });
  ofReceiver('rcv_small', { limits: { ...limited, eventsPerSecond: null, maxBodyBytes: 5 } });
});
after(() => edge.close());

interface Case {
  readonly name: string;
  readonly status: number;
  readonly method?: string;
  readonly path?: string;
  readonly receiver?: string;
  readonly headers: HeaderList;
  readonly body?: string | Buffer;
}

const bearer = (token: string) => ['Authorization', `Bearer ${token}`] as const;
const big = 'x'.repeat(1001);

const cases: readonly Case[] = [
  { name: 'one event', status: 202, headers: [good, json] },
  { name: 'empty body', status: 202, headers: [good, json], body: '' },
  {
    name: 'scheme in any case',
    status: 202,
    headers: [['Authorization', 'bEARER wri_good'], json],
  },
  {
    name: 'charset in any case',
    status: 202,
    headers: [good, ['Content-Type', 'APPLICATION/json ; Charset="UTF-8"']],
  },
  { name: 'identity coding', status: 202, headers: [good, json, ['Content-Encoding', 'identity']] },
  { name: 'malformed body', status: 400, headers: [good, json], body: 'bad' },
  {
    name: 'two idempotency keys',
    status: 400,
    headers: [good, json, ['Idempotency-Key', 'a'], ['Idempotency-Key', 'a']],
  },
  { name: 'a key with a space', status: 400, headers: [good, json, ['Idempotency-Key', 'a b']] },
  {
    name: 'a key of 256',
    status: 400,
    headers: [good, json, ['Idempotency-Key', 'k'.repeat(256)]],
  },
  { name: 'no authorization', status: 401, headers: [json] },
  { name: 'two authorizations', status: 401, headers: [good, good, json] },
  { name: 'an empty authorization', status: 401, headers: [['Authorization', ''], json] },
  { name: 'no token', status: 401, headers: [['Authorization', 'Bearer'], json] },
  { name: 'basic', status: 401, headers: [['Authorization', 'Basic d3JpX2dvb2Q6'], json] },
  {
    name: 'two tokens with a comma',
    status: 401,
    headers: [['Authorization', 'Bearer wri_good, Bearer wri_good'], json],
  },
  {
    name: 'two tokens with a space',
    status: 401,
    headers: [['Authorization', 'Bearer wri_good b'], json],
  },
  { name: 'unknown token', status: 401, headers: [bearer('wri_what'), json] },
  { name: 'an 8 KiB token', status: 401, headers: [bearer('w'.repeat(8192)), json] },
  { name: 'access token', status: 401, headers: [bearer('wra_reader'), json] },
  { name: 'expired token', status: 401, headers: [bearer('wri_expired'), json] },
  { name: 'revoked token', status: 401, headers: [bearer('wri_revoked'), json] },
  { name: 'token of another receiver', status: 403, receiver: 'rcv_b', headers: [good, json] },
  { name: 'token without the scope', status: 403, headers: [bearer('wri_mute'), json] },
  {
    name: 'idle receiver',
    status: 403,
    receiver: 'rcv_idle',
    headers: [bearer('wri_rcv_idle'), json],
  },
  {
    name: 'receiver of another kind',
    status: 403,
    receiver: 'rcv_otlp',
    headers: [bearer('wri_rcv_otlp'), json],
  },
  {
    name: 'receiver of another account',
    status: 403,
    receiver: 'rcv_far',
    headers: [bearer('wri_rcv_far'), json],
  },
  {
    name: 'address not allowed',
    status: 403,
    receiver: 'rcv_net',
    headers: [bearer('wri_rcv_net'), json],
  },
  {
    name: 'address allowed through the proxy',
    status: 202,
    receiver: 'rcv_net',
    headers: [bearer('wri_rcv_net'), json, ['X-Forwarded-For', '1.2.3.4, 10.1.2.3']],
  },
  {
    name: 'right-most hop decides',
    status: 403,
    receiver: 'rcv_net',
    headers: [
      bearer('wri_rcv_net'),
      json,
      ['X-Forwarded-For', '10.1.2.3'],
      ['X-Forwarded-For', '1.2.3.4'],
    ],
  },
  {
    name: 'a hop that is no address',
    status: 403,
    receiver: 'rcv_net',
    headers: [bearer('wri_rcv_net'), json, ['X-Forwarded-For', '10.1.2.3:80']],
  },
  { name: 'unknown receiver', status: 404, receiver: 'rcv_none', headers: [good, json] },
  { name: 'GET', status: 404, method: 'GET', headers: [good], body: '' },
  { name: 'PUT', status: 404, method: 'PUT', headers: [good, ['Content-Type', 'what/ever']] },
  { name: 'OPTIONS', status: 404, method: 'OPTIONS', headers: [], body: '' },
  { name: 'TRACE', status: 404, method: 'TRACE', headers: [], body: '' },
  { name: 'logs twice', status: 404, path: '/v1/receivers/rcv_a/logs/logs', headers: [good, json] },
  { name: 'trailing slash', status: 404, path: '/v1/receivers/rcv_a/logs/', headers: [good, json] },
  { name: 'doubled slash', status: 404, path: '//v1/receivers/rcv_a/logs', headers: [good, json] },
  {
    name: 'dots for a receiver',
    status: 404,
    path: '/v1/receivers/%2e%2e/logs',
    headers: [good, json],
  },
  {
    name: 'encoded slash',
    status: 404,
    path: '/v1/receivers/b%2f..%2frcv_a/logs',
    headers: [good, json],
  },
  { name: 'broken escape', status: 404, path: '/v1/receivers/%zz/logs', headers: [good, json] },
  { name: 'another case', status: 404, path: '/V1/receivers/rcv_a/logs', headers: [good, json] },
  { name: 'body too large', status: 413, headers: [good, json], body: big },
  {
    name: 'body too large for the receiver',
    status: 413,
    receiver: 'rcv_small',
    headers: [bearer('wri_rcv_small'), json],
    body: '123456',
  },
  { name: 'no content type', status: 415, headers: [good] },
  { name: 'two content types', status: 415, headers: [good, json, json] },
  { name: 'another content type', status: 415, headers: [good, ['Content-Type', 'text/plain']] },
  {
    name: 'another charset',
    status: 415,
    headers: [good, ['Content-Type', 'application/json; charset=utf-7']],
  },
  {
    name: 'an unknown parameter',
    status: 415,
    headers: [good, ['Content-Type', 'application/json; boundary=x']],
  },
  { name: 'gzip', status: 415, headers: [good, json, ['Content-Encoding', 'gzip']] },
  {
    name: 'two codings',
    status: 415,
    headers: [good, json, ['Content-Encoding', 'identity'], ['Content-Encoding', 'gzip']],
  },
  // The earlier check decides between two faults.
  { name: 'route before token', status: 404, path: '/v1/receivers/rcv_a/log', headers: [] },
  { name: 'token before receiver', status: 401, receiver: 'rcv_none', headers: [json] },
  {
    name: 'receiver before binding',
    status: 404,
    receiver: 'rcv_none',
    headers: [bearer('wri_mute'), json],
  },
  { name: 'binding before content type', status: 403, receiver: 'rcv_b', headers: [good] },
  { name: 'content type before length', status: 415, headers: [good], body: big },
  {
    name: 'length before key',
    status: 413,
    headers: [good, json, ['Idempotency-Key', '']],
    body: big,
  },
];

for (const [transport, send] of Object.entries(transports)) {
  for (const { name, status, method = 'POST', headers, body = 'event', ...rest } of cases) {
    test(`${transport}: ${name} is ${status}`, async () => {
      const path = rest.path ?? `/v1/receivers/${rest.receiver ?? 'rcv_a'}/logs`;
      const already = edge.state.appended.length;
      const sent = { method, path, headers, body };
      const answer = await send({ port: edge.ports.ingest, ca: edge.ca }, sent);
      assert.equal(answer.status, status, answer.body);
      if (status !== 202) assertProblem(answer, already);
    });
  }

  test(`${transport}: answers 503 while the directory is unreachable`, async () => {
    edge.state.grantFault = new AppError('unavailable', 'cannot reach the directory');
    const answer = await post(send, [good, json]);
    edge.state.grantFault = undefined;
    assert.equal(answer.status, 503);
    assert.match(String(answer.headers['retry-after']), /^[1-5]$/);
  });

  test(`${transport}: answers 503 and refunds the quota if the queue refuses`, async () => {
    const receiver = `rcv_back_${transport === 'HTTP/2' ? 2 : 1}`;
    addReceiver(edge.state, receiver, { limits: { ...limited, burstEvents: 5 } });
    addToken(edge.state, `wri_${receiver}`, { receiverId: receiver });
    const headers = [bearer(`wri_${receiver}`), json];
    edge.state.appendFault = new AppError('unavailable', 'cannot append: the disk is full');
    const refused = await post(send, headers, 'a\nb\nc\nd\ne', receiver);
    edge.state.appendFault = undefined;
    assert.equal(refused.status, 503);
    const taken = await post(send, headers, 'a', receiver);
    assert.equal(taken.status, 202);
    assert.match(String(taken.headers['ratelimit']), /^"receiver";r=4;t=0$/);
    assert.equal(taken.headers['ratelimit-policy'], '"receiver";q=5;w=5');
  });

  test(`${transport}: answers 429 to a quota in debt, before the body and after 413`, async () => {
    const receiver = `rcv_debt_${transport === 'HTTP/2' ? 2 : 1}`;
    addReceiver(edge.state, receiver, { limits: limited, accountEventsPerSecond: 1000 });
    addToken(edge.state, `wri_${receiver}`, { receiverId: receiver });
    const headers = [bearer(`wri_${receiver}`), json];
    // Accepted although larger than the burst: it leaves the quota in debt.
    assert.equal((await post(send, headers, 'e\n'.repeat(60), receiver)).status, 202);
    assert.equal((await post(send, headers, big, receiver)).status, 413);
    const target = { port: edge.ports.ingest, ca: edge.ca };
    const path = `/v1/receivers/${receiver}/logs`;
    const sent = { method: 'POST', path, headers, body: undefined };
    const refused = await send(target, sent);
    assert.equal(refused.status, 429);
    assert.equal(refused.headers['retry-after'], '5');
    assert.match(String(refused.headers['ratelimit']), /^"receiver";r=0;t=\d+, "account";r=/);
  });

  test(`${transport}: answers a bug with 500 without details, and logs it`, async () => {
    const answer = await post(send, [good, json], 'bug');
    assert.equal(answer.status, 500);
    assert.doesNotMatch(answer.body, /secret|TypeError|\.ts/);
    assert.equal(edge.state.logged.length, 1);
    const { requestId } = JSON.parse(answer.body) as { requestId: string };
    const line = edge.state.logged.pop() ?? '';
    assert.ok(line.includes(requestId) && line.includes('secret internals'), line);
  });
}

test('charges the quota of an account for all its receivers', async () => {
  for (const receiverId of ['rcv_x', 'rcv_y']) {
    addReceiver(edge.state, receiverId, { accountId, accountEventsPerSecond: 2 });
    addToken(edge.state, `wri_${receiverId}`, { receiverId });
  }
  const send = transports['HTTP/1.1'];
  const x = await post(send, [bearer('wri_rcv_x'), json], 'e\n'.repeat(99), 'rcv_x');
  assert.equal(x.status, 202);
  assert.equal((await post(send, [bearer('wri_rcv_y'), json], 'e', 'rcv_y')).status, 429);
});

function post(send: Send, headers: HeaderList, body = 'event', receiver = 'rcv_a') {
  const path = `/v1/receivers/${receiver}/logs`;
  const target = { port: edge.ports.ingest, ca: edge.ca };
  return send(target, { method: 'POST', path, headers, body });
}

function assertProblem(answer: Received, appendedBefore: number): void {
  assert.match(String(answer.headers['content-type']), /^application\/problem\+json/);
  const problem = JSON.parse(answer.body) as Record<string, unknown>;
  assert.equal(problem['status'], answer.status);
  for (const field of ['type', 'title', 'detail', 'code', 'requestId']) {
    assert.equal(typeof problem[field], 'string', field);
  }
  assert.match(String(problem['detail']), /^cannot /);
  assert.equal(answer.headers['www-authenticate'] !== undefined, answer.status === 401);
  assert.equal(
    edge.state.appended.length,
    appendedBefore,
    'the refused request must not be stored',
  );
}
