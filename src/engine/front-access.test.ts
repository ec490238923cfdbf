/** Authentication at the TCP port of the engine, and its addresses. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertGuarded, createAccessCheck, type FrontRequest } from './front-access.ts';

const access = { user: 'weir', password: 'sécret:1' };
const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;
const key = (user: string, password: string) => ({
  'x-clickhouse-user': user,
  'x-clickhouse-key': password,
});

const passing: Readonly<Record<string, FrontRequest>> = {
  Basic: { url: '/', headers: { authorization: basic('weir:sécret:1') } },
  'basic in lower case': { headers: { authorization: basic('weir:sécret:1').replace('B', 'b') } },
  parameters: { url: '/?user=weir&password=s%C3%A9cret:1&query=SELECT+1', headers: {} },
};

const refused: Readonly<Record<string, FrontRequest>> = {
  nothing: { url: '/', headers: {} },
  'another password': { headers: { authorization: basic('weir:sécret:2') } },
  'another user': { headers: { authorization: basic('default:sécret:1') } },
  'a user and no password': { headers: { 'x-clickhouse-user': 'weir' } },
  'a boundary that moved': { headers: { authorization: basic('weirs:écret:1') } },
  'no colon': { headers: { authorization: basic('weir') } },
  Bearer: { headers: { authorization: `Bearer ${basic('weir:sécret:1').slice(6)}` } },
  'two ways': {
    url: '/?user=weir&password=s%C3%A9cret:1',
    headers: { authorization: basic('weir:sécret:1') },
  },
  'a page of a browser': {
    headers: { authorization: basic('weir:sécret:1'), origin: 'http://127.0.0.1' },
  },
};

for (const [name, request] of Object.entries(passing)) {
  test(`accepts user and password: ${name}`, () => {
    assert.equal(createAccessCheck(access)(request), true);
  });
}

for (const [name, request] of Object.entries(refused)) {
  test(`refuses ${name}`, () => {
    assert.equal(createAccessCheck(access)(request), false);
  });
}

test('accepts the ClickHouse headers', () => {
  const allows = createAccessCheck({ user: 'weir', password: 'secret' });
  assert.equal(allows({ headers: key('weir', 'secret') }), true);
  assert.equal(allows({ headers: key('weir', 'secrets') }), false);
});

test('accepts the default user without a password, but no browser', () => {
  const allows = createAccessCheck({ user: 'default', password: '' });
  assert.equal(allows({ headers: {} }), true);
  assert.equal(allows({ headers: { authorization: basic('default:') } }), true);
  assert.equal(allows({ headers: { authorization: basic('default:guess') } }), false);
  assert.equal(allows({ headers: { 'sec-fetch-site': 'cross-site' } }), false);
});

test('refuses any address but loopback without a password', () => {
  const open = { user: 'default', password: '' };
  for (const host of ['127.0.0.1', '127.1.2.3', '::1', 'localhost']) assertGuarded(host, open);
  for (const host of ['', '0.0.0.0', '::', '10.0.0.1', '127.0.0.1.example.com']) {
    assert.throws(() => assertGuarded(host, open), /store\.password.*engine\.host/);
    assertGuarded(host, access);
  }
});
