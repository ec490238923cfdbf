/** The token of a request. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RequestHeaders, TokenPlace } from '../model/request.ts';
import type { TokenGrant } from '../model/account.ts';
import { activeAccount, bearerToken, checkTokenInForce } from './authenticate.ts';

const basic = (credentials: string) => `Basic ${Buffer.from(credentials).toString('base64')}`;

function tokenOf(
  authorization: readonly string[],
  place?: TokenPlace,
  datadogKey: readonly string[] = [],
): string {
  const headers: Pick<RequestHeaders, 'authorization' | 'datadogKey'> = {
    authorization,
    datadogKey,
  };
  return bearerToken(headers as RequestHeaders, place);
}

test('is the bearer token', () => {
  assert.equal(tokenOf(['Bearer wri_a']), 'wri_a');
  assert.equal(tokenOf(['bearer wri_a'], 'basic'), 'wri_a');
});

test('is the password of Basic where that is taken', () => {
  assert.equal(tokenOf([basic('any:wri_a')], 'basic'), 'wri_a');
  assert.equal(tokenOf([basic(':wri_a')], 'basic'), 'wri_a');
  assert.throws(() => tokenOf([basic('any:wri_a')]), /send "Bearer" and one token$/);
});

for (const value of ['Basic', 'Basic !', basic('any:'), basic('any:a b'), basic('any:a:b'), '']) {
  test(`refuses ${JSON.stringify(value)}`, () => {
    assert.throws(() => tokenOf([value], 'basic'), {
      code: 'unauthenticated',
      message: /or "Basic" with the token as password/,
    });
  });
}

test('is the key of ApiKey where that is taken', () => {
  const encode = (text: string) => Buffer.from(text).toString('base64');
  assert.equal(tokenOf([`ApiKey ${encode('id:wri_a')}`], 'api-key'), 'wri_a');
  assert.equal(tokenOf(['apikey wri_a'], 'api-key'), 'wri_a');
  assert.equal(tokenOf([basic('elastic:wri_a')], 'api-key'), 'wri_a');
  assert.throws(() => tokenOf([`ApiKey ${encode('id:a b')}`], 'api-key'), /or "ApiKey" with the/);
  assert.throws(() => tokenOf(['ApiKey wri_a']), /send "Bearer" and one token$/);
  assert.throws(() => tokenOf(['ApiKey wri_a'], 'splunk'), { code: 'unauthenticated' });
});

test('follows the schemes of Splunk and InfluxDB where these are taken', () => {
  for (const [scheme, place] of [
    ['Splunk', 'splunk'],
    ['Token', 'token'],
  ] as const) {
    assert.equal(tokenOf([`${scheme} wri_a`], place), 'wri_a');
    assert.equal(tokenOf([`${scheme.toLowerCase()}  wri_a`], place), 'wri_a');
    assert.equal(tokenOf([basic('x:wri_a')], place), 'wri_a');
    assert.throws(() => tokenOf([`${scheme} a b`], place), { code: 'unauthenticated' });
    assert.throws(() => tokenOf([`${scheme} wri_a`]), { code: 'unauthenticated' });
  }
});

test('refuses two', () => {
  assert.throws(() => tokenOf(['Bearer a', basic('any:a')], 'basic'), { code: 'unauthenticated' });
});

test('is in DD-API-KEY where that is taken', () => {
  assert.equal(tokenOf([], 'dd-api-key', ['wri_a']), 'wri_a');
  assert.equal(tokenOf(['Bearer wri_a'], 'dd-api-key'), 'wri_a');
  assert.throws(() => tokenOf([], 'basic', ['wri_a']), /cannot find a token/);
  assert.throws(() => tokenOf([basic('any:wri_a')], 'dd-api-key'), /or "DD-API-KEY: <token>"$/);
  assert.throws(() => tokenOf([], 'dd-api-key', ['a b']), /cannot read the DD-API-KEY header/);
  assert.throws(() => tokenOf(['Bearer a'], 'dd-api-key', ['a']), /two headers with a token/);
  assert.throws(() => tokenOf([], 'dd-api-key', ['a', 'a']), /two headers with a token/);
});

test('of another kind is named, an unknown one is not', () => {
  const grant = { type: 'ingest', revoked: false, expiresAtMs: null } as TokenGrant;
  assert.equal(checkTokenInForce(grant, 'ingest', 0), grant);
  assert.throws(() => checkTokenInForce(grant, 'access', 0), {
    code: 'unauthenticated',
    message: /it is an ingest token, and this address takes access tokens$/,
  });
  for (const unusable of [undefined, { ...grant, revoked: true }, { ...grant, expiresAtMs: 0 }]) {
    assert.throws(() => checkTokenInForce(unusable, 'ingest', 1), /not a valid ingest token$/);
  }
});

test('the account is named once, by a UUID', () => {
  const id = '4E3FE407-9bc8-47d6-9c5b-8baec0de0ccf';
  assert.equal(activeAccount([id]), id.toLowerCase());
  assert.throws(() => activeAccount([]), /send its UUID as X-Active-Account$/);
  assert.throws(() => activeAccount(['acme']), /"acme" is not a UUID$/);
  assert.throws(() => activeAccount([id, id]), /it is named more than once$/);
});
