/** Sessions of the explorer: what the cookie opens, for whom, and until when. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { isSigningIn, openBrowser, type Browser } from '../harness/browser.ts';
import type { IssuedToken } from '../harness/control.ts';
import { joinService } from '../harness/joined-service.ts';
import type { Service } from '../harness/service.ts';

let service: Service;
let browser: Browser;
before(async () => {
  service = await joinService();
  browser = openBrowser(service);
  await browser.signIn();
});
after(() => service.stop());

async function newToken(change: object = {}): Promise<IssuedToken> {
  const body = { type: 'access', name: 'person', scopes: ['logs:read'], ...change };
  const answer = await service.admin('POST', '/tokens', body);
  assert.equal(answer.status, 201, answer.text);
  return answer.json<IssuedToken>();
}

test('the explorer reads and manages with a session', async () => {
  const { accountId, streamId } = service.quickstart;
  const logs = await browser.send('GET', '/api/v1/logs?limit=1');
  assert.equal(logs.status, 200, logs.text);
  const whoami = await browser.send('GET', '/api/v1/admin/whoami');
  assert.ok(whoami.text.includes(accountId), whoami.text);
  const receiver = { name: 'from the explorer', kind: 'http_json', streamId };
  const created = await browser.send('POST', '/api/v1/admin/receivers', { body: receiver });
  assert.equal(created.status, 201, created.text);
  assert.match(String(created.headers['cache-control']), /private, no-store/);
  assert.match(String(created.headers['vary']), /Cookie/);
});

test('keeps the session in a cookie that scripts and other hosts cannot read', async () => {
  const signedIn = await openBrowser(service).signIn();
  const [cookie, ...attributes] = String(signedIn.headers['set-cookie']).split('; ');
  assert.match(cookie ?? '', /^__Host-weir-session=[a-z2-7]{52}$/);
  assert.deepEqual(attributes.toSorted(), [
    'HttpOnly',
    'Max-Age=1209600',
    'Path=/',
    'SameSite=Strict',
    'Secure',
  ]);
  assert.equal(signedIn.text, '');
});

test('answers 401 without bearer and session, and with an unknown session', async () => {
  const nobody = openBrowser(service);
  assert.equal((await nobody.send('GET', '/api/v1/logs')).status, 401);
  const forger = openBrowser(service);
  forger.cookie = `__Host-weir-session=${'a'.repeat(52)}`;
  const answer = await forger.send('GET', '/api/v1/logs');
  assert.equal(answer.status, 401);
  assert.match(answer.text, /was ended or has expired: sign in again/);
  assert.equal(await isSigningIn(forger), true);
});

const foreign: readonly (readonly [
  string,
  Readonly<Record<string, string | undefined>>,
  RegExp,
])[] = [
  ['a program', { 'sec-fetch-site': undefined }, /Sec-Fetch-Site: none sent/],
  ['another site', { 'sec-fetch-site': 'cross-site' }, /Sec-Fetch-Site: cross-site/],
  ['a subdomain or another port', { 'sec-fetch-site': 'same-site' }, /same-site/],
  ['the address bar', { 'sec-fetch-site': 'none' }, /Sec-Fetch-Site: none/],
  ['a form or a link', { 'x-weir-explorer': undefined }, /no x-weir-explorer header/],
  ['another origin', { origin: 'https://evil.example' }, /https:\/\/evil\.example/],
  ['an opaque origin', { origin: 'null' }, /its origin \(null\)/],
  ['the same host over http', { origin: 'http://localhost' }, /http:\/\/localhost/],
];

for (const [name, headers, reason] of foreign) {
  test(`does not honour the cookie in a request of ${name}`, async () => {
    for (const method of ['GET', 'POST']) {
      const answer = await browser.send(method, '/api/v1/admin/receivers', { headers });
      assert.equal(answer.status, 401, `${method}: ${answer.text}`);
      assert.match(answer.text, reason);
    }
    const read = await browser.send('GET', '/api/v1/logs', { headers });
    assert.equal(read.status, 401);
    for (const [method, path] of [
      ['POST', '/api/v1/session'],
      ['DELETE', '/api/v1/session'],
      ['DELETE', '/api/v1/sessions'],
    ] as const) {
      const answer = await browser.send(method, path, { headers });
      assert.equal(answer.status, 403, `${method} ${path}: ${answer.text}`);
      assert.equal(answer.headers['set-cookie'], undefined);
    }
    assert.equal((await browser.send('GET', '/api/v1/logs')).status, 200, 'still signed in');
  });
}

test('a change needs an Origin header, a read does not', async () => {
  const headers = { origin: undefined };
  assert.equal((await browser.send('GET', '/api/v1/logs', { headers })).status, 200);
  const change = await browser.send('POST', '/api/v1/admin/receivers', { headers });
  assert.equal(change.status, 401);
  assert.match(change.text, /its origin \(none sent\)/);
});

test('other origins get no permission from a preflight', async () => {
  const answer = await browser.send('OPTIONS', '/api/v1/session', {
    headers: {
      origin: 'https://evil.example',
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization, x-weir-explorer',
    },
  });
  const cors = Object.keys(answer.headers).filter((name) => name.startsWith('access-control'));
  assert.deepEqual(cors, []);
});

test('the ingest port does not honour the cookie', async () => {
  const { http_json: json } = service.quickstart.receivers;
  const { origin } = new URL(json.url);
  const answer = await service.http.send(json.url, {
    method: 'POST',
    body: '[{"message":"from a cookie"}]',
    headers: { ...browser.headers('POST'), origin, 'content-type': 'application/json' },
  });
  assert.equal(answer.status, 401);
  assert.match(answer.text, /cannot find a token/);
});

test('a bearer token counts instead of the session', async () => {
  const headers = { authorization: 'Bearer wra_unknown' };
  assert.equal((await browser.send('GET', '/api/v1/logs', { headers })).status, 401);
});

test('a sign-in replaces the id that the browser had', async () => {
  const visitor = openBrowser(service);
  const planted = `__Host-weir-session=${'b'.repeat(52)}`;
  visitor.cookie = planted;
  await visitor.signIn();
  const first = visitor.cookie;
  assert.notEqual(first, planted);
  await visitor.signIn();
  assert.notEqual(visitor.cookie, first);
  visitor.cookie = first;
  assert.equal((await visitor.send('GET', '/api/v1/logs')).status, 401);
});

test('an ingest token, an unknown token or none cannot sign in', async () => {
  const { http_json: json } = service.quickstart.receivers;
  for (const authorization of [`Bearer ${json.token}`, 'Bearer wra_unknown', undefined]) {
    const headers = { authorization };
    const answer = await openBrowser(service).send('POST', '/api/v1/session', { headers });
    assert.equal(answer.status, 401);
    assert.equal(answer.headers['set-cookie'], undefined);
  }
});

test('a cookie is useless after sign-out, other sessions are not', async () => {
  const laptop = openBrowser(service);
  const phone = openBrowser(service);
  await laptop.signIn();
  await phone.signIn();
  const { cookie } = laptop;
  const answer = await laptop.send('DELETE', '/api/v1/session');
  assert.equal(answer.status, 204);
  assert.match(String(answer.headers['set-cookie']), /^__Host-weir-session=; Max-Age=0;/);
  laptop.cookie = cookie;
  assert.equal((await laptop.send('GET', '/api/v1/logs')).status, 401);
  assert.equal((await phone.send('GET', '/api/v1/logs')).status, 200);
  assert.equal((await laptop.send('DELETE', '/api/v1/session')).status, 204, 'may be repeated');
});

test('sign-out everywhere ends the sessions of this token only', async () => {
  const { token } = await newToken();
  const [laptop, phone] = [openBrowser(service), openBrowser(service)];
  await laptop.signIn(token);
  await phone.signIn(token);
  assert.equal((await laptop.send('DELETE', '/api/v1/sessions')).status, 204);
  assert.equal((await phone.send('GET', '/api/v1/logs')).status, 401);
  assert.equal((await browser.send('GET', '/api/v1/logs')).status, 200);
  assert.equal((await laptop.send('DELETE', '/api/v1/sessions')).status, 401);
});

test('a session has the scopes of its token, and ends with it', async () => {
  for (const end of ['revoke', 'rotate', 'delete'] as const) {
    const { token, tokenId } = await newToken();
    const person = openBrowser(service);
    await person.signIn(token);
    assert.equal((await person.send('GET', '/api/v1/logs')).status, 200);
    assert.equal((await person.send('GET', '/api/v1/admin/tokens')).status, 403);
    const ended =
      end === 'delete'
        ? await service.admin('DELETE', `/tokens/${tokenId}`)
        : await service.admin('POST', `/tokens/${tokenId}/${end}`);
    assert.ok(ended.status < 300, ended.text);
    assert.equal((await person.send('GET', '/api/v1/logs')).status, 401, end);
    assert.equal(await isSigningIn(person), true, end);
  }
});

test('a session ends when its token expires', async () => {
  const expiresAt = new Date(Date.now() + 1500).toISOString();
  const { token } = await newToken({ expiresAt });
  const person = openBrowser(service);
  await person.signIn(token);
  while (Date.now() < Date.parse(expiresAt)) await person.send('GET', '/api/v1/session');
  assert.equal((await person.send('GET', '/api/v1/logs')).status, 401);
});

test('a live tail ends with the session', async () => {
  const person = openBrowser(service);
  await person.signIn();
  const tail = person.send('GET', '/api/v1/logs/tail', {
    headers: { accept: 'text/event-stream' },
  });
  await person.send('DELETE', '/api/v1/session');
  assert.ok((await tail).status > 0, 'the response ended');
});

async function createLink(token = service.quickstart.accessToken): Promise<string> {
  const url = `${service.quickstart.streamUrl}/api/v1/admin/sign-in-links`;
  const headers = { authorization: `Bearer ${token}` };
  const answer = await service.http.send(url, { method: 'POST', headers });
  assert.equal(answer.status, 200, answer.text);
  return answer.json<{ code: string }>().code;
}

const useCode = (code: string) =>
  openBrowser(service).send('POST', '/api/v1/session', {
    headers: { authorization: `Bearer ${code}` },
  });

test('a link signs in once, with the scopes of its token', async () => {
  const { token } = await newToken();
  const code = await createLink(token);
  const person = openBrowser(service);
  await person.signIn(code);
  assert.equal((await person.send('GET', '/api/v1/logs')).status, 200);
  assert.equal((await person.send('GET', '/api/v1/admin/tokens')).status, 403);
  const again = await useCode(code);
  assert.equal(again.status, 401);
  assert.match(again.text, /it was used or replaced, or it has expired.*weir open/);
});

test('a link is not used up by a preview, and opens nothing but a session', async () => {
  const { token } = await newToken();
  const code = await createLink(token);
  const { streamUrl, accountId } = service.quickstart;
  for (const method of ['GET', 'HEAD']) {
    await service.http.send(`${streamUrl}/`, { method });
    await service.http.send(`${streamUrl}/api/v1/session`, { method });
  }
  const headers = { authorization: `Bearer ${code}`, 'x-active-account': accountId };
  for (const path of ['/api/v1/logs', '/api/v1/admin/whoami']) {
    assert.equal((await service.http.send(streamUrl + path, { headers })).status, 401, path);
  }
  const foreignUse = await openBrowser(service).send('POST', '/api/v1/session', {
    headers: { ...headers, 'sec-fetch-site': 'cross-site' },
  });
  assert.equal(foreignUse.status, 403);
  assert.equal((await useCode(code)).status, 204, 'still unused');
});

test('a new link replaces the last one, and a revoked token has none', async () => {
  const { token, tokenId } = await newToken();
  const first = await createLink(token);
  const second = await createLink(token);
  assert.equal((await useCode(first)).status, 401);
  await service.admin('POST', `/tokens/${tokenId}/revoke`);
  assert.equal((await useCode(second)).status, 401);
});

test('a session creates no link: it could prolong itself', async () => {
  const answer = await browser.send('POST', '/api/v1/admin/sign-in-links');
  assert.equal(answer.status, 401);
});
