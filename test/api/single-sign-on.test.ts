/** Single sign-on with a real OpenID Connect provider, as a browser follows the redirects. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, beforeEach, test } from 'node:test';
import { type Browser, isSigningIn, openBrowser } from '../harness/browser.ts';
import { type Answer, createHttpClient, type HttpClient } from '../harness/http.ts';
import { openProvider, type Person, type TestProvider } from '../harness/oidc-provider.ts';
import { type Service, startService } from '../harness/service.ts';
import { temporaryFolder } from '../harness/temporary-folder.ts';
import { startWeir } from '../harness/weir-process.ts';

const unknownAccount = '00000000-0000-4000-8000-000000000000';
const startPath = '/api/v1/session/oidc';
const ada: Person = { id: 'ada', email: 'ada@example.com', groups: ['staff', 'sre'] };
const bob: Person = { id: 'bob', email: 'bob@example.com', groups: ['staff'] };
const eve: Person = { id: 'eve', email: 'eve@example.com', groups: ['moved'] };

let provider: TestProvider;
let service: Service;
/** One for each authority: both have the same name. */
let clients: Readonly<Record<string, HttpClient>>;
/** Codes that the provider has issued. */
const codes: string[] = [];

before(async () => {
  provider = await openProvider([
    'groups=sre all operator+logs:read',
    `groups=moved ${unknownAccount} logs:read`,
  ]);
  service = await startService(provider.serviceOptions);
  clients = {
    '127.0.0.1': createHttpClient(provider.ca),
    localhost: createHttpClient(readFileSync(service.quickstart.caFile, 'utf8')),
  };
});
after(async () => {
  for (const client of Object.values(clients ?? {})) client.close();
  await service?.stop();
  provider?.close();
});
beforeEach(() => {
  provider.person = ada;
  provider.tamper = (claims) => claims;
});

/** Cookies by host, as browsers keep them. */
type Jar = Map<string, Map<string, string>>;

async function visit(jar: Jar, url: URL): Promise<Answer> {
  const cookies = jar.get(url.hostname) ?? new Map<string, string>();
  jar.set(url.hostname, cookies);
  const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  const answer = await clients[url.hostname]!.send(url, {
    headers: cookie === '' ? {} : { cookie },
  });
  for (const line of answer.headers['set-cookie'] ?? []) {
    const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
    if (value === '') cookies.delete(name);
    else cookies.set(name, value);
  }
  return answer;
}

const isCallback = (url: URL) => url.pathname.endsWith('/callback');
const isPage = (url: URL) => url.pathname === '/';

/** Follows redirects up to the first that `isLast`, which is not requested. */
async function follow(jar: Jar, from: URL, isLast: (url: URL) => boolean): Promise<URL> {
  let url = from;
  for (let count = 0; count < 10; count += 1) {
    const answer = await visit(jar, url);
    const { location } = answer.headers;
    assert.ok(location, `${answer.status} of ${url.pathname}: ${answer.text}`);
    url = new URL(location, url);
    const code = url.searchParams.get('code');
    if (code !== null) codes.push(code);
    if (isLast(url)) return url;
  }
  return assert.fail('too many redirects');
}

const start = () => new URL(startPath, service.quickstart.streamUrl);

/** @returns the fragment of the last page, and its browser. */
async function signIn(change: (callback: URL, jar: Jar) => void = () => {}) {
  const jar: Jar = new Map();
  const callback = await follow(jar, start(), isCallback);
  change(callback, jar);
  const { hash } = await follow(jar, callback, isPage);
  return { hash, jar, callback, browser: toBrowser(jar) };
}

function toBrowser(jar: Jar): Browser {
  const browser = openBrowser(service);
  const id = jar.get('localhost')?.get('__Host-weir-session');
  if (id !== undefined) browser.cookie = `__Host-weir-session=${id}`;
  return browser;
}

async function tokensOf({ email }: Person) {
  const answer = await service.admin('GET', '/tokens');
  const { tokens } = answer.json<{ tokens: { tokenId: string; name: string }[] }>();
  return tokens.filter(({ name }) => name.startsWith(email));
}

function warnings(): string {
  return service.process.logs
    .filter(({ msg }) => msg === 'single sign-on failed')
    .map(({ raw }) => raw)
    .join('\n');
}

test('starts without the provider, says so, and recovers', async () => {
  const page = await follow(new Map(), start(), isPage);
  assert.equal(page.hash, '#sign-in-failed=unavailable');
  assert.match(warnings(), /"reason":".*503|"reason":".*unexpected HTTP/);
  provider.serve(service.quickstart.streamUrl);
  assert.equal((await signIn()).hash, '#sign-in-done');
});

const openedPages: readonly (readonly [opened: string, path: string])[] = [
  ['/explore/logs?query=a%25b&range=1d#x', '/explore/logs?query=a%25b&range=1d'],
  ['https://evil.example/', '/'],
  ['//evil.example/', '/'],
  ['/\\evil.example/', '/'],
  ['/.//evil.example', '//evil.example'],
  ['javascript:alert(1)', '/'],
  [`/?query=${'x'.repeat(3000)}`, '/'],
];
for (const [opened, path] of openedPages) {
  test(`leads back to ${path} of ${opened.slice(0, 40)}`, async () => {
    const from = start();
    from.searchParams.set('opened', opened);
    const jar: Jar = new Map();
    const isOver = ({ hash }: URL) => hash !== '';
    const { origin, pathname, search, hash } = await follow(jar, from, isOver);
    assert.deepEqual([origin, pathname + search], [start().origin, path]);
    assert.equal(hash, '#sign-in-done');
  });
}

test('names the provider on the sign-in page', async () => {
  const answer = await openBrowser(service).send('GET', '/api/v1/session');
  assert.deepEqual(answer.json(), { isSignedIn: false, singleSignOn: 'Example' });
});

test('a person has the scopes of the rule, until the sign-out', async () => {
  const { browser, jar } = await signIn();
  assert.equal((await browser.send('GET', '/api/v1/logs')).status, 200);
  const whoami = await browser.send('GET', '/api/v1/admin/whoami');
  assert.deepEqual(whoami.json<{ scopes: string[] }>().scopes.toSorted(), [
    'logs:read',
    'operator',
  ]);
  assert.equal((await browser.send('GET', '/api/v1/fields')).status, 403);
  assert.equal(jar.get('localhost')?.has('__Host-weir-oidc'), false);
  const { cookie } = browser;
  const before_ = (await tokensOf(ada)).length;
  assert.equal((await browser.send('DELETE', '/api/v1/session')).status, 204);
  assert.equal((await tokensOf(ada)).length, before_ - 1);
  browser.cookie = cookie;
  assert.equal((await browser.send('GET', '/api/v1/logs')).status, 401);
});

test('signs out in every browser', async () => {
  const laptop = (await signIn()).browser;
  const phone = (await signIn()).browser;
  assert.equal((await laptop.send('DELETE', '/api/v1/sessions')).status, 204);
  assert.equal(await isSigningIn(phone), true);
  assert.deepEqual(await tokensOf(ada), []);
});

test('a session ends with its token', async () => {
  const { browser } = await signIn();
  for (const { tokenId } of await tokensOf(ada)) {
    await service.admin('POST', `/tokens/${tokenId}/revoke`);
  }
  assert.equal((await browser.send('GET', '/api/v1/logs')).status, 401);
  assert.equal(await isSigningIn(browser), true);
});

const attempt = '__Host-weir-oidc';

function changeAttempt(jar: Jar, change: object): void {
  const cookies = jar.get('localhost');
  const text = Buffer.from(cookies?.get(attempt) ?? '', 'base64url').toString();
  const changed = JSON.stringify({ ...(JSON.parse(text) as object), ...change });
  cookies?.set(attempt, Buffer.from(changed).toString('base64url'));
}

const refusedCallbacks: readonly (readonly [string, string, (callback: URL, jar: Jar) => void])[] =
  [
    ['another state', 'expired', ({ searchParams }) => searchParams.set('state', 'other')],
    ['no state', 'expired', ({ searchParams }) => searchParams.delete('state')],
    ['another browser', 'expired', (_callback, jar) => jar.clear()],
    ['a damaged cookie', 'expired', (_callback, jar) => jar.get('localhost')?.set(attempt, 'x')],
    ['an unknown code', 'expired', ({ searchParams }) => searchParams.set('code', 'other')],
    [
      'another verifier',
      'expired',
      (_, jar) => changeAttempt(jar, { codeVerifier: 'a'.repeat(43) }),
    ],
    ['another nonce', 'unavailable', (_callback, jar) => changeAttempt(jar, { nonce: 'other' })],
    [
      'another issuer in the callback',
      'unavailable',
      ({ searchParams }) => searchParams.set('iss', 'https://evil.example'),
    ],
  ];
for (const [name, failure, change] of refusedCallbacks) {
  test(`refuses ${name}`, async () => {
    const { hash, browser } = await signIn(change);
    assert.equal(hash, `#sign-in-failed=${failure}`);
    assert.equal(browser.cookie, '');
  });
}

const hourAgo = Math.floor(Date.now() / 1000) - 3600;
const forged: readonly (readonly [string, object])[] = [
  ['issuer', { iss: 'https://evil.example' }],
  ['audience', { aud: 'another-client' }],
  ['nonce', { nonce: 'other' }],
  ['subject', { sub: 'root' }],
  ['expiry', { exp: hourAgo, iat: hourAgo - 60 }],
];
for (const [name, change] of forged) {
  test(`refuses an ID token with another ${name}`, async () => {
    provider.tamper = (claims) => ({ ...claims, ...change });
    const { hash, browser } = await signIn();
    assert.equal(hash, '#sign-in-failed=unavailable');
    assert.equal(browser.cookie, '');
  });
}

test('a code signs in once', async () => {
  let kept = '';
  const { jar, callback } = await signIn((_callback, cookies) => {
    kept = cookies.get('localhost')?.get(attempt) ?? '';
  });
  jar.get('localhost')?.set(attempt, kept);
  const page = await follow(jar, callback, isPage);
  assert.equal(page.hash, '#sign-in-failed=expired');
});

for (const [person, reason] of [
  [bob, /no rule of oidc\.grants for https:[^"]* bob/],
  [eve, new RegExp(unknownAccount)],
] as const) {
  test(`refuses ${person.id}, for whom no rule or no account exists`, async () => {
    provider.person = person;
    const { hash, browser } = await signIn();
    assert.equal(hash, '#sign-in-failed=not-granted');
    assert.equal(browser.cookie, '');
    assert.match(warnings(), reason);
    assert.deepEqual(await tokensOf(person), []);
  });
}

test('a person can decline', async () => {
  provider.person = undefined;
  assert.equal((await signIn()).hash, '#sign-in-failed=declined');
});

test('logs no secret', async () => {
  const { browser, jar } = await signIn();
  const text = service.process.logs.map(({ raw }) => raw).join('\n');
  assert.match(text, /singleSignOn/);
  const id = browser.cookie.split('=')[1] ?? '';
  const cookies = [...(jar.get('127.0.0.1')?.values() ?? [])];
  for (const secret of [provider.clientSecret, id, ...codes, ...cookies, 'eyJ']) {
    assert.ok(secret !== '' && !text.includes(secret), secret);
  }
});

const invalid: readonly (readonly [string, readonly string[], RegExp])[] = [
  ['no client id', ['--oidc-issuer', 'https://id.example'], /without oidc\.clientId/],
  [
    'no rule',
    ['--oidc-issuer', 'https://id.example', '--oidc-client-id', 'weir'],
    /without oidc\.grants/,
  ],
];
for (const [name, flags, reason] of invalid) {
  test(`does not start with ${name}`, async () => {
    const ports = ['--ingest-port', '0', '--stream-port', '0', '--ops-port', '0'];
    const weir = startWeir(['serve', '--data', temporaryFolder(), ...ports, ...flags]);
    const { code } = await weir.exited;
    assert.equal(code, 1);
    assert.match(weir.logs.map(({ raw }) => raw).join('\n'), reason);
  });
}
